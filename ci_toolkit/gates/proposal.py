"""What a run would change in a ratchet, for a person to review. Pure."""

import datetime
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ci_toolkit.errors import EvidenceError, Where
from ci_toolkit.gates.contract import SIGNATURE_SCHEME
from ci_toolkit.gates.judge import compare
from ci_toolkit.gates.lane import Findings, LaneInput, Seen
from ci_toolkit.model.case import Case
from ci_toolkit.model.ids import split_case
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.ratchet import RATCHET_SCHEMA, UNREVIEWED
from ci_toolkit.model.report import Strictness
from ci_toolkit.model.verdict import FindingKind

VALID_DAYS = 90
"""How long a proposed expectation is valid, unless its reviewer says otherwise."""

DEVIATIONS = (FindingKind.REGRESSION, FindingKind.CHANGED_FAILURE, FindingKind.CHANGED_OUTCOME)
_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Proposal:
    """Members by test file, groups and skip rules (as plain data, reasons UNREVIEWED) that a run gives rise to.

    ``moved`` are cases that a group names already, in a way that no longer fits.
    """

    members: Mapping[str, tuple[str, ...]]
    groups: Mapping[str, dict[str, object]]
    skips: tuple[dict[str, object], ...]
    moved: tuple[str, ...]
    contract: Mapping[str, str]


def propose(lane: LaneInput, seen: Seen, today: datetime.date) -> Proposal:
    """All that the run shows and the lane's ratchet (if it has one) does not expect.

    Raises EvidenceError for a run with execution errors, or of a part of its suite: neither can say what is normal.
    """
    _refuse_partial(lane, seen)
    findings = Findings(lane)
    expected, _ = compare(lane, seen, today, findings)
    groups: dict[str, dict[str, object]] = {}
    moved = []
    for kind in DEVIATIONS:
        for case in findings.cases(kind):
            _add(groups, seen, case, today)
            if case.id in expected.groups:
                moved.append(case.id)
    for case in findings.cases(FindingKind.UNEXPECTED_PASS):
        if case.outcome is Outcome.XPASSED:
            _add(groups, seen, case, today)
    skips: dict[str, int] = {}
    for case in findings.cases(FindingKind.UNREVIEWED_SKIP):
        skips[case.reason] = skips.get(case.reason, 0) + 1
    return Proposal(
        members=members_of(seen),
        groups=groups,
        skips=tuple({"reason": reason, "ceiling": count, "why": UNREVIEWED} for reason, count in sorted(skips.items())),
        moved=tuple(moved),
        contract={
            name: seen.report.contract[name].value
            for name in sorted(seen.report.contract)
            if _is_reviewed(name, lane.lane.kind, seen.report.contract[name].strictness)
        },
    )


def _is_reviewed(name: str, kind: str, strictness: Strictness) -> bool:
    """Whether expectations are for this fact of the contract; those of an upstream are for all that is strict."""
    if kind == "conformance":
        return strictness is Strictness.STRICT and name != SIGNATURE_SCHEME
    return name in ("python", "system") or name.startswith("package.")


def members_of(seen: Seen) -> dict[str, tuple[str, ...]]:
    """Test file -> the cases that a run collected from it, without those that were withheld from it by no rule."""
    members: dict[str, list[str]] = {}
    for case in seen.cases:
        file, rest = split_case(case.id)
        members.setdefault(file, []).append(rest or file)
    return {file: tuple(sorted(rests)) for file, rests in sorted(members.items())}


def document(proposal: Proposal, evidence: str) -> dict[str, object]:
    """The proposal as a whole ``PLATFORM.yml``, as plain data."""
    made: dict[str, object] = {
        "schema": RATCHET_SCHEMA,
        "signature_scheme": 1,
        "membership": "locked",
        "contract": dict(proposal.contract),
        "evidence": evidence,
    }
    if proposal.skips:
        made["skips"] = list(proposal.skips)
    if proposal.groups:
        made["groups"] = dict(proposal.groups)
    return made


def _refuse_partial(lane: LaneInput, seen: Seen) -> None:
    where = Where(seen.folder)
    if seen.report.errors or seen.report.interrupted:
        kinds = ", ".join(sorted({error.kind for error in seen.report.errors})) or "interrupted"
        raise EvidenceError(f"the run had execution errors ({kinds}): they can not be expected", where, "run again")
    if not lane.lane.is_whole:
        raise EvidenceError(
            f"the run covered a part of its suite ({lane.lane.selection.why})", where, "run the whole suite with --full"
        )
    unclear = [case.id for case in seen.cases if case.outcome in (Outcome.MISSING,)]
    if unclear:
        raise EvidenceError(f"{len(unclear)} cases are missing, such as {unclear[0]}", where, "run again")


def _add(groups: dict[str, dict[str, object]], seen: Seen, case: Case, today: datetime.date) -> None:
    signature = seen.signature(case)
    cause = signature.signature_class if signature else case.reason
    name = _free(_name(case.outcome, cause), case.outcome, cause, groups)
    group = groups.get(name)
    if group is None:
        group = {"outcome": case.outcome.value}
        if signature:
            group |= {"match": "class", "signature": cause}
        else:
            group["match"] = "any"
        group |= {
            "reason": UNREVIEWED,
            "expires": today + datetime.timedelta(days=VALID_DAYS),
            "cases": {},
        }
        groups[name] = group
    cases = group["cases"]
    assert isinstance(cases, dict)
    file, rest = split_case(case.id)
    cases.setdefault(file, []).append({"exact": rest} if "*" in rest else rest)


def _free(name: str, outcome: Outcome, cause: str, groups: Mapping[str, dict[str, object]]) -> str:
    """``name``, with a number where it is that of another cause: names are short, and causes are not."""
    for number in itertools.count(1):
        numbered = name if number == 1 else f"{name}-{number}"
        group = groups.get(numbered)
        if group is None or (group["outcome"] == outcome.value and group.get("signature", cause) == cause):
            return numbered
    raise AssertionError


def _name(outcome: Outcome, cause: str) -> str:
    slug = _SLUG.sub("-", cause.lower()).strip("-")[:60].strip("-")
    return f"{outcome.value}-{slug}" if slug else outcome.value
