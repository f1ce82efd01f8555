"""Which outcome each case has, from how far it came and how its worker ended."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage, over_phases
from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.model.text import visible
from ci_toolkit.suites.pytest.ends import how_it_ended
from ci_toolkit.suites.pytest.events import Event, Progress, Story, Try
from ci_toolkit.suites.pytest.ledger import Ledger

_CULPRIT = {
    WorkerEnd.CRASHED: Outcome.CRASHED,
    WorkerEnd.TIMEOUT: Outcome.TIMEOUT,
    WorkerEnd.INTERRUPTED: Outcome.NOT_RUN,
}


_KILLED = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.NOT_RUN})


@dataclass(frozen=True)
class Culprit:
    """The case that was running when the worker, or the session, ended, and the row of its failure."""

    progress: Progress
    failure: int | None


def find_culprit(story: Story, ledger: Ledger) -> Culprit | None:
    """The case that ran when a limit struck, or else that did not finish; its failure is added, except on an interrupt.

    The limit counts even if the case came to an end while its worker was being ended: a signal may have ended its wait.
    """
    account = ledger.account
    running = story.cases.get(account.timed_out_case)
    running = running or next((case for case in story.cases.values() if case.started and not case.finished), None)
    if running is None:
        return None
    if account.worker.end is WorkerEnd.INTERRUPTED:
        return Culprit(running, None)
    stage = _stage_after(running.tries[-1].phases if running.tries else [])
    stop = next((event.failure for event in reversed(story.stopped) if event.failure), None)
    if account.worker.end is WorkerEnd.COMPLETED and stop is not None:
        return Culprit(running, ledger.failure(msgspec.structs.replace(stop, stage=stage)))
    return Culprit(running, ledger.death(stage, f"{how_it_ended(account)} in the case's {stage}"))


def case_of(
    progress: Progress, culprit: Culprit | None, why: str, shared: bool, left: Sequence[str], ledger: Ledger
) -> Case:
    """The case. ``why`` explains cases that did not start; the id of a ``shared`` one belongs to several.

    ``left`` are the commands of processes that the case left behind, which makes it an error.
    """
    row = progress.row
    if row.withheld is not None:
        return _case(progress, ledger, Outcome.NOT_RUN, reason=row.withheld)
    if not progress.started:
        return _case(progress, ledger, Outcome.NOT_RUN if why else Outcome.MISSING, reason=why)
    tries = [over_phases(attempt.outcomes) for attempt in progress.tries]
    phases = progress.tries[-1].phases
    failures = tuple(
        ledger.failure(phase.failure) for attempt in progress.tries for phase in attempt.phases if phase.failure
    )
    stage: Stage | None
    if culprit is not None and progress is culprit.progress:
        outcome = _CULPRIT.get(ledger.account.worker.end, Outcome.ERROR)
        stage, reason = _stage_after(phases), "interrupted" if outcome is Outcome.NOT_RUN else ""
        failures += () if culprit.failure is None else (culprit.failure,)
    elif not progress.finished or not any(phase.when == "teardown" for phase in phases):
        outcome, stage, reason = Outcome.ERROR, Stage.TEARDOWN, "no teardown was reported: the case is incomplete"
        failures += (ledger.failure(Failure(stage=stage, cause=Cause.EXCEPTION, message=reason)),)
        ledger.error(ErrorKind.LOST_CASES, f"{row.id}: {reason}", case=row.id)
    else:
        outcome = over_phases(tries) if shared else tries[-1]
        deciding = _deciding(progress.tries, outcome)
        stage = None if outcome is Outcome.PASSED else _stage(deciding)
        reason = visible(deciding.reason)
    if left and outcome not in _KILLED:
        message = f"left a process behind that had to be killed: {', '.join(left)}"
        failures += (ledger.failure(Failure(stage=Stage.TEARDOWN, cause=Cause.RESOURCE, message=message)),)
        outcome, stage, reason = Outcome.ERROR, Stage.TEARDOWN, ""
    tries[-1] = outcome
    return _case(
        progress,
        ledger,
        outcome,
        reason=reason,
        stage=stage,
        failures=failures,
        tries=tuple(tries) if tries[1:] else (),
    )


def _case(
    progress: Progress,
    ledger: Ledger,
    outcome: Outcome,
    *,
    reason: str,
    stage: Stage | None = None,
    failures: tuple[int, ...] = (),
    tries: tuple[Outcome, ...] = (),
) -> Case:
    row = progress.row
    return Case(
        id=row.id,
        outcome=outcome,
        stage=stage,
        reason=reason,
        failures=failures,
        seconds=_seconds(progress.tries),
        tries=tries,
        worker=ledger.account.worker.number,
        file=row.file or row.id.partition("::")[0],
        line=row.line,
        nodeid=row.nodeid,
    )


def _stage(phase: Event) -> Stage:
    return Stage(phase.when) if phase.when in {"setup", "call", "teardown"} else Stage.CALL


def _stage_after(phases: list[Event]) -> Stage:
    """The stage that was running when these phases had been reported."""
    if not phases:
        return Stage.SETUP
    last = phases[-1]
    if last.when == "setup" and last.outcome == "passed":
        return Stage.CALL
    return Stage.TEARDOWN


def _deciding(tries: list[Try], outcome: Outcome) -> Event:
    phases = [phase for attempt in reversed(tries) for phase in attempt.phases]
    deciding = [phase for phase in phases if phase.outcome == outcome]
    if outcome is Outcome.PASSED:
        deciding = [phase for phase in deciding if phase.when == "call"] or deciding
    return deciding[0] if deciding else phases[-1]


def _seconds(tries: list[Try]) -> float | None:
    timed = [phase.seconds for phase in tries[-1].phases if phase.seconds is not None] if tries else []
    return round(sum(timed), 6) if timed else None
