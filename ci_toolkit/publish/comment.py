"""The comment on a pull request. Pure."""

from ci_toolkit.model.verdict import Verdict
from ci_toolkit.publish.blame import render_with_blame

UNREVIEWED = "> Reported by a run of the fork's own code: read it as its word, not as a proof.\n\n"


def render_comment(verdict: Verdict, room: int, run: str, *, from_fork: bool = False) -> str:
    """The comment in at most ``room`` bytes of UTF-8, never cut within a table. ``run`` is a line of ours about it."""
    note = UNREVIEWED if from_fork else ""
    return f"{note}{render_with_blame(verdict, room - len(f'{note}{run}'.encode()) - 2)}\n{run}\n"
