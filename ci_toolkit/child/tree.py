"""The keeper's hold on a tree of processes: who is in it, and the end of all of it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
COMMAND_CHARACTERS = 300
LINUX = sys.platform == "linux"


def adopt_orphans() -> bool:
    """Makes orphaned descendants this process's children; says whether the system can."""
    return LINUX and ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def die_with_parent(parent: int) -> None:
    """In a new child: it is killed when the thread that forked it ends. Exits when that happened already."""
    if LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def descendants() -> list[int]:
    """Process ids of all descendants, parents first, zombies too; empty where the system can't tell."""
    if not LINUX:
        return []
    found = _children(os.getpid())
    if found is None:
        return _by_scan()
    for pid in found:
        found.extend(_children(pid) or ())
    return found


def _children(pid: int) -> list[int] | None:
    """The children of a process as the kernel lists them, None where it has no such list or the process is gone."""
    try:
        found: list[int] = []
        with os.scandir("/proc/%d/task" % pid) as threads:
            for thread in threads:
                found.extend(map(int, _read(thread.path + "/children").split()))
    except (FileNotFoundError, ProcessLookupError):
        return None
    return found


def _by_scan() -> list[int]:
    """``descendants`` from the parents of all processes, for kernels without lists of children."""
    families: dict[int, list[int]] = {}
    with os.scandir("/proc") as entries:
        processes = [int(entry.name) for entry in entries if entry.name.isdigit()]
    for pid in processes:
        fields = _stat(pid)
        if fields:
            families.setdefault(int(fields[1]), []).append(pid)
    found = list(families.get(os.getpid(), ()))
    for pid in found:
        found.extend(families.get(pid, ()))
    return found


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        data = b""
        while True:
            more = os.read(descriptor, 1 << 16)
            if not more:
                return data
            data += more
    finally:
        os.close(descriptor)


def _stat(pid: int) -> list[bytes]:
    """State, parent and what follows of a process; empty when it is gone."""
    try:
        return _read("/proc/%d/stat" % pid).rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def signal_all(leader: int, number: int) -> list[int]:
    """Sends a signal to every descendant; where the system can't list them, to the process group of ``leader``.

    Returns the ids of the processes that were still running.
    """
    if not LINUX:
        _attempt(os.killpg, leader, number)
        return []
    running = [pid for pid in descendants() if _stat(pid)[:1] not in ([], [b"Z"], [b"X"])]
    for pid in running:
        _attempt(os.kill, pid, number)
    return running


def left_over(most: int) -> list[dict[str, Any]]:
    """The descendants that still run, at most so many: ``pid``, ``command``, ``session`` and ``started``.

    The last counts seconds since the machine was started.
    """
    found: list[dict[str, Any]] = []
    ticks = os.sysconf("SC_CLK_TCK")
    for pid in descendants():
        fields = _stat(pid)
        if fields and fields[0] not in (b"Z", b"X") and len(found) < most:
            started = int(fields[19]) / ticks
            found.append({"pid": pid, "command": _command(pid), "session": int(fields[3]), "started": started})
    return found


def _command(pid: int) -> str:
    try:
        words = _read("/proc/%d/cmdline" % pid).rstrip(b"\0").replace(b"\0", b" ")
        if os.fsencode(os.path.dirname(__file__)) in words:  # noqa: PTH120 - pathlib would double a keeper's start
            return "a fork of the worker"
        return words.decode("utf-8", "backslashreplace")[:COMMAND_CHARACTERS] or _read("/proc/%d/comm" % pid).decode()
    except (OSError, UnicodeDecodeError):
        return ""


def _attempt(kill: Callable[[int, int], None], pid: int, number: int) -> None:
    """Sends a signal, if the target is still there and may be signalled (a set-user-id program may not)."""
    try:
        kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def end_all(reap: Callable[[], int | None], leader: int, seconds: float) -> tuple[set[int], bool]:
    """Kills all descendants until none is left, for at most ``seconds``.

    ``reap()`` collects one ended child: its pid, 0 when none has ended, None when there is no child. Returns the
    processes that were killed, and whether all are gone: a process that is stuck in a driver can't be killed.
    """
    deadline = time.monotonic() + seconds
    killed: set[int] = set()
    while True:
        killed.update(signal_all(leader, signal.SIGKILL))
        ended = reap()
        while ended:
            ended = reap()
        if ended is None:
            return killed, True
        if time.monotonic() > deadline:
            return killed, False
        time.sleep(0.002)
