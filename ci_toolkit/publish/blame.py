"""Tells apart what a change brought in and what its base shows too. Pure."""

from collections.abc import Callable

import msgspec

from ci_toolkit.model.verdict import Finding, FindingKind, Verdict
from ci_toolkit.publish.summary import brief, fill, render
from ci_toolkit.publish.words import blocking, more, plural


def render_with_blame(verdict: Verdict, room: int) -> str:
    """The summary in at most ``room`` bytes of UTF-8, with the inherited findings in a part of their own at its end.

    That part takes a quarter of the room at most.
    """
    inherited = [finding for finding in verdict.findings if finding.kind is FindingKind.INHERITED]
    if not inherited:
        return render(verdict, room)
    own = tuple(finding for finding in verdict.findings if finding.kind is not FindingKind.INHERITED)
    count, blocks = len(inherited), len(blocking(own))
    told = f"**{blocks} {plural('finding', blocks)} not known from the base; {count} inherited from it.**\n\n"
    head = f"\n### Inherited: {count} {plural('finding', count)}\n\nThe base shows the same; this does not block.\n\n"
    last = _listed(inherited, room // 4 - len(head), lambda left: f"- {more(0, left, 'inherited finding')}\n")
    last = f"{head}{last}\n" if last else ""
    text = render(msgspec.structs.replace(verdict, findings=own), room - len(told) - len(last.encode()))
    first, gap, rest = text.partition("\n\n")
    return f"{first}\n\n{told}{rest}{last}" if gap else text


def _listed(findings: list[Finding], room: int, note: Callable[[int], str]) -> str:
    return fill(map(brief, findings), len(findings), room, note)
