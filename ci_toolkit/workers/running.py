"""One live worker as the host sees it: its messages, its limits of time, its end."""

import math
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from ci_toolkit.devices.probe import PATIENCE_S, blames_set_up
from ci_toolkit.formats.documents import document_bytes
from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.report import Device, ErrorKind, ExecutionError, Worker, WorkerEnd
from ci_toolkit.model.secrets import redacted
from ci_toolkit.model.text import clip, one_line
from ci_toolkit.workers.devices import Access, Grant
from ci_toolkit.workers.ends import End, classify, faults, not_started, signal_name
from ci_toolkit.workers.jobs import Ended, Job, Leftover, Observer
from ci_toolkit.workers.keeper import Keeper, specification, start
from ci_toolkit.workers.server import ForkError, Servers

START_S = 60.0
"""How long a keeper may take to start its worker on a machine that is busy."""
ANSWER_S = 10.0
"""How long after the grace a keeper may take to end a tree, before it is ended itself."""
INTERRUPT_GRACE_S = 1.0
INTERRUPT_ANSWER_S = 1.5
"""An interrupted worker has this long to end by itself, and its keeper this long after that to end it."""
CASE_TEXT_BYTES = 400
_EXITED = {"leftovers": 0, "gone": True, "overflow": False}


class Running:
    """A job whose keeper was started; raises OSError where that is impossible."""

    def __init__(self, job: Job, servers: Servers, observe: Observer) -> None:
        request = job.request
        Path(request.temporary).mkdir(mode=0o700, parents=True, exist_ok=True)
        shown = msgspec.structs.replace(request, env=redacted(request.env))
        (job.folder / "request.json").write_bytes(document_bytes(shown))
        self.job = job
        self.over = False
        self._observe = observe
        self._fallback = ""
        self.keeper = self._keeper(servers)
        self._limits = request.limits
        self._launched = self._began = time.monotonic()
        self._began_at = ""
        self._seconds: float | None = None
        self._pid = 0
        self._containment = ""
        self._hello: dict[str, Any] | None = None
        self._bye: dict[str, Any] | None = None
        self._report: dict[str, Any] | None = None
        self._failed_start = self._failed = self._refused = ""
        self._case = self._phase = ""
        self._case_began = 0.0
        self._timed_out_case = ""
        self._ordered: End | None = None
        self._give_up_at: float | None = None
        self._hurried = False
        self._strangers = 0
        self.wants = 0
        self._wanted_at = 0.0
        self.devices: tuple[Device, ...] = ()
        self._access: Access | None = None
        self._proven = self._ran_unproven = False
        self._proves_until: float | None = None

    def _keeper(self, servers: Servers) -> Keeper:
        request, folder = self.job.request, self.job.folder
        if request.start == "fork":
            try:
                return servers.fork(request, specification(request, folder, -1))
            except ForkError as error:
                self._fallback = one_line(str(error))
                self._observe(self.job, {"e": "fallback", "message": self._fallback})
        return start(request, folder)

    # What arrives ------------------------------------------------------------------------------------------------

    def on_control(self) -> None:
        """Reads what the keeper reports."""
        for message in self.keeper.control.receive():
            if "started" in message:
                self._pid, self._containment = message["started"], message["containment"]
                self._began, self._began_at = time.monotonic(), datetime.now(UTC).isoformat()
            elif "not_started" in message:
                self._failed_start = message["not_started"]
            elif "ended" in message:
                self._report, self._seconds = message["ended"], time.monotonic() - self._began
                self.over = self.over or self._hurried
            elif "failed" in message:
                self._failed = message["failed"]
            elif "residue" in message:
                self._observe(self.job, {"e": "residue", "message": message["residue"]})
        if self.keeper.control.closed:
            self.over = True

    def on_channel(self) -> None:
        """Reads what the worker says."""
        self._take(self.keeper.channel.receive())

    def _take(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if message.get("n") != self.job.request.nonce:
                self._strangers += 1
                continue
            kind, case = message.get("e"), str(message.get("id", ""))
            if kind == "hello":
                self._hello = message
            elif kind == "need_devices" and not self.devices:
                self.wants, self._wanted_at = self.job.request.width, time.monotonic()
            elif kind == "proving" and self.devices and not self._proven and self._proves_until is None:
                self._proves_until = time.monotonic() + PATIENCE_S
            elif kind == "proof" and self._access is not None:
                self._take_proof(message.get("answer"), self._access)
            elif kind == "not_granted":
                self._refused = str(message.get("reason", ""))
            elif kind == "start":
                self._case, self._phase, self._case_began = case, "", time.monotonic()
                self._ran_unproven |= bool(self.job.request.width) and not self._proven
            elif kind == "phase" and case == self._case:
                self._phase = str(message.get("when", ""))
            elif kind == "finish":
                self._case = ""
            elif kind == "bye":
                self._bye = message
            self._observe(self.job, message)

    # Devices -----------------------------------------------------------------------------------------------------

    def grant(self, grant: Grant, access: Access) -> None:
        """Gives the worker its devices; its time begins now. The keeper holds the leases from here on."""
        self.wants = 0
        self._access = access
        self.devices = grant.devices
        shown = [{"index": device.index, "uuid": device.uuid, "name": device.name} for device in grant.devices]
        message = {"n": self.job.request.nonce, "e": "granted", "mask": grant.mask, "devices": shown}
        self.keeper.grant(message, [lease.fileno() for lease in grant.leases])
        for lease in grant.leases:
            lease.close()
        self._began = time.monotonic()

    def _take_proof(self, answer: object, access: Access) -> None:
        reason = access.judge(answer, self.devices)
        self._proves_until = None
        if reason:
            self.refuse(reason, ErrorKind.SETUP if blames_set_up(answer) else ErrorKind.RUNNER)
        else:
            self._proven = True
            self.keeper.say({"n": self.job.request.nonce, "e": "go"})

    def waited(self, now: float) -> float:
        """How long the worker has been waiting for devices, in seconds."""
        return now - self._wanted_at if self.wants else 0.0

    def refuse(self, reason: str, kind: ErrorKind = ErrorKind.INFRA) -> None:
        """Ends a worker that can not have the devices that it needs."""
        self.wants = 0
        self._proves_until = None
        self._ordered = End(WorkerEnd.NOT_STARTED, one_line(reason), kind)
        self._give_up_at = time.monotonic() + ANSWER_S
        self.keeper.order_stop(0.0, stacks=False)

    # Limits ------------------------------------------------------------------------------------------------------

    def due(self) -> float:
        """When ``check`` has something to do next, on the monotonic clock."""
        if self._give_up_at is not None:
            return self._give_up_at
        if not self._pid:
            return self._launched + START_S
        if self.wants:
            return math.inf
        if self._proves_until is not None:
            return self._proves_until
        unit = self._began + self._limits.unit_s
        if self._case and self._limits.case_s is not None:
            return min(unit, self._case_began + self._limits.case_s)
        return unit

    def check(self, now: float) -> None:
        """Enforces the limits of time, after all that the worker said until now."""
        if self.over or now < self.due():
            return
        if self._give_up_at is not None or not self._pid:
            self._give_up()
            return
        self._take(self.keeper.channel.receive())
        if now < self.due():
            return
        if self._proves_until is not None:
            named = ", ".join(device.card for device in self.devices)
            self.refuse(f"no kernel ran within {PATIENCE_S:g} s on {named}: it hangs", ErrorKind.RUNNER)
            return
        limits, case = self._limits, clip(one_line(self._case), CASE_TEXT_BYTES)
        if now >= self._began + limits.unit_s:
            during = f", in case {case}" if case else ""
            message = f"the unit ran longer than its limit of {limits.unit_s:g} s{during}"
        else:
            during = ", in its teardown" if self._phase == "call" else ""
            message = f"case {case} ran longer than its limit of {limits.case_s:g} s{during}"
        self._timed_out_case = self._case
        self._ordered = End(WorkerEnd.TIMEOUT, message, ErrorKind.WORKER_TIMEOUT)
        self._give_up_at = now + limits.grace_s + ANSWER_S
        self.keeper.order_stop(limits.grace_s, stacks=True)

    def interrupt(self, reason: str) -> None:
        """Ends the worker soon, because the host was asked to stop."""
        if self._hurried:
            return
        self._hurried = True
        self._ordered = self._ordered or End(WorkerEnd.INTERRUPTED, f"interrupted by {reason}", ErrorKind.INTERRUPTED)
        grace = min(self._limits.grace_s, INTERRUPT_GRACE_S)
        self._give_up_at = time.monotonic() + grace + INTERRUPT_ANSWER_S
        self.keeper.order_stop(grace, stacks=False)

    def _give_up(self) -> None:
        self.keeper.kill()
        if self._pid:
            self._seconds = time.monotonic() - self._began
        self.over = True

    # The end -----------------------------------------------------------------------------------------------------

    def finish(self) -> Ended:
        """The end of a worker that is ``over``; closes the sockets."""
        self._take(self.keeper.channel.drain())
        end, report = self._end()
        if report is _EXITED:
            self._clear_up()
        hello, bye = self._hello, self._bye
        job, number = self.job, report.get("signal")
        self.keeper.close()
        worker = Worker(
            number=job.number,
            unit=job.request.unit,
            end=end.end,
            start_mode=str((hello or {}).get("start_mode", "")),
            start_requested=job.request.start,
            fallback=self._fallback,
            containment=self._containment,
            exit_code=report.get("exit_code"),
            signal="" if number is None else signal_name(number),
            seconds=self._seconds,
            started=self._began_at,
            leftovers=report["leftovers"],
            stdout_bytes=report.get("stdout_bytes", 0),
            stderr_bytes=report.get("stderr_bytes", 0),
            output_cut=report.get("cut", False),
            devices=tuple(device.index for device in self.devices),
        )
        return Ended(
            job=job,
            worker=worker,
            message=end.message,
            strangers=self._strangers + self.keeper.channel.garbled,
            timed_out_case=self._timed_out_case,
            error=end.error,
            faults=(*faults(job.request.unit, job.number, report, hello, bye), *self._unproven()),
            left=tuple(self._leftover(left) for left in report.get("left", ())),
        )

    def _unproven(self) -> tuple[ExecutionError, ...]:
        if not self._ran_unproven:
            return ()
        message = "ran a case before its devices were proven"
        unit, number = self.job.request.unit, self.job.number
        return (ExecutionError(kind=ErrorKind.INFRA, message=message, cause=Cause.INFRA, unit=unit, worker=number),)

    def _leftover(self, left: Mapping[str, Any]) -> Leftover:
        return Leftover(left["pid"], left["command"], left["started"], daemon=left["session"] != self._pid)

    def _clear_up(self) -> None:
        """Does what the keeper did not live to do."""
        self.keeper.sweep(self._pid)
        shutil.rmtree(self.job.request.temporary, ignore_errors=True)

    def _end(self) -> tuple[End, dict[str, Any]]:
        if self._failed_start:
            return not_started(self._failed_start), _EXITED
        if self._refused:
            return End(WorkerEnd.NOT_STARTED, one_line(self._refused), ErrorKind.INFRA), self._report or _EXITED
        if self._report is not None:
            return classify(self._report, self._bye, self._ordered), self._report
        if self._ordered is not None:
            return self._ordered, _EXITED
        if not self._pid:
            gone = self.keeper.control.closed
            why = "was ended from outside before it started it" if gone else f"did not start it within {START_S:g} s"
            return not_started(f"its keeper {why}"), _EXITED
        cause = f"failed ({one_line(self._failed)})" if self._failed else "was ended from outside"
        message = f"its keeper {cause}, so what became of it is unknown"
        return End(WorkerEnd.CRASHED, message, ErrorKind.WORKER_CRASHED), _EXITED
