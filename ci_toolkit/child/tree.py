"""The keeper's hold on a tree of processes: who is in it, and the end of all of it."""

import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform == "linux"


def adopt_orphans():
    """Makes orphaned descendants this process's children; says whether the system can."""
    return LINUX and ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def die_with_parent(parent):
    """In a new child: it is killed when the thread that forked it ends. Exits when that happened already."""
    if LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def descendants():
    """Process ids of all descendants, parents first, zombies too; empty where the system can't tell."""
    if not LINUX:
        return []
    found = _children(os.getpid())
    if found is None:
        return _by_scan()
    for pid in found:
        found.extend(_children(pid) or ())
    return found


def _children(pid):
    """The children of a process as the kernel lists them, None where it has no such list or the process is gone."""
    try:
        threads = os.listdir("/proc/%d/task" % pid)
        found = []
        for thread in threads:
            with open("/proc/%d/task/%s/children" % (pid, thread)) as file:
                found.extend(map(int, file.read().split()))
    except (FileNotFoundError, ProcessLookupError):
        return None
    return found


def _by_scan():
    """``descendants`` from the parents of all processes, for kernels without lists of children."""
    families = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            families.setdefault(parent, []).append(int(name))
    found = list(families.get(os.getpid(), ()))
    for pid in found:
        found.extend(families.get(pid, ()))
    return found


def signal_all(leader, number):
    """Sends a signal to every descendant; where the system can't list them, to the process group of ``leader``.

    Returns the ids of the processes that were still running.
    """
    if not LINUX:
        _attempt(os.killpg, leader, number)
        return []
    running = [pid for pid in descendants() if _is_running(pid)]
    for pid in running:
        _attempt(os.kill, pid, number)
    return running


def _attempt(kill, pid, number):
    """Sends a signal, if the target is still there and may be signalled (a set-user-id program may not)."""
    try:
        kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _is_running(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def end_all(reap, leader, seconds):
    """Kills all descendants until none is left, for at most ``seconds``.

    ``reap()`` collects one ended child: its pid, 0 when none has ended, None when there is no child. Returns the process
    ids that were killed, and whether all are gone: a process that is stuck in a driver can't be killed.
    """
    deadline = time.monotonic() + seconds
    killed = set()
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
