"""Reads a verdict that is about to be told to people: one that contradicts itself is not believed."""

from pathlib import Path

from ci_toolkit.errors import EvidenceError, Where
from ci_toolkit.formats.documents import read_document
from ci_toolkit.model.verdict import Verdict
from ci_toolkit.publish.words import MEANING


def read_verdict(path: Path) -> Verdict:
    """The verdict in ``path``. Raises EvidenceError for one that is cut, from a newer version, or contradictory."""
    verdict = read_document(path, Verdict)
    fault = _contradiction(verdict)
    if fault:
        raise EvidenceError(f"contradicts itself: {fault}", Where(str(path)), "gate again")
    return verdict


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
