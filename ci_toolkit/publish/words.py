"""The words of a verdict, the same on every surface."""

from collections.abc import Iterable, Mapping

from ci_toolkit.model.outcome import WORST_FIRST, Outcome
from ci_toolkit.model.text import one_line
from ci_toolkit.model.verdict import Drain, Finding, Verdict

MEANING = {
    0: "all gates passed",
    1: "a gate failed",
    2: "wrong usage or conf",
    3: "incomplete or untrustworthy evidence",
    4: "infrastructure: no such device, or a failed set-up",
    5: "nothing was selected",
    6: "a remote service failed",
    130: "interrupted; what was finished is written",
}
ORDER = (Outcome.PASSED, *(outcome for outcome in WORST_FIRST if outcome is not Outcome.PASSED), *Outcome)


def headline(verdict: Verdict) -> str:
    """The verdict in one line."""
    if verdict.result == "passed" and verdict.exit_code == 0:
        advisory = [lane for lane in verdict.lanes if lane.advisory]
        lanes = len(verdict.lanes) - len(advisory)
        red = sum(bool(lane.findings) for lane in advisory)
        besides = f"; {len(advisory)} advisory, {red} of them not green, none counts" if advisory else ""
        if not lanes:
            return f"PASSED: nothing was tested that counts{besides}"
        return f"PASSED: {lanes} {plural('lane', lanes)}, {counts(totals(verdict))}{besides}"
    blocking = sum(finding.blocks for finding in verdict.findings)
    found = f"{blocking} {plural('finding', blocking)}; " if blocking else ""
    meaning = MEANING.get(verdict.exit_code, "an unknown exit code")
    return f"FAILED: {found}{meaning} (exit {verdict.exit_code})"


def blame(drain: Drain) -> str:
    """What a runner is to be drained for: its lanes, its cards, and the first reason."""
    left = more(1, len(drain.reasons), "reason")
    told = [", ".join(drain.lanes), ", ".join(drain.devices), "".join(drain.reasons[:1]), left]
    return "; ".join(filter(None, told))


def totals(verdict: Verdict) -> dict[Outcome, int]:
    """The counts of all lanes that count together: an advisory one does not."""
    found: dict[Outcome, int] = {}
    for lane in [lane for lane in verdict.lanes if not lane.advisory]:
        for outcome, count in lane.counts.items():
            found[outcome] = found.get(outcome, 0) + count
    return found


def counts(found: Mapping[Outcome, int]) -> str:
    """Counts as ``3 passed, 1 failed``."""
    parts = [f"{found[outcome]:,} {words(outcome)}" for outcome in dict.fromkeys(ORDER) if found.get(outcome)]
    return ", ".join(parts) or "no case"


def words(name: str) -> str:
    """An outcome or a kind of finding for people: ``not run``."""
    return str(name).replace("_", " ")


def plural(word: str, count: int) -> str:
    """``word`` for a count."""
    return word if count == 1 else f"{word}s"


def title(finding: Finding) -> str:
    """A finding in one line: kind, lane, and its case or their number."""
    what = (
        one_line(finding.cases[0]) if len(finding.cases) == 1 else f"{finding.count:,} {plural('case', finding.count)}"
    )
    return " · ".join(filter(None, (words(finding.kind), finding.lane, what if finding.cases else "")))


def place(finding: Finding) -> str:
    """``FILE:LINE`` of a finding; empty where it has none."""
    if not finding.file:
        return ""
    return one_line(f"{finding.file}:{finding.line}" if finding.line else finding.file)


def duration(seconds: float | None) -> str:
    """Seconds for people."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} m" if hours else f"{minutes} m {rest:02d} s"


def reason(finding: Finding) -> str:
    """Why the first case did not pass, in one line: exception, message, stage, cause, signal."""
    failure = finding.failure
    if failure is None:
        return ""
    said = failure.message.strip().partition("\n")[0]
    if failure.exception:
        said = f"{failure.exception}: {said}" if said else failure.exception
    facts = [f"stage {failure.stage}", f"cause {failure.cause}", *([failure.signal] if failure.signal else [])]
    return f"{said} ({', '.join(facts)})"


def failure_lines(finding: Finding, limit: int) -> list[str]:
    """The last lines of a finding's failure text, where the reason usually stands; its message where it has none."""
    failure = finding.failure
    if failure is None:
        return []
    text = failure.excerpt.strip("\n") or failure.message
    lines = text.splitlines()
    stack = next((at for at, line in enumerate(lines) if line.startswith("Current thread")), None)
    if stack is not None:
        return lines[stack:][:limit]
    left = len(lines) - limit
    return [f"[... {left:,} more {plural('line', left)} ...]", *lines[-limit:]] if left > 0 else lines


def more(shown: int, whole: int, word: str) -> str:
    """A line that says how much is not shown; empty when all is."""
    left = whole - shown
    return f"... and {left:,} more {plural(word, left)}" if left > 0 else ""


def blocking(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that turn the verdict red."""
    return [finding for finding in findings if finding.blocks]
