"""The keeper: starts one worker, holds its whole process tree, and reports its true end.

It runs with the host's interpreter, in a session of its own. It is the only process that waits for any child. Orders
and reports are JSON lines on a socket; when that closes, the host is gone and the tree is ended.
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket
import time

from .folder import remove
from .launch import launch
from .logs import Log
from .tree import adopt_orphans, end_all, left_over, signal_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

    from .launch import Begin

TICK_S = 0.02
FLOOD_TICK_S = 0.002
"""How often the size of the output is looked at, and how often while it is being cut."""
STACKS_S = 0.5
"""How long a worker may take to write its stacks before it is ended."""
SETTLE_S = 2.0
"""How long helpers of a worker that ended (a resource tracker) may take to end by themselves."""
LEFT_LISTED = 20
LEASES = 64
"""So many devices a worker can be given at most."""
KILL_S = 2.0
"""How long killed processes may take to go; one that is stuck in a driver never does."""


class Keeper:
    """One worker's life. ``spec``: argv, env, cwd, stdout, stderr, output_bytes, memory_bytes, temporary, seed.

    With ``begin`` the worker is a fork of this process that calls it; otherwise it is started afresh.
    """

    def __init__(
        self, control: socket.socket, channel: int, spec: dict[str, Any], orders: bytes, begin: Begin | None
    ) -> None:
        self._control = control
        self._channel = channel
        self._spec = spec
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self._orders = orders
        self._begin = begin
        self._leases = array.array("i")
        self._host_gone = False
        self._worker = 0
        self._status: int | None = None
        self._cpu_s = 0.0
        self._max_rss = 0
        self._grace_s = 0.0
        self._stacks_until: float | None = None
        self._kill_at: float | None = None
        self._logs: list[Log] = []
        self._stacks = (0, 0)
        self._overflow = False
        self._wake, writer = os.pipe()
        for descriptor in (self._wake, writer):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def run(self) -> None:
        """Starts the worker, waits for its end, ends what is left of its tree, and reports."""
        adopts = adopt_orphans()
        try:
            self._logs = [Log(self._spec[name], self._spec["output_bytes"]) for name in ("stdout", "stderr")]
        except OSError as error:
            self._tell(not_started="the output files can not be made: %s" % error)
            self._clear()
            return
        outputs = (self._logs[0].open_for_worker(), self._logs[1].open_for_worker())
        self._worker, message = launch(self._spec, outputs, self._channel, self._begin)
        for descriptor in (*outputs, self._channel):
            os.close(descriptor)
        if message:
            for log in self._logs:
                log.close()
            self._tell(not_started=message)
        else:
            self._tell(started=self._worker, containment="keeper" if adopts else "group")
            self._watch()
            self._end()
        self._clear()

    def _watch(self) -> None:
        """Until the worker has ended or must be killed."""
        tick = TICK_S
        self._obey()
        while self._status is None and not self._host_gone:
            ready, _, _ = select.select([self._control.fileno(), self._wake], [], [], tick)
            if self._wake in ready:
                self._drain()
            if self._control.fileno() in ready:
                self._receive()
                self._obey()
            while self._reap():
                pass
            freed = [log.trim() for log in self._logs]
            tick = FLOOD_TICK_S if any(freed) else TICK_S
            self._overflow = any(log.refused for log in self._logs)
            if self._overflow or self._is_due():
                return

    def _is_due(self) -> bool:
        """Whether the time to kill has come; asks the tree to end when the stacks are written."""
        now = time.monotonic()
        if self._stacks_until is not None and (self._stacks_written() or now >= self._stacks_until):
            self._stacks_until = None
            self._ask()
        return self._kill_at is not None and now >= self._kill_at

    def _stacks_written(self) -> bool:
        """Whether standard error has grown since the stacks were asked for, and has come to rest."""
        first, last = self._stacks
        size = self._logs[1].size()
        self._stacks = (first, size)
        return first < size == last

    def _ask(self) -> None:
        self._kill_at = time.monotonic() + self._grace_s
        signal_all(self._worker, signal.SIGTERM)
        signal_all(self._worker, signal.SIGCONT)

    def _receive(self) -> None:
        room = socket.CMSG_SPACE(LEASES * array.array("i").itemsize)
        try:
            data, ancillary, _, _ = self._control.recvmsg(4096, room)
        except ConnectionError:
            data, ancillary = b"", []
        for level, kind, raw in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                # Held until this process ends; the worker, which was forked before, has no copy.
                self._leases.frombytes(raw[: len(raw) - len(raw) % self._leases.itemsize])
        self._host_gone = not data
        self._orders += data

    def _obey(self) -> None:
        while b"\n" in self._orders:
            line, _, self._orders = self._orders.partition(b"\n")
            order = json.loads(line)
            if "lease" in order:
                continue
            self._grace_s = order["grace_s"]
            if order["stacks"] and self._status is None:
                self._stacks = (self._logs[1].size(), -1)
                self._stacks_until = time.monotonic() + STACKS_S
                os.kill(self._worker, signal.SIGUSR1)
            else:
                self._ask()

    def _reap(self) -> int | None:
        """Collects one ended child: its pid, 0 when none has ended, None when there is no child."""
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid and pid == self._worker:
            self._status, self._cpu_s, self._max_rss = status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        return pid

    def _drain(self) -> None:
        try:
            while os.read(self._wake, 512):
                pass
        except BlockingIOError:
            return

    def _settle(self) -> None:
        """Lets the helpers of an ended worker end by themselves."""
        deadline = time.monotonic() + SETTLE_S
        while self._reap() is not None and time.monotonic() < deadline:
            select.select([self._wake], [], [], 0.02)
            self._drain()

    def _end(self) -> None:
        if self._status is not None and not self._host_gone:
            self._settle()
        left = left_over(LEFT_LISTED) if self._status is not None else []
        killed, gone = end_all(self._reap, self._worker, KILL_S)
        report: dict[str, Any] = {"leftovers": len(killed - {self._worker}), "gone": gone, "overflow": self._overflow}
        report["left"] = left
        for log, name in zip(self._logs, ("stdout", "stderr")):  # noqa: B905 - Python 3.8 has no strict
            report[name + "_bytes"] = log.close()
            report["cut"] = report.get("cut", False) or log.cut
        if self._status is not None:
            signalled = os.WIFSIGNALED(self._status)
            report["exit_code"] = None if signalled else os.WEXITSTATUS(self._status)
            report["signal"] = os.WTERMSIG(self._status) if signalled else None
            report["cpu_s"], report["max_rss"] = self._cpu_s, self._max_rss
        self._tell(ended=report)

    def give_up(self, reason: str) -> None:
        """Ends the tree without a report of its end."""
        end_all(self._reap, self._worker, KILL_S)
        self._tell(failed=reason)
        self._clear()

    def _clear(self) -> None:
        residue = remove(self._spec["temporary"])
        if residue:
            self._tell(residue=residue)

    def _tell(self, **message: Any) -> None:
        try:
            self._control.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._host_gone = True


def main(arguments: list[str]) -> int:
    """``CONTROL CHANNEL``: the descriptors of the socket to the host, whose first line is the spec, and the channel."""
    control = socket.socket(fileno=int(arguments[0]))
    channel = int(arguments[1])
    for descriptor in (control.fileno(), channel):
        os.set_inheritable(descriptor, False)
    os.chdir("/")
    received = b""
    while b"\n" not in received:
        data = control.recv(1 << 16)
        if not data:
            return 1
        received += data
    spec, _, orders = received.partition(b"\n")
    return keep(control, channel, json.loads(spec), orders)


def keep(
    control: socket.socket, channel: int, spec: dict[str, Any], orders: bytes, kept: Iterable[int] | None = None
) -> int:
    """Keeps one worker to its end and returns this process's exit status.

    With ``kept``, the descriptors of preloaded libraries, the worker is a fork of this process.
    """
    begin = None
    if kept is not None:
        from .forked import begin as forked

        def begin() -> None:
            forked(spec, channel, kept)

    keeper = Keeper(control, channel, spec, orders, begin)
    try:
        keeper.run()
    except Exception as error:  # noqa: BLE001 - whatever went wrong here, the tree must end and the host must know why
        keeper.give_up("%s: %s" % (type(error).__name__, error))
        return 1
    return 0
