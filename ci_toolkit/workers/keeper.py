"""The host's end of a keeper: starts the process, sends orders, and holds the two sockets."""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from ci_toolkit.model.request import Request
from ci_toolkit.workers.lines import Lines

BOOTSTRAP = Path(__file__).parents[1] / "child" / "bootstrap.py"
COMMAND = (sys.executable, "-I", "-S", str(BOOTSTRAP), "keeper")
SWEEP_S = 2.0
"""How long the processes of a worker without a keeper may take to go."""


class KeeperProcess:
    """A keeper that was started for ``request``; raises OSError where that is impossible.

    ``control`` carries the keeper's reports, ``channel`` the worker's own messages.
    """

    def __init__(self, request: Request, folder: Path) -> None:
        self.folder = folder
        ours, keepers = socket.socketpair()
        channel, workers = socket.socketpair()
        self.control, self.channel = Lines(ours), Lines(channel)
        try:
            with keepers, workers:
                self._process = subprocess.Popen(
                    [*COMMAND, str(keepers.fileno()), str(workers.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(keepers.fileno(), workers.fileno()),
                    start_new_session=True,
                )
                specification = self._specification(request, workers.fileno())
            with suppress(ConnectionError):
                ours.sendall(specification)
        except BaseException:
            self.close()
            raise
        ours.setblocking(False)
        channel.setblocking(False)

    def _specification(self, request: Request, channel: int) -> bytes:
        folder = self.folder.absolute()
        program = (request.interpreter, *request.flags, str(BOOTSTRAP), "worker")
        specification = {
            "argv": [*program, str(folder / "request.json"), str(channel)],
            "env": request.env,
            "cwd": request.cwd,
            "stdout": str(folder / "stdout.log"),
            "stderr": str(folder / "stderr.log"),
            "output_bytes": request.limits.output_bytes,
            "memory_bytes": request.limits.memory_bytes,
            "temporary": request.temporary,
        }
        return json.dumps(specification).encode() + b"\n"

    def order_stop(self, grace_s: float, stacks: bool) -> None:
        """Asks the whole tree to end, and kills what is left after ``grace_s``; first writes the stacks if wanted."""
        with suppress(OSError):
            self.control.connection.sendall(json.dumps({"grace_s": grace_s, "stacks": stacks}).encode() + b"\n")

    def kill(self) -> None:
        """Ends a keeper that does not answer; its worker dies with it."""
        self._process.kill()
        self._process.wait()

    def sweep(self, worker: int) -> None:
        """Ends the processes of a worker's session, when no keeper does it any more, and waits until they are gone."""
        killed = []
        for process in psutil.process_iter():
            with suppress(OSError, psutil.Error):
                if worker and os.getsid(process.pid) == worker:
                    process.kill()
                    killed.append(process)
        psutil.wait_procs(killed, timeout=SWEEP_S)

    def status(self, timeout_s: float) -> int | None:
        """The keeper's own exit status, None while it is still busy."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """Lets go of the keeper: one that still runs ends its worker."""
        self.control.connection.close()
        self.channel.connection.close()
