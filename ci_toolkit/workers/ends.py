"""How a worker ended, from what its keeper reported and what it said itself. Pure."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.report import ErrorKind, ExecutionError, WorkerEnd

LISTED = 5


@dataclass(frozen=True)
class End:
    """An end, its line of text, and its kind of execution error; both empty for a worker that completed."""

    end: WorkerEnd
    message: str = ""
    error: ErrorKind | None = None


COMPLETED = End(WorkerEnd.COMPLETED)


def not_started(message: str) -> End:
    """A worker that never ran."""
    return End(WorkerEnd.NOT_STARTED, message, ErrorKind.INFRA)


def signal_name(number: int) -> str:
    """``SIGSEGV``, or the number for a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def classify(report: Mapping[str, Any], bye: Mapping[str, Any] | None, ordered: End | None) -> End:
    """The end of a worker that ran.

    ``report`` is the keeper's, ``bye`` the worker's final message, ``ordered`` the end that the host had decided on. A
    process failure beats what the process said before; only an interrupt leaves a complete worker complete.
    """
    if ordered is not None and ordered.end is not WorkerEnd.INTERRUPTED:
        return ordered
    natural = _natural(report, bye)
    if ordered is not None and natural is not COMPLETED:
        return ordered
    return natural


def _natural(report: Mapping[str, Any], bye: Mapping[str, Any] | None) -> End:
    if report["overflow"]:
        message = "was ended: it printed too much, and the file system can not cut the middle out of its output"
        return End(WorkerEnd.OUTPUT, message, ErrorKind.WORKER_OUTPUT)
    number, status = report.get("signal"), report.get("exit_code")
    if number is not None:
        after = "" if bye is None else " after its final report"
        return End(WorkerEnd.CRASHED, f"ended by {signal_name(number)}{after}", ErrorKind.WORKER_CRASHED)
    if status is None:
        return End(WorkerEnd.CRASHED, "could not be killed, so its status is unknown", ErrorKind.WORKER_CRASHED)
    if bye is None:
        message = f"exited with status {status} without its final report"
        return End(WorkerEnd.CRASHED, message, ErrorKind.NO_FINAL_REPORT)
    said = bye.get("code")
    if not isinstance(said, int) or said & 0xFF != status:
        message = f"exited with status {status}, its final report says {said}"
        return End(WorkerEnd.CRASHED, message, ErrorKind.EXIT_DISAGREES)
    return COMPLETED


def faults(
    unit: str,
    worker: int,
    report: Mapping[str, Any],
    hello: Mapping[str, Any] | None,
    bye: Mapping[str, Any] | None,
) -> tuple[ExecutionError, ...]:
    """Execution errors that do not show in the way a worker ended."""
    found = []
    if not report["gone"]:
        message = "left processes that can not be killed; a device driver may be stuck"
        found.append(
            ExecutionError(kind=ErrorKind.RUNNER, message=message, cause=Cause.INFRA, unit=unit, worker=worker)
        )
    leaked = (bye or {}).get("leaked", ())
    if leaked:
        message = f"loaded modules of the toolkit: {_some(leaked)}"
        found.append(ExecutionError(kind=ErrorKind.HOST_LIBRARY_LEAKED, message=message, unit=unit, worker=worker))
    if hello is not None and bye is not None:
        changed = _changes(hello.get("packages", {}), bye.get("packages", {}))
        if changed:
            message = f"changed what is installed: {_some(changed)}"
            found.append(ExecutionError(kind=ErrorKind.ENVIRONMENT_CHANGED, message=message, unit=unit, worker=worker))
    return tuple(found)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    names = sorted({*before, *after})
    return [
        f"{name} {before.get(name, 'absent')} -> {after.get(name, 'absent')}"
        for name in names
        if before.get(name) != after.get(name)
    ]


def _some(items: list[str]) -> str:
    rest = len(items) - LISTED
    return ", ".join(items[:LISTED]) + (f" and {rest} more" if rest > 0 else "")
