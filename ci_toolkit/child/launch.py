"""Starts a worker in a session of its own, by exec or by fork, and says in words why it could not be started."""

from __future__ import annotations

import os
import resource
import signal

from .tree import die_with_parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    Begin = Callable[[], None]


def launch(spec: dict[str, Any], outputs: tuple[int, int], keep: int, begin: Begin | None) -> tuple[int, str]:
    """Starts what ``spec`` describes and returns (pid, "") or (0, message).

    It has an empty standard input, ``outputs`` and the descriptor ``keep``. Without ``begin`` it becomes
    ``spec["argv"]`` with exactly ``spec["env"]``; otherwise it stays a fork of this process, calls ``begin``, and never
    returns.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _become(spec, outputs, keep, parent, writer, begin)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        message = told.read().decode("utf-8", "replace")
    if message:
        os.waitpid(pid, 0)
        return 0, message
    return pid, ""


def _become(
    spec: dict[str, Any], outputs: tuple[int, int], keep: int, parent: int, writer: int, begin: Begin | None
) -> None:
    """In the child, up to ``exec`` or the call; the pipe closes on success, or carries the message."""
    doing = ""
    try:
        os.setsid()
        die_with_parent(parent)
        doing = "the working directory %s can not be entered" % spec["cwd"]
        os.chdir(spec["cwd"])
        doing = "the worker's files can not be prepared"
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(outputs[0], 1)
        os.dup2(outputs[1], 2)
        doing = "its limits can not be set"
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if spec["memory_bytes"] is not None:
            resource.setrlimit(resource.RLIMIT_AS, (spec["memory_bytes"], spec["memory_bytes"]))
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            if signal.getsignal(number) is not signal.SIG_DFL:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if begin is None:
            os.set_inheritable(keep, True)
            doing = "the interpreter %s can not be started" % spec["argv"][0]
            os.execvpe(spec["argv"][0], spec["argv"], spec["env"])
        os.close(writer)
        writer = -1
        assert begin is not None
        begin()
    except BaseException as error:  # noqa: BLE001 - a forked child must not return into the keeper
        reason = getattr(error, "strerror", None) or str(error)
        os.write(2 if writer < 0 else writer, ("%s: %s" % (doing, reason)).encode("utf-8", "backslashreplace"))
    finally:
        os._exit(127)
