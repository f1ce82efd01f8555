"""What only a whole lane shows, all its shards together: that something was tested, and enough of it. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ci_toolkit.gates.lane import Findings
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.ratchet import Ratchet
from ci_toolkit.model.verdict import FindingKind


@dataclass(frozen=True)
class Tally:
    """The cases of a lane by outcome, and how many of them each of the ratchet's rules of skips (by number) accepts."""

    outcomes: Counter[Outcome]
    skipped: Counter[int]


def summed(tallies: Iterable[Tally]) -> Tally:
    """That of several shards together."""
    total = Tally(Counter(), Counter())
    for tally in tallies:
        total.outcomes.update(tally.outcomes)
        total.skipped.update(tally.skipped)
    return total


def check_tally(tally: Tally, ratchet: Ratchet | None, *, whole: bool, findings: Findings) -> None:
    """Findings for a run without a case, one in which nothing was tested, too many skips and too few passes.

    The least number of passes is that of a ``whole`` suite.
    """
    for index, rule in enumerate(ratchet.skips if ratchet else ()):
        count = tally.skipped[index]
        if count > rule.ceiling:
            findings.add(
                FindingKind.SKIP_CEILING,
                rule.reason,
                f"{count} cases were skipped for a reason like {rule.reason!r}, {rule.ceiling} are accepted",
                count=count,
                expected=f"at most {rule.ceiling}",
                observed=str(count),
            )
    passed = tally.outcomes[Outcome.PASSED]
    if ratchet and whole and passed < ratchet.floor:
        findings.add(
            FindingKind.TOO_FEW_PASSED,
            "floor",
            f"{passed} cases passed, the ratchet asks for {ratchet.floor} at least",
            expected=str(ratchet.floor),
            observed=str(passed),
        )
    seen = {outcome for outcome, count in tally.outcomes.items() if count}
    if not seen:
        findings.add(FindingKind.LANE_EMPTY, "lane", "the lane has no case: nothing was tested")
    elif not seen - {Outcome.SKIPPED, Outcome.NOT_RUN}:
        ended = "skipped" if seen == {Outcome.SKIPPED} else "skipped or not run"
        findings.add(FindingKind.TOO_FEW_PASSED, "skipped", f"every case was {ended}: nothing was tested")
