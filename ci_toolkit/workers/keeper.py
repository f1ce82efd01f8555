"""The host's end of a keeper: starts the process, sends orders, and holds the two sockets."""

import array
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import psutil

from ci_toolkit.model.request import Request
from ci_toolkit.workers.lines import Lines
from ci_toolkit.workers.mark import marked

BOOTSTRAP = Path(__file__).parents[1] / "child" / "bootstrap.py"
COMMAND = (sys.executable, "-I", "-S", str(BOOTSTRAP), "keeper")
SWEEP_S = 2.0
"""How long the processes of a worker without a keeper may take to go."""


class Process(Protocol):
    """A keeper's process."""

    def kill(self) -> None:
        """Ends it at once, and waits until it is gone."""

    def has_ended(self, timeout_s: float) -> bool:
        """Whether it has ended by itself, at the latest after ``timeout_s``."""


class Keeper:
    """A keeper that runs. ``control`` carries its reports, ``channel`` the worker's own messages."""

    def __init__(self, control: socket.socket, channel: socket.socket, process: Process) -> None:
        control.setblocking(False)
        channel.setblocking(False)
        self.control, self.channel = Lines(control), Lines(channel)
        self._process = process

    def order_stop(self, grace_s: float, stacks: bool) -> None:
        """Asks the whole tree to end, and kills what is left after ``grace_s``; first writes the stacks if wanted."""
        with suppress(OSError):
            self.control.connection.sendall(json.dumps({"grace_s": grace_s, "stacks": stacks}).encode() + b"\n")

    def grant(self, message: Mapping[str, object], leases: Sequence[int]) -> None:
        """Gives the descriptors of leases to the keeper, which holds them to its end, and then tells the worker."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", leases))]
        with suppress(OSError):
            self.control.connection.sendmsg([encoded({"lease": len(leases)})], rights)
        self.say(message)

    def say(self, message: Mapping[str, object]) -> None:
        """Sends a message to the worker."""
        with suppress(OSError):
            self.channel.connection.sendall(encoded(message))

    def kill(self) -> None:
        """Ends a keeper that does not answer; its worker dies with it."""
        self._process.kill()

    def sweep(self, worker: int) -> None:
        """Ends the processes of a worker's session, when no keeper does it any more, and waits until they are gone."""
        killed = []
        for process in psutil.process_iter():
            with suppress(OSError, psutil.Error):
                if worker and os.getsid(process.pid) == worker:
                    process.kill()
                    killed.append(process)
        psutil.wait_procs(killed, timeout=SWEEP_S)

    def has_ended(self, timeout_s: float) -> bool:
        """Whether the keeper's process is gone, at the latest after ``timeout_s``."""
        return self._process.has_ended(timeout_s)

    def close(self) -> None:
        """Lets go of the keeper: one that still runs ends its worker."""
        self.control.connection.close()
        self.channel.connection.close()


def specification(request: Request, folder: Path, channel: int) -> dict[str, object]:
    """What a keeper is told of its worker; ``channel`` is the descriptor that a fresh interpreter finds open."""
    folder = folder.absolute()
    program = (request.interpreter, *request.flags, str(BOOTSTRAP), "worker")
    return {
        "argv": [*program, str(folder / "request.json"), str(channel)],
        "env": {**request.env, **marked()},
        "cwd": request.cwd,
        "stdout": str(folder / "stdout.log"),
        "stderr": str(folder / "stderr.log"),
        "output_bytes": request.limits.output_bytes,
        "memory_bytes": request.limits.memory_bytes,
        "temporary": request.temporary,
        "seed": f"{request.lane}/{request.unit}",
    }


def start(request: Request, folder: Path) -> Keeper:
    """Starts a keeper whose worker is a fresh interpreter; raises OSError where that is impossible."""
    control, keepers = socket.socketpair()
    channel, workers = socket.socketpair()
    try:
        with keepers, workers:
            process = subprocess.Popen(
                [*COMMAND, str(keepers.fileno()), str(workers.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(keepers.fileno(), workers.fileno()),
                env={**os.environ, **marked()},
                start_new_session=True,
            )
            told = encoded(specification(request, folder, workers.fileno()))
        with suppress(ConnectionError):
            control.sendall(told)
    except BaseException:
        control.close()
        channel.close()
        raise
    return Keeper(control, channel, _Started(process))


def encoded(message: Mapping[str, object]) -> bytes:
    """A message as one line."""
    return json.dumps(message).encode() + b"\n"


class _Started:
    """A child of this process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def has_ended(self, timeout_s: float) -> bool:
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True


class Forked:
    """A child of a fork server, held by a descriptor, as its number may be given to another process."""

    def __init__(self, pid: int) -> None:
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            self._descriptor = -1

    def kill(self) -> None:
        if self._descriptor >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            self.has_ended(SWEEP_S)

    def has_ended(self, timeout_s: float) -> bool:
        if self._descriptor >= 0 and select.select([self._descriptor], [], [], max(timeout_s, 0.0))[0]:
            self._let_go()
        return self._descriptor < 0

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = _let_go
