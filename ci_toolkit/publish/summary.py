"""The job summary: the verdict first, a table by lane, findings by cause. It degrades as a whole and says so. Pure."""

from collections.abc import Callable

from ci_toolkit.model.text import clip
from ci_toolkit.model.verdict import Finding, Verdict
from ci_toolkit.publish.markdown import code, fence, inline, row
from ci_toolkit.publish.words import (
    blocking,
    counts,
    duration,
    failure_lines,
    headline,
    more,
    place,
    reason,
    title,
    words,
)
from ci_toolkit.reproduce.command import shell_line

CASES_SHOWN = 10
LINES_SHOWN = 12
COMMAND_BYTES = 4096
EXCERPT_BYTES = 2048


def render(verdict: Verdict, room: int) -> str:
    """The summary in at most ``room`` bytes of UTF-8; empty when not even the headline fits.

    From most to least: every finding in full, the blocking ones in full, their titles, counts by kind, the headline.
    What is left out is said.
    """
    head = f"## {inline(headline(verdict))}\n\n"
    table = _lanes(verdict)
    rest = _left_out(verdict)
    for findings, part in (
        (list(verdict.findings), _full),
        (blocking(verdict.findings), _full),
        (blocking(verdict.findings), _brief),
    ):
        fixed = [head, table, rest]
        size = sum(_bytes(text) for text in fixed)
        body = _body(verdict, findings, part, room - size)
        if body is not None:
            return "".join([head, table, body, rest])
    for parts in ([head, table, _kinds(verdict)], [head, _kinds(verdict)], [head]):
        text = "".join(parts)
        if _bytes(text) <= room:
            return text
    return ""


def _body(verdict: Verdict, findings: list[Finding], part: Callable[[Finding], str], room: int) -> str | None:
    """The findings that fit. None when fewer than ten do although there are more: a briefer form shows more."""
    pieces: list[str] = []
    spare = 400  # for the line that says what is left out
    for finding in findings:
        piece = part(finding)
        room -= _bytes(piece)
        if room < spare:
            break
        pieces.append(piece)
    if len(pieces) < min(len(findings), 10):
        return None
    left = len(verdict.findings) - len(pieces)
    note = (
        f"\n*{left:,} of {len(verdict.findings):,} findings are not shown here; verdict.json has all.*\n"
        if left
        else ""
    )
    return "".join(pieces) + note


def _lanes(verdict: Verdict) -> str:
    if not verdict.lanes:
        return "No lane ran.\n\n"
    lines = [row(["Lane", "Result", "Cases", "Time", "Device"]), row(["---"] * 5)]
    for lane in verdict.lanes:
        result = "passed" if lane.result == "passed" else f"**{inline(lane.result)}** ({lane.findings})"
        cells = [code(lane.lane), result, counts(lane.counts), duration(lane.seconds), inline(lane.device)]
        lines.append(row(cells))
    return "".join(lines) + "\n"


def _full(finding: Finding) -> str:
    lines = [f"### {inline(title(finding))}\n\n", f"{inline(clip(finding.message, EXCERPT_BYTES))}\n"]
    facts = {
        "why": reason(finding),
        "expected": finding.expected,
        "observed": finding.observed,
        "at": place(finding),
        "group": finding.group,
        "issue": finding.issue,
        "owner": finding.owner,
        "device": finding.device,
        "evidence": finding.evidence,
    }
    told = [f"{name}: {code(clip(value, 500))}" for name, value in facts.items() if value]
    lines.append("\n" + " · ".join(told) + "\n" if told else "")
    text = clip("\n".join(failure_lines(finding, LINES_SHOWN)), EXCERPT_BYTES)
    lines.append("\n" + fence(text) if text else "")
    lines.append(_cases(finding))
    lines.append(_reproduce(finding))
    return "".join(lines) + "\n"


def _cases(finding: Finding) -> str:
    if len(finding.cases) < 2:
        return ""
    shown = finding.cases[:CASES_SHOWN]
    items = "".join(f"- {code(clip(case, 300))}\n" for case in shown)
    left = more(len(shown), finding.count, "case")
    return f"\n{items}{'- ' + left if left else ''}\n"


def _reproduce(finding: Finding) -> str:
    if finding.reproduce is None:
        return ""
    line = shell_line(finding.reproduce)
    if _bytes(line) > COMMAND_BYTES:
        return f"\nTo reproduce: `ci-toolkit reproduce CASE --evidence {inline(finding.evidence)}` (the id is long).\n"
    return "\nTo reproduce:\n" + fence(line, "sh")


def _brief(finding: Finding) -> str:
    where = f" ({code(clip(place(finding), 300))})" if finding.file else ""
    return f"- {inline(clip(title(finding), 500))}{where}: {inline(clip(finding.message, 300))}\n"


def _kinds(verdict: Verdict) -> str:
    found: dict[str, int] = {}
    for finding in blocking(verdict.findings):
        found[finding.kind] = found.get(finding.kind, 0) + 1
    items = "".join(f"- {count:,} x {words(kind)}\n" for kind, count in found.items())
    return f"{items}\n*Only counts fit here; verdict.json has all findings.*\n"


def _left_out(verdict: Verdict) -> str:
    if not verdict.left_out:
        return ""
    items = "".join(f"- {code(lane)}: {inline(clip(why, 300))}\n" for lane, why in sorted(verdict.left_out.items()))
    return f"\n**Left out**\n\n{items}"


def _bytes(text: str) -> int:
    return len(text.encode())
