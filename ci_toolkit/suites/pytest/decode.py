"""Judges what a pytest worker left: which outcome each case has, and what makes the unit an execution error."""

from ci_toolkit.model.report import Environment, ExecutionError, WorkerEnd
from ci_toolkit.suites.kind import Account, UnitResult
from ci_toolkit.suites.pytest.cases import case_of, find_culprit
from ci_toolkit.suites.pytest.events import Story, read
from ci_toolkit.suites.pytest.ledger import Ledger
from ci_toolkit.suites.pytest.leftovers import find_owners
from ci_toolkit.suites.pytest.session import (
    judge_collection,
    judge_device,
    judge_process,
    judge_session,
    judge_strangers,
    why_not_run,
)

_FINAL = frozenset({WorkerEnd.INTERRUPTED, WorkerEnd.NOT_STARTED})
"""Ends after which no fresh worker goes on."""


def decode(unit: str, account: Account, root: str) -> UnitResult:
    """What became of the unit; reads the worker's events from its file.

    A process failure beats the events: cases that finished keep their outcomes, the one that was running is the
    culprit, the others were not run, and the unit is an execution error.
    """
    try:
        with account.events.open("rb") as lines:
            story = read(lines, account.nonce)
    except FileNotFoundError:
        story = Story()
    return judge(unit, account, root, story)


def judge(unit: str, account: Account, root: str, story: Story) -> UnitResult:
    """What became of the unit, from the story of its session."""
    ledger = Ledger(unit, account, root)
    culprit = find_culprit(story, ledger)
    why = why_not_run(story, culprit, ledger)
    shared = set(story.duplicates)
    owners = find_owners(story, ledger)
    cases = [
        case_of(progress, culprit, why, progress.row.id in shared, owners.get(progress.row.id, ()), ledger)
        for progress in story.cases.values()
    ]
    broken = next((event.id for event in story.stopped if event.by == "device"), "")
    death: ExecutionError | None = None
    if broken and account.worker.end not in _FINAL:
        death = judge_device(broken, ledger)
    elif account.worker.end is not WorkerEnd.COMPLETED:
        death = judge_process(story, culprit, ledger)
    else:
        judge_session(story, culprit, cases, why, ledger)
    if death is not None and account.worker.end in _FINAL:
        ledger.errors.append(death)
        death = None
    judge_collection(story, ledger)
    judge_strangers(story, ledger)
    return UnitResult(
        cases=tuple(cases),
        failures=tuple(ledger.failures),
        errors=(*ledger.errors, *account.faults),
        deselected=story.declared,
        environment=_environment(story),
        runner_version=story.pytest,
        death=death,
        culprit=broken or (culprit.progress.row.id if culprit else ""),
        before=_before(story),
        rest=() if story.collected is None else _unstarted(story),
    )


def _before(story: Story) -> tuple[str, ...]:
    """The cases that finished, in the order in which they ran."""
    finished = [case for case in story.cases.values() if case.finished]
    return tuple(case.row.id for case in sorted(finished, key=lambda case: case.began))


def _unstarted(story: Story) -> tuple[str, ...]:
    return tuple(case.row.id for case in story.cases.values() if not case.started and case.row.withheld is None)


def _environment(story: Story) -> Environment | None:
    hello = story.hello
    if hello is None:
        return None
    return Environment(
        python=hello.python,
        implementation=hello.implementation,
        executable=hello.executable,
        packages=hello.packages,
    )
