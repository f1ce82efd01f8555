"""Fork servers as the host sees them: one for each set of workers that a fork can not tell apart."""

import array
import json
import shutil
import socket
import subprocess
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ci_toolkit.model.request import Request
from ci_toolkit.workers.environment import temporary_folder
from ci_toolkit.workers.keeper import BOOTSTRAP, SWEEP_S, Forked, Keeper, encoded
from ci_toolkit.workers.mark import marked

READY_S = 120.0
"""How long a server may take to import what conf names."""
FORK_S = 10.0
MOST = 4
"""So many servers at a time: each holds the memory of what it imported."""
GROWTH = 1.5
"""A server whose memory has grown by this factor is replaced: it must not do anything but fork."""
RESTARTS = 2
"""How often a server that was lost is started again, before its workers are started afresh."""
PER_WORKER = ("TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME")
"""Variables that are set anew in each fork, and read by no library when it is loaded."""
NO_BACKENDS = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
"""A server opens no device; its forks load torch's other backends."""
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1"}
"""For libraries that keep the threads which they start when they are loaded; forks get their numbers back."""


class ForkError(Exception):
    """Why a worker can not be forked."""


@dataclass(frozen=True)
class Key:
    """What can not be changed after a fork: workers that differ in it need servers of their own."""

    interpreter: str
    flags: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    preload: tuple[str, ...]
    runner: str
    args: tuple[str, ...]
    subject: tuple[str, ...]


def key_of(request: Request) -> Key:
    """The key of a request. The variables that show devices are no part of it: a server opens none."""
    own = {*PER_WORKER, *request.masked}
    args, subject = (request.options.get(name, ()) for name in ("args", "subject"))
    assert isinstance(args, list | tuple)
    assert isinstance(subject, list | tuple)
    return Key(
        interpreter=request.interpreter,
        flags=request.flags,
        env=tuple(sorted((name, value) for name, value in request.env.items() if name not in own)),
        preload=request.preload,
        runner=request.runner,
        args=tuple(args),
        subject=tuple(subject),
    )


class Servers:
    """The servers of one run, started when they are first needed; the longest unused one makes room for a new one."""

    def __init__(self) -> None:
        self._servers: OrderedDict[Key, _Server] = OrderedDict()
        self._lost: dict[Key, int] = {}

    def fork(self, request: Request, spec: Mapping[str, object]) -> Keeper:
        """A keeper, forked from the server of ``request``. Raises ForkError where that is impossible."""
        key = key_of(request)
        while self._lost.get(key, 0) <= RESTARTS:
            server = self._server(key)
            try:
                return server.fork(spec)
            except _LostError:
                self._drop(key)
                self._lost[key] = self._lost.get(key, 0) + 1
        raise ForkError(f"the fork server was lost {self._lost[key]} times")

    def _server(self, key: Key) -> "_Server":
        found = self._servers.get(key)
        if found is not None and found.grown:
            self._drop(key)
            found = None
        if found is None:
            while len(self._servers) >= MOST:
                self._drop(next(iter(self._servers)))
            found = _Server(key)
            if found.threads > 1:
                found.close()
                found = _Server(key, quiet=True)
            self._servers[key] = found
        self._servers.move_to_end(key)
        return found

    def _drop(self, key: Key) -> None:
        self._servers.pop(key).close()

    def close(self) -> None:
        """Ends all servers; workers that still run go on."""
        for key in list(self._servers):
            self._drop(key)


class _LostError(Exception):
    """The server does not answer any more."""


class _Server:
    """One server process. ``fault`` says why it must not fork; it is asked again before each fork."""

    def __init__(self, key: Key, quiet: bool = False) -> None:
        self.threads = 0
        self._temporary = temporary_folder()
        ours, theirs = socket.socketpair()
        self._control = ours
        self._first_rss = self._rss = 0
        self._broken = ""
        self._process: subprocess.Popen[bytes] | None = None
        env = {**dict(key.env), **NO_BACKENDS, **(QUIET if quiet else {}), **marked()}
        env.update(dict.fromkeys(PER_WORKER, self._temporary))
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [key.interpreter, *key.flags, str(BOOTSTRAP), "server", str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    env=env,
                    cwd=self._temporary,
                    start_new_session=True,
                )
        except OSError as error:
            self._broken = f"its interpreter can not be started: {error.strerror}"
            return
        wish = {
            "temporary": self._temporary,
            "preload": key.preload,
            "runner": key.runner,
            "args": key.args,
            "subject": key.subject,
            "quiet": quiet,
        }
        try:
            self._send(wish)
            answer = self._answer(READY_S)
        except _LostError as error:
            self._broken = f"it did not get ready: {error}"
            return
        if "broken" in answer:
            self._broken = f"it can not be prepared: {answer['broken']}"
        else:
            self.threads = answer["ready"]["threads"]
            self._broken = answer["ready"]["fault"]
            self._first_rss = self._rss = answer["ready"]["rss_bytes"]

    @property
    def grown(self) -> bool:
        return self._rss > self._first_rss * GROWTH

    def fork(self, spec: Mapping[str, object]) -> Keeper:
        """Raises ForkError when the server refuses, _LostError when it does not answer."""
        if self._broken:
            raise ForkError(self._broken)
        control, keepers = socket.socketpair()
        channel, workers = socket.socketpair()
        try:
            with keepers, workers:
                self._send(spec, keepers.fileno(), workers.fileno())
            answer = self._answer(FORK_S)
            if "refused" in answer:
                raise ForkError(answer["refused"])
        except BaseException:
            control.close()
            channel.close()
            raise
        self._rss = answer["rss_bytes"]
        return Keeper(control, channel, Forked(answer["forked"]))

    def _send(self, message: Mapping[str, object], *descriptors: int) -> None:
        data = encoded(message)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            sent = self._control.sendmsg([data], ancillary)
            self._control.sendall(data[sent:])
        except OSError as error:
            raise _LostError(f"it is gone ({error.strerror})") from error

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        self._control.settimeout(timeout_s)
        line = b""
        try:
            while not line.endswith(b"\n"):
                data = self._control.recv(1 << 16)
                if not data:
                    raise _LostError("it ended")
                line += data
        except TimeoutError as error:
            raise _LostError(f"it did not answer within {timeout_s:g} s") from error
        except ConnectionError as error:
            raise _LostError("it ended") from error
        finally:
            self._control.settimeout(None)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self._control.close()
        if self._process is not None:
            try:
                self._process.wait(SWEEP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self._temporary, ignore_errors=True)
