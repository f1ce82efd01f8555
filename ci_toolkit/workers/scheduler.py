"""Runs jobs in isolated workers, a few at a time, in one loop of the main thread."""

import selectors
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from ci_toolkit.model.report import Worker, WorkerEnd
from ci_toolkit.workers.ends import not_started
from ci_toolkit.workers.jobs import Ended, Job, Observer, Take
from ci_toolkit.workers.running import Running
from ci_toolkit.workers.server import Servers
from ci_toolkit.workers.stop import Stop

WAIT_S = 60.0
"""The longest sleep of the loop; everything that matters wakes it."""
LEAVE_S = 10.0
INTERRUPT_LEAVE_S = 0.5
"""How long the last keepers may take to remove their workers' temporary folders; they go on alone after that."""


def run_jobs(take: Take, slots: int, stop: Stop, observe: Observer) -> Iterator[Ended]:
    """Runs the jobs that ``take`` gives with at most ``slots`` workers at a time and yields each as it ends.

    When ``stop`` is set, no job starts any more, the running ones end within three seconds as ``interrupted``, and jobs
    that never started are not yielded. Call it in the main thread, where signals arrive. Closing the iterator ends all
    workers.
    """
    with selectors.DefaultSelector() as selector, closing(Servers()) as servers:
        loop = _Loop(selector, servers, stop, observe)
        try:
            yield from loop.run(take, slots)
        finally:
            loop.leave()


class _Loop:
    def __init__(self, selector: selectors.BaseSelector, servers: Servers, stop: Stop, observe: Observer) -> None:
        self._selector = selector
        self._servers = servers
        self._stop = stop
        self._observe = observe
        self._running: list[Running] = []
        self._leaving: list[Running] = []
        if stop.fileno() >= 0:
            selector.register(stop, selectors.EVENT_READ, stop.drain)

    def run(self, take: Take, slots: int) -> Iterator[Ended]:
        while True:
            while not self._stop and len(self._running) < max(slots, 1) and (job := take()) is not None:
                if failed := self._start(job):
                    yield failed
            if not self._running:
                return
            self._wait()
            for worker in [worker for worker in self._running if worker.over]:
                yield self._finish(worker)

    def _start(self, job: Job) -> Ended | None:
        try:
            worker = Running(job, self._servers, self._observe)
        except OSError as error:
            with suppress(OSError):
                Path(job.request.temporary).rmdir()
            end = not_started(f"its keeper can not be started: {error.strerror or error}")
            record = Worker(number=job.number, unit=job.request.unit, end=WorkerEnd.NOT_STARTED)
            return Ended(job=job, worker=record, message=end.message, error=end.error)
        self._running.append(worker)
        self._selector.register(worker.keeper.control.connection, selectors.EVENT_READ, worker.on_control)
        self._selector.register(
            worker.keeper.channel.connection, selectors.EVENT_READ, partial(self._read_channel, worker)
        )
        return None

    def _read_channel(self, worker: Running) -> None:
        worker.on_channel()
        if worker.keeper.channel.closed:
            self._selector.unregister(worker.keeper.channel.connection)

    def _wait(self) -> None:
        soonest = min(worker.due() for worker in self._running)
        for key, _ in self._selector.select(min(max(soonest - time.monotonic(), 0.0), WAIT_S)):
            key.data()
        if self._stop:
            for worker in self._running:
                worker.interrupt(self._stop.reason)
        now = time.monotonic()
        for worker in self._running:
            worker.check(now)

    def _finish(self, worker: Running) -> Ended:
        self._release(worker)
        ended = worker.finish()
        self._leaving = [leaving for leaving in self._leaving if not leaving.keeper.has_ended(0)]
        self._leaving.append(worker)
        return ended

    def _release(self, worker: Running) -> None:
        self._running.remove(worker)
        for lines in (worker.keeper.control, worker.keeper.channel):
            with suppress(KeyError):
                self._selector.unregister(lines.connection)

    def leave(self) -> None:
        """Ends what still runs, and waits a while for the keepers to clear up."""
        for worker in list(self._running):
            self._release(worker)
            worker.keeper.close()
            self._leaving.append(worker)
        deadline = time.monotonic() + (INTERRUPT_LEAVE_S if self._stop else LEAVE_S)
        for worker in self._leaving:
            worker.keeper.has_ended(max(deadline - time.monotonic(), 0.0))
