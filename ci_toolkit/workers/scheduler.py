"""Runs jobs in isolated workers, a few at a time, in one loop of the main thread."""

import selectors
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.report import ErrorKind, Worker, WorkerEnd
from ci_toolkit.workers.devices import NO_ACCESS, DevicePool
from ci_toolkit.workers.ends import not_started
from ci_toolkit.workers.headroom import has_memory
from ci_toolkit.workers.jobs import Ended, Job, Observer, Take
from ci_toolkit.workers.running import Running
from ci_toolkit.workers.server import Servers
from ci_toolkit.workers.stop import Stop

WAIT_S = 60.0
"""The longest sleep of the loop; everything that matters wakes it."""
RETRY_S = 0.1
"""How often a device that somebody else holds is asked for again."""
PASSES = 4
"""How many other wishes, for each device, may be met before the first that waits."""
LEAVE_S = 10.0
INTERRUPT_LEAVE_S = 0.5
"""How long the last keepers may take to remove their workers' temporary folders; they go on alone after that."""


def run_jobs(take: Take, slots: int, stop: Stop, observe: Observer, pool: DevicePool | None = None) -> Iterator[Ended]:
    """Runs the jobs that ``take`` gives with at most ``slots`` workers at a time and yields each as it ends.

    Workers that need devices are given them from ``pool``, in the order in which they asked; while they wait, they have
    imported already what needs none.

    When ``stop`` is set, no job starts any more, the running ones end within three seconds as ``interrupted``, and jobs
    that never started are not yielded. Call it in the main thread, where signals arrive. Closing the iterator ends all
    workers.
    """
    with selectors.DefaultSelector() as selector, closing(Servers()) as servers:
        loop = _Loop(selector, servers, pool or DevicePool((), NO_ACCESS), stop, observe)
        try:
            yield from loop.run(take, slots)
        finally:
            loop.leave()


class _Loop:
    def __init__(
        self, selector: selectors.BaseSelector, servers: Servers, pool: DevicePool, stop: Stop, observe: Observer
    ) -> None:
        self._selector = selector
        self._servers = servers
        self._pool = pool
        self._passed = 0
        self._stop = stop
        self._observe = observe
        self._running: list[Running] = []
        self._leaving: list[Running] = []
        if stop.fileno() >= 0:
            selector.register(stop, selectors.EVENT_READ, stop.drain)

    def run(self, take: Take, slots: int) -> Iterator[Ended]:
        while True:
            while self._may_start(slots) and (job := take()) is not None:
                if failed := self._start(job):
                    yield failed
            if not self._running:
                return
            self._wait()
            for worker in [worker for worker in self._running if worker.over]:
                yield self._finish(worker)

    def _may_start(self, slots: int) -> bool:
        running = len(self._running)
        return not self._stop and running < max(slots, 1) and (not running or has_memory())

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
        longest = RETRY_S if any(worker.wants for worker in self._running) else WAIT_S
        for key, _ in self._selector.select(min(max(soonest - time.monotonic(), 0.0), longest)):
            key.data()
        if self._stop:
            for worker in self._running:
                worker.interrupt(self._stop.reason)
        else:
            self._grant()
        now = time.monotonic()
        for worker in self._running:
            worker.check(now)

    def _grant(self) -> None:
        """Gives free devices to those who wait: the wide ones first, and else the longest waiting.

        What wants more than half of the devices would later wait for all others to end. A wish that can not be met lets
        narrower ones pass, but only so often: it never starves.
        """
        now = time.monotonic()
        self._pool.access.renew()
        waiting = [worker for worker in self._running if worker.wants and not worker.over]
        half = len(self._pool.devices) / 2
        waiting.sort(key=lambda worker: (worker.wants > half, worker.waited(now)), reverse=True)
        for worker in waiting:
            granted = self._try_grant(worker, now)
            if worker is waiting[0]:
                self._passed = 0 if granted else self._passed
            elif granted:
                self._passed += 1
            if not granted and self._passed >= PASSES * len(self._pool.devices):
                return

    def _try_grant(self, worker: Running, now: float) -> bool:
        """Whether the worker waits no longer: it has its devices, or can not have them."""
        pool = self._pool
        if worker.wants > len(pool.devices):
            worker.refuse(f"needs {worker.wants} devices, this run has {len(pool.devices)}")
            return True
        try:
            grant = pool.take(worker.wants)
        except InfrastructureError as error:
            worker.refuse(str(error), ErrorKind.RUNNER)
            return True
        if grant is not None:
            worker.grant(grant, pool.access)
        elif worker.waited(now) > pool.access.wait_s:
            worker.refuse(f"no device within {pool.access.wait_s:g} s: {pool.reason}")
        return not worker.wants

    def _finish(self, worker: Running) -> Ended:
        self._release(worker)
        ended = worker.finish()
        self._pool.give_back(worker.devices)
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
