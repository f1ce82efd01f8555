"""What the scheduler is given, and what it gives back."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ci_toolkit.model.report import ErrorKind, ExecutionError, Worker
from ci_toolkit.model.request import Request


@dataclass(frozen=True)
class Job:
    """One unit to run. ``folder`` is ``workers/NNN`` of the evidence; it exists and is empty.

    ``request.json``, ``events.jsonl``, ``stdout.log`` and ``stderr.log`` are written there. ``request.temporary`` is
    made for the worker and removed after it.
    """

    number: int
    request: Request
    folder: Path


@dataclass(frozen=True)
class Leftover:
    """A process that a worker left behind and that had to be killed.

    ``started`` is in seconds since the machine was started, to a hundredth. ``daemon``: it had a session of its own.
    """

    pid: int
    command: str
    started: float
    daemon: bool


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    ``message`` says in one line what happened when the worker did not complete, and ``error`` which kind of execution
    error that is. ``strangers`` counts messages on the channel that were not the worker's own. ``timed_out_case`` is
    the case that ran when a limit of time struck. ``faults`` are execution errors besides these: a worker that
    completed may still have loaded the toolkit, or changed what is installed.
    """

    job: Job
    worker: Worker
    message: str = ""
    strangers: int = 0
    timed_out_case: str = ""
    error: ErrorKind | None = None
    faults: tuple[ExecutionError, ...] = ()
    left: tuple[Leftover, ...] = ()


Take = Callable[[], Job | None]
"""Gives the next job to start now; None when there is none at present. Asked again after each end of a job."""


def in_order(jobs: Iterable[Job]) -> Take:
    """Takes ``jobs`` one after the other."""
    return partial(next, iter(jobs), None)


Observer = Callable[[Job, dict[str, Any]], None]
"""Is told of each message of a worker; ``e`` is its kind: ``hello``, ``start``, ``phase``, ``finish`` or ``bye``.

The host adds ``residue`` (``message``: what a worker left behind), ``fallback`` (``message``: why it was not forked)
and, once for each job, ``ended`` (``end`` and ``message``, as in ``Ended``).
"""
