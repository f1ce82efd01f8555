"""How a worker's end reads, and what kind of trouble it is."""

from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.suites.kind import Account

END_KINDS = {
    WorkerEnd.CRASHED: ErrorKind.WORKER_CRASHED,
    WorkerEnd.TIMEOUT: ErrorKind.WORKER_TIMEOUT,
    WorkerEnd.OUTPUT: ErrorKind.WORKER_OUTPUT,
    WorkerEnd.INTERRUPTED: ErrorKind.INTERRUPTED,
    WorkerEnd.NOT_STARTED: ErrorKind.SETUP,
}
END_CAUSES = {
    WorkerEnd.COMPLETED: Cause.EXCEPTION,
    WorkerEnd.CRASHED: Cause.EXCEPTION,
    WorkerEnd.TIMEOUT: Cause.RESOURCE,
    WorkerEnd.OUTPUT: Cause.OUTPUT,
    WorkerEnd.INTERRUPTED: Cause.INFRA,
    WorkerEnd.NOT_STARTED: Cause.INFRA,
}
_WORDS = {
    WorkerEnd.COMPLETED: "the session ended",
    WorkerEnd.CRASHED: "the worker died",
    WorkerEnd.TIMEOUT: "the worker ran out of time",
    WorkerEnd.OUTPUT: "the worker wrote too much",
    WorkerEnd.INTERRUPTED: "the run was interrupted",
    WorkerEnd.NOT_STARTED: "the worker did not start",
}


def how_it_ended(account: Account) -> str:
    """One phrase about how a worker ended, without what differs from run to run."""
    worker = account.worker
    said = _WORDS[worker.end]
    if worker.end is WorkerEnd.CRASHED:
        if worker.signal:
            return f"{said} of {worker.signal}"
        if worker.exit_code is not None:
            return f"{said} with exit status {worker.exit_code}"
    if worker.end is WorkerEnd.NOT_STARTED and account.message:
        return f"{said}: {account.message}"
    return said
