"""A check run: its conclusion, its summary, and an annotation for each finding that has a place. Pure."""

import posixpath

from ci_toolkit.github.check_runs import SUMMARY, Annotation, Check
from ci_toolkit.model.text import clip, one_line, visible
from ci_toolkit.model.verdict import Finding, Verdict
from ci_toolkit.publish.blame import render_with_blame
from ci_toolkit.publish.words import failure_lines, headline, more, title

ANNOTATIONS = 1000
"""At most so many; 50 take a request, and requests are a second apart."""
TITLE_BYTES = 250
MESSAGE_BYTES = 16 << 10
LINES_SHOWN = 40


def render_check(verdict: Verdict, root: str) -> Check:
    """What a check run says. ``root`` is the checkout, whose files annotations can name."""
    ordered = sorted(verdict.findings, key=lambda finding: not finding.blocks)
    placed = [one for finding in ordered if (one := _annotation(finding, root))]
    left = more(ANNOTATIONS, len(placed), "finding")
    note = f"{left} without an annotation.\n\n" if left else ""
    return Check(
        conclusion=conclusion(verdict),
        title=clip(one_line(headline(verdict)), TITLE_BYTES),
        summary=note + render_with_blame(verdict, SUMMARY - len(note)),
        annotations=tuple(placed[:ANNOTATIONS]),
    )


def conclusion(verdict: Verdict) -> str:
    """``success`` only when a lane that counts passed; ``neutral`` when nothing blocks and nothing was proven."""
    if verdict.result != "passed" or verdict.exit_code:
        return "failure"
    return "success" if any(lane.result == "passed" for lane in verdict.lanes) else "neutral"


def _annotation(finding: Finding, root: str) -> Annotation | None:
    path = _in_checkout(finding.file, root)
    if not path:
        return None
    text = visible("\n".join([finding.message, *failure_lines(finding, LINES_SHOWN)])).replace("\r", "\n")
    return Annotation(
        path=path,
        line=finding.line if finding.line and finding.line > 0 else 1,
        level="failure" if finding.blocks else "notice",
        title=clip(one_line(title(finding)), TITLE_BYTES),
        message=clip(text, MESSAGE_BYTES) or "no message",
    )


def _in_checkout(file: str, root: str) -> str:
    """``file`` relative to ``root``; empty for one outside it, and for a name that no file of a repository has."""
    if not file or one_line(file) != file or len(file) > 4096:
        return ""
    path = posixpath.normpath(posixpath.join(root, file))
    inside = posixpath.relpath(path, root)
    return "" if inside.startswith("..") or inside == "." else inside
