"""Runs a short program to its end, within a time and an amount of output, and leaves none of its group behind."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import IO

OUTPUT_BYTES = 16 << 20
"""A program that prints more is ended."""
KEPT_BYTES = 1 << 20
"""So much of the end of each stream is returned."""
POLL_S = 0.01
KILL_S = 5.0
"""How long a killed process may take to go; one that is stuck in a driver does not go at all."""


class Cut(StrEnum):
    """Why a program was ended from outside."""

    TIMEOUT = "timeout"
    OUTPUT = "output"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Done:
    """How a program ended: ``exit_code`` from 0, or minus the signal; None when it could not even be killed."""

    exit_code: int | None
    stdout: str
    stderr: str
    cut: Cut | None = None

    @property
    def signal_name(self) -> str:
        """``SIGSEGV``, or the number for a signal without a name; empty when no signal ended it."""
        if self.exit_code is None or self.exit_code >= 0:
            return ""
        try:
            return signal.Signals(-self.exit_code).name
        except ValueError:
            return f"signal {-self.exit_code}"

    def last_line(self) -> str:
        """The last line of what it wrote to its standard error, at most 300 characters."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""


def run_command(
    argv: Sequence[str],
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    stop: Callable[[], object] = bool,
) -> Done:
    """Runs ``argv`` in a session of its own and kills its whole group at its end, or when ``stop()`` turns true.

    Nobody waits on a pipe: both streams are files. Raises OSError when the program can not be started.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=None if env is None else dict(env),
            start_new_session=True,
        )
        try:
            cut = _watch(process, (stdout, stderr), time.monotonic() + timeout_s, stop)
        finally:
            # Before the leader is reaped: until then its number can not name a group of somebody else.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(KILL_S)
        return Done(process.returncode, _tail(stdout), _tail(stderr), cut)


def _watch(
    process: subprocess.Popen[bytes], streams: Sequence[IO[bytes]], deadline: float, stop: Callable[[], object]
) -> Cut | None:
    while not has_ended(process):
        if time.monotonic() > deadline:
            return Cut.TIMEOUT
        if any(os.fstat(stream.fileno()).st_size > OUTPUT_BYTES for stream in streams):
            return Cut.OUTPUT
        if stop():
            return Cut.STOPPED
        time.sleep(POLL_S)
    return None


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended; it stays unreaped, so that its number still names its group."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _tail(stream: IO[bytes]) -> str:
    size = os.fstat(stream.fileno()).st_size
    stream.seek(max(size - KEPT_BYTES, 0))
    return stream.read(KEPT_BYTES).decode("utf-8", "backslashreplace")
