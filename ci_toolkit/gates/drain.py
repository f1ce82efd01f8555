"""Which runners are to be taken out, and why. Pure."""

from collections.abc import Sequence

from ci_toolkit.model.verdict import Drain, Finding


def to_drain(findings: Sequence[Finding]) -> tuple[Drain, ...]:
    """The runners that findings blame, by name, with all that they are blamed for."""
    blamed: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.runner:
            blamed.setdefault(finding.runner, []).append(finding)
    return tuple(
        Drain(
            runner=runner,
            lanes=tuple(sorted({finding.lane for finding in found})),
            devices=tuple(sorted({finding.device for finding in found if finding.device})),
            reasons=tuple(dict.fromkeys(finding.message for finding in found)),
        )
        for runner, found in sorted(blamed.items())
    )
