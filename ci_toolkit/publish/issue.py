"""The issue kept for a branch that stays red. Pure."""

import datetime
import hashlib
from collections.abc import Mapping

from ci_toolkit.model.verdict import Finding, Verdict
from ci_toolkit.publish.summary import brief, fill, render
from ci_toolkit.publish.words import blocking, more


def cause(finding: Finding) -> str:
    """What stays the same of a finding from run to run, as 16 hexadecimal digits."""
    named = "\0".join([finding.lane, finding.kind, finding.key]).encode("utf-8", "backslashreplace")
    return hashlib.sha256(named).hexdigest()[:16]


def render_issue(
    verdict: Verdict, opened: datetime.date, first: Mapping[str, datetime.date], room: int, run: str
) -> str:
    """The issue in at most ``room`` bytes of UTF-8: since when, each cause with its first day, then the summary.

    The causes take half the room at most. The oldest come first: nobody has looked at them for longest.
    """
    today = datetime.date.fromisoformat(verdict.today)
    causes = sorted(blocking(verdict.findings), key=lambda finding: first.get(cause(finding), today))
    head = f"Red since {opened}. Kept up to date, and closed by the first run that is green again.\n\n"
    rows = [f"- since {first.get(cause(finding), today)}: {brief(finding)[2:]}" for finding in causes]
    listed = fill(rows, len(rows), room // 2, lambda left: f"- {more(0, left, 'cause')}\n")
    begin = f"{head}{listed}\n" if listed else head
    left = room - len(f"{begin}{run}".encode()) - 2
    return f"{begin}{render(verdict, left)}\n{run}\n"
