"""What makes a unit an execution error: its process, its session, its collection, or strangers among its events."""

from ci_toolkit.model.case import Case
from ci_toolkit.model.outcome import BAD, Cause, Outcome, Stage
from ci_toolkit.model.report import ErrorKind, ExecutionError, WorkerEnd
from ci_toolkit.model.text import one_line
from ci_toolkit.suites.pytest.cases import Culprit
from ci_toolkit.suites.pytest.ends import END_CAUSES, END_KINDS, how_it_ended
from ci_toolkit.suites.pytest.events import Event, Story
from ci_toolkit.suites.pytest.ledger import Ledger, some

_PYTEST_SAYS = {
    2: "the session was interrupted",
    3: "pytest had an internal error",
    4: "pytest could not use its command line, configuration or a conftest.py",
    5: "no test was selected",
}


def why_not_run(story: Story, culprit: Culprit | None, ledger: Ledger) -> str:
    """Why cases that did not start were not run; empty when nothing explains it."""
    ended = how_it_ended(ledger.account)
    if culprit is not None:
        return f"{ended} in {culprit.progress.row.id}"
    if ledger.account.worker.end is not WorkerEnd.COMPLETED:
        return f"{ended} before it"
    if story.collect_errors:
        return "the file could not be collected whole"
    if story.stopped:
        return f"the session was stopped: {_stop_reason(story.stopped[-1])}"
    return ""


def judge_process(story: Story, culprit: Culprit | None, ledger: Ledger) -> ExecutionError:
    """The error of a worker that did not complete: where it was, and what it left."""
    worker = ledger.account.worker
    message, stage = how_it_ended(ledger.account), Stage.TEARDOWN
    if culprit is not None:
        message += f" in {culprit.progress.row.id}"
    elif story.exitstatus is not None:
        message += " after pytest had finished"
    elif story.collected is None:
        message, stage = f"{message} before its cases were collected", Stage.COLLECT
    elif all(case.finished for case in story.cases.values() if case.row.withheld is None):
        message += " after its last case"
    else:
        message += " between two cases"
    if culprit is not None:
        rows = () if culprit.failure is None else (culprit.failure,)
    else:
        rows = () if worker.end is WorkerEnd.INTERRUPTED else (ledger.death(stage, message),)
    return ledger.made(
        ledger.account.error or END_KINDS[worker.end],
        message,
        cause=END_CAUSES[worker.end],
        case=culprit.progress.row.id if culprit else "",
        failures=rows,
    )


def judge_device(case: str, ledger: Ledger) -> ExecutionError:
    """The error of a session that stopped because ``case`` broke the device's context for all that would follow."""
    return ledger.made(ErrorKind.DEVICE_FAULT, f"the device's context broke in {case}", cause=Cause.DEVICE, case=case)


def judge_session(story: Story, culprit: Culprit | None, cases: list[Case], why: str, ledger: Ledger) -> None:
    """A worker that completed: whether pytest ran all that it collected, and whether its exit status agrees."""
    unrun = {Outcome.MISSING, Outcome.NOT_RUN}
    lost = [case.id for case in cases if case.outcome in unrun and story.cases[case.id].row.withheld is None]
    if lost and not story.collect_errors:
        because = f" ({why})" if why else ""
        ledger.error(ErrorKind.LOST_CASES, f"{len(lost)} collected cases were not run{because}: {some(lost)}")
    if culprit is not None:
        case = culprit.progress.row.id
        stop = f": {_stop_reason(story.stopped[-1])}" if story.stopped else ""
        rows = () if culprit.failure is None else (culprit.failure,)
        ledger.error(ErrorKind.LOST_CASES, f"the session ended in {case}{stop}", case=case, failures=rows)
    if story.exitstatus is None:
        stop = f": {_stop_reason(story.stopped[-1])}" if story.stopped else ledger.last_words()
        ledger.error(ErrorKind.NO_FINAL_REPORT, f"pytest ended without its final report{stop}")
    else:
        _judge_status(story, story.exitstatus, bool(lost) or culprit is not None, ledger)


def _judge_status(story: Story, status: int, explained: bool, ledger: Ledger) -> None:
    exit_code = ledger.account.worker.exit_code
    if exit_code is not None and exit_code != status:
        ledger.error(
            ErrorKind.EXIT_DISAGREES, f"pytest reported exit status {status}, its process ended with {exit_code}"
        )
    failed = [
        progress.row.id
        for progress in story.cases.values()
        if any(
            outcome in BAD and not phase.rerun
            for attempt in progress.tries
            for outcome, phase in zip(attempt.outcomes, attempt.phases, strict=True)
        )
    ]
    ran = any(progress.started for progress in story.cases.values())
    if status == 0 and failed:
        ledger.error(ErrorKind.EXIT_DISAGREES, f"pytest ended with 0 although cases failed: {some(failed)}")
    elif status == 1 and not failed and not story.collect_errors:
        ledger.error(ErrorKind.EXIT_DISAGREES, f"pytest ended with 1 although no case failed{ledger.last_words()}")
    elif status == 5 and not ran:
        return  # An empty selection has its own error, and one that was declared empty is none.
    elif status not in {0, 1} and not (status == 2 and (story.collect_errors or explained)):
        said = _PYTEST_SAYS.get(status, "a plug-in chose this status")
        stop = f": {_stop_reason(story.stopped[-1])}" if story.stopped else ledger.last_words()
        rows = tuple(ledger.failure(event.failure) for event in story.stopped[-1:] if event.failure is not None)
        ledger.error(ErrorKind.EXIT_DISAGREES, f"pytest ended with {status}, {said}{stop}", failures=rows)


def judge_collection(story: Story, ledger: Ledger) -> None:
    """Collection errors and skips, duplicate ids, what was deselected unasked, and nothing at all."""
    for event in story.collect_errors:
        rows = () if event.failure is None else (ledger.failure(event.failure),)
        ledger.error(ErrorKind.COLLECTION, _collect_message(event, event.id or ledger.unit), failures=rows)
    if story.duplicates:
        ledger.error(ErrorKind.DUPLICATE_IDS, f"several cases share one id: {some(story.duplicates)}")
    for event in story.undeclared:
        ledger.error(
            ErrorKind.UNDECLARED_DESELECTION,
            f"{event.count} collected cases were deselected by no declared selector, as by a conftest.py or a "
            f"plug-in: {some(event.ids, event.count)}",
        )
    nothing = not (story.cases or story.declared or story.undeclared or story.collect_errors)
    completed = ledger.account.worker.end is WorkerEnd.COMPLETED
    if completed and nothing and story.exitstatus in {0, 5}:
        ledger.error(ErrorKind.EMPTY_SELECTION, f"no case was collected from {ledger.unit}")
    if story.collected is not None and story.collected != story.reported:
        ledger.error(ErrorKind.LOST_CASES, f"{story.collected} cases were collected, {story.reported} were reported")
    if story.unknown:
        ledger.error(
            ErrorKind.LOST_CASES, f"{len(story.unknown)} cases ran that were not collected: {some(story.unknown)}"
        )


def judge_strangers(story: Story, ledger: Ledger) -> None:
    """Events that are not the worker's own."""
    strangers = story.strangers + ledger.account.strangers
    if strangers:
        ledger.error(ErrorKind.STRANGER, f"{strangers} events are not from this worker: their nonce is another's")
    if story.garbled:
        ledger.error(ErrorKind.STRANGER, f"{story.garbled} lines among the events are no events")
    if story.torn and ledger.account.worker.end is WorkerEnd.COMPLETED:
        ledger.error(ErrorKind.NO_FINAL_REPORT, "the worker completed, yet its last event is cut short")


def _collect_message(event: Event, what: str) -> str:
    if event.outcome == "skipped":
        return f"{what} skipped itself while it was collected: {one_line(event.reason)}"
    if event.failure is not None:
        return f"{what} could not be collected: {event.failure.exception}: {one_line(event.failure.message)[:300]}"
    return f"{what} could not be collected: {one_line(event.reason)[:300]}"


def _stop_reason(event: Event) -> str:
    if event.failure is not None:
        name = event.failure.exception.rpartition(".")[2]
        return one_line(f"{name}: {event.failure.message}" if event.failure.message else name)[:300]
    return one_line(event.reason or event.by)
