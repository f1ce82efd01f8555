"""Judges what a pytest worker left: which outcome each case has, and what makes the unit an execution error."""

from ci_toolkit.model.report import Environment, WorkerEnd
from ci_toolkit.suites.kind import Account, UnitResult
from ci_toolkit.suites.pytest.cases import case_of, find_culprit
from ci_toolkit.suites.pytest.events import Story, read
from ci_toolkit.suites.pytest.ledger import Ledger
from ci_toolkit.suites.pytest.leftovers import find_owners
from ci_toolkit.suites.pytest.session import (
    judge_collection,
    judge_process,
    judge_session,
    judge_strangers,
    why_not_run,
)


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
    if account.worker.end is WorkerEnd.COMPLETED:
        judge_session(story, culprit, cases, why, ledger)
    else:
        judge_process(story, culprit, ledger)
    judge_collection(story, ledger)
    judge_strangers(story, ledger)
    return UnitResult(
        cases=tuple(cases),
        failures=tuple(ledger.failures),
        errors=(*ledger.errors, *account.faults),
        deselected=story.declared,
        environment=_environment(story),
        runner_version=story.pytest,
    )


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
