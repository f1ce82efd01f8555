"""Whether a run and its expectations are comparable. Pure."""

from ci_toolkit.gates.lane import Findings, LaneInput, Seen
from ci_toolkit.model.facts import fits
from ci_toolkit.model.report import Strictness
from ci_toolkit.model.verdict import FindingKind

SIGNATURE_SCHEME = "signature_scheme"


def check_contract(lane: LaneInput, seen: Seen, findings: Findings) -> None:
    """One finding when the ratchet was reviewed for other facts than the run shows.

    A fact that no worker lived to report is not taken for a change: the run's own errors say what happened.
    """
    assert lane.ratchet is not None
    ratchet = lane.ratchet.ratchet
    found = {name: entry.value for name, entry in seen.report.contract.items()}
    wanted = {**ratchet.contract, SIGNATURE_SCHEME: str(ratchet.signature_scheme)}
    changed, unknown = {}, []
    for name, value in wanted.items():
        fact = found.get(name) or seen.report.facts.get(name)
        if fact is None:
            unknown.append(name)
        elif not fits(value, fact):
            changed[name] = (value, fact)
    if changed:
        told = ", ".join(f"{name} is {fact}, reviewed for {value}" for name, (value, fact) in changed.items())
        findings.add(
            FindingKind.CONTRACT_CHANGED,
            ",".join(changed),
            f"the expectations are for another contract: {told}",
            where=lane.ratchet.file.where("contract", next(iter(changed))),
            expected=", ".join(f"{name}={value}" for name, (value, _) in changed.items()),
            observed=", ".join(f"{name}={fact}" for name, (_, fact) in changed.items()),
        )
    if unknown and not seen.report.errors:
        findings.add(
            FindingKind.CONTRACT_CHANGED,
            "unknown",
            f"the run does not say what the contract asks for: {', '.join(unknown)}",
            where=lane.ratchet.file.where("contract"),
        )


def comparable(lane: LaneInput, seen: Seen) -> bool:
    """Whether the base's evidence has the same strict contract, so that blame may be laid by it."""
    strict = {
        name: entry.value for name, entry in seen.report.contract.items() if entry.strictness is Strictness.STRICT
    }
    base = {name: entry.value for name, entry in lane.base_contract.items() if entry.strictness is Strictness.STRICT}
    return strict == base
