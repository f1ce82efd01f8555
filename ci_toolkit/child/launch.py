"""Starts a program in a session of its own, and says in words why it could not be started."""

from __future__ import annotations

import os
import resource
import signal

from .tree import die_with_parent


def launch(
    argv: list[str],
    env: dict[str, str],
    cwd: str,
    outputs: tuple[int, int],
    keep: int,
    memory_bytes: int | None,
) -> tuple[int, str]:
    """Starts ``argv`` with exactly ``env``; returns (pid, "") or (0, message).

    It has an empty standard input, ``outputs`` and the descriptor ``keep``; ``memory_bytes`` bounds its address space.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _become(argv, env, cwd, outputs, keep, memory_bytes, parent, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        message = told.read().decode("utf-8", "replace")
    if message:
        os.waitpid(pid, 0)
        return 0, message
    return pid, ""


def _become(
    argv: list[str],
    env: dict[str, str],
    cwd: str,
    outputs: tuple[int, int],
    keep: int,
    memory_bytes: int | None,
    parent: int,
    writer: int,
) -> None:
    """In the child, up to ``exec``; the pipe closes on success, or carries the message."""
    doing = ""
    try:
        os.setsid()
        die_with_parent(parent)
        doing = "the working directory %s can not be entered" % cwd
        os.chdir(cwd)
        doing = "the worker's files can not be prepared"
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(outputs[0], 1)
        os.dup2(outputs[1], 2)
        os.set_inheritable(keep, True)
        doing = "its limits can not be set"
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if memory_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            if signal.getsignal(number) is not signal.SIG_DFL:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        doing = "the interpreter %s can not be started" % argv[0]
        os.execvpe(argv[0], argv, env)
    except BaseException as error:  # noqa: BLE001 - a forked child must not return into the keeper
        reason = getattr(error, "strerror", None) or str(error)
        os.write(writer, ("%s: %s" % (doing, reason)).encode("utf-8", "backslashreplace"))
    finally:
        os._exit(127)
