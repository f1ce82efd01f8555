"""Reads a verdict that is about to be told to people: one that contradicts itself is not believed."""

import datetime
from pathlib import Path

from ci_toolkit.errors import EvidenceError, UsageError, Where
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.formats.documents import read_document
from ci_toolkit.gates.judge import judge_nothing
from ci_toolkit.model.verdict import Finding, FindingKind, Verdict
from ci_toolkit.publish.words import MEANING


def read_verdict(path: Path) -> Verdict:
    """The verdict in ``path``. Raises EvidenceError for one that is cut, from a newer version, or contradictory."""
    verdict = read_document(path, Verdict)
    fault = _contradiction(verdict)
    if fault:
        raise EvidenceError(f"contradicts itself: {fault}", Where(str(path)), "gate again")
    return verdict


def vouched_verdict(path: Path, digest: str, today: datetime.date) -> Verdict:
    """The verdict in ``path`` where it is red, or the one whose ``digest`` the gate's own job told.

    Jobs of a run can write each other's artifacts, and some run code of the change: a green that is not the gate's, or
    nothing at all, is a lost verdict, which is red.
    """
    try:
        verdict = read_verdict(path)
    except (EvidenceError, UsageError) as error:
        return _lost(f"the verdict did not arrive as the gate wrote it: {error}", today)
    if verdict.result == "passed" and digest_of(verdict) != digest:
        return _lost("the verdict that arrived passed, and is not the one that the gate wrote", today)
    return verdict


def _lost(message: str, today: datetime.date) -> Verdict:
    kind = FindingKind.VERDICT_LOST
    return judge_nothing(Finding(kind=kind, key=kind.value, lane="", message=message, exit_code=3), today)


def _contradiction(verdict: Verdict) -> str:
    code, result = verdict.exit_code, verdict.result
    if result not in ("passed", "failed"):
        return f"its result is {result[:40]!r}, neither passed nor failed"
    if code not in MEANING:
        return f"exit code {code} has no meaning"
    if (result == "passed") != (code == 0):
        return f"its result is {result} and its exit code {code}"
    if result == "passed" and any(finding.blocks for finding in verdict.findings):
        return "it passed, and holds a finding that blocks"
    if result == "passed" and any(lane.result not in ("passed", "advisory") for lane in verdict.lanes):
        return "it passed, and a lane did not"
    return ""
