"""Which cases left processes behind."""

from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.model.text import one_line
from ci_toolkit.suites.pytest.events import Story
from ci_toolkit.suites.pytest.ledger import Ledger, some
from ci_toolkit.workers.jobs import Leftover

TICK_S = 0.01
"""The kernel tells the start of a process in ticks, rounded down."""


def find_owners(story: Story, ledger: Ledger) -> dict[str, list[str]]:
    """Case -> the commands that it left behind; what no single case can have left is an execution error of the unit.

    When the worker did not complete, only what had made itself a session of its own counts: the others had no
    chance to end.
    """
    completed = ledger.account.worker.end is WorkerEnd.COMPLETED
    owners: dict[str, list[str]] = {}
    if completed and ledger.account.worker.leftovers and not ledger.account.left:
        ledger.error(ErrorKind.LEFTOVERS, "processes were left behind and had to be killed", cause=Cause.RESOURCE)
    for left in ledger.account.left:
        if not completed and not left.daemon:
            continue
        suspects = _suspects(story, left)
        if len(suspects) == 1:
            owners.setdefault(suspects[0], []).append(one_line(left.command))
            continue
        when = f"; it started while one of these ran: {some(suspects)}" if suspects else ""
        message = f"a process was left behind and had to be killed: {one_line(left.command)}{when}"
        ledger.error(ErrorKind.LEFTOVERS, message, cause=Cause.RESOURCE)
    return owners


def _suspects(story: Story, left: Leftover) -> list[str]:
    """The case that the process became an orphan in, or else those that ran in the tick in which it was started."""
    noted = [case.row.id for case in story.cases.values() if left.pid in case.orphans]
    if noted:
        return noted
    if story.hello is None or story.hello.boot is None:
        return []
    start = left.started - story.hello.boot
    return [
        case.row.id
        for case in story.cases.values()
        if case.started and case.began <= start + TICK_S and case.ended >= start
    ]
