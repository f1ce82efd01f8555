"""What the culprits do. Nothing here returns control in an orderly way, except ``leave_an_orphan``."""

import ctypes
import os
import signal
import sys
import time

ORPHAN_SECONDS = 120
"""The orphan ends by itself after this long, should nobody end it."""


def segfault():
    """Reads address 0: SIGSEGV."""
    ctypes.string_at(0)


def hang_in_native_code():
    """Locks a mutex twice with the interpreter's lock held.

    No Python signal handler, timer or other thread of this process can run any more; unlike ``pause`` the call is not
    interrupted by a signal that has a handler.
    """
    process = ctypes.PyDLL(None)
    mutex = ctypes.create_string_buffer(256)
    process.pthread_mutex_init(mutex, None)
    process.pthread_mutex_lock(mutex)
    process.pthread_mutex_lock(mutex)


def exit_with_success():
    """Ends the process with status 0: no ``finally``, no ``atexit``, no report."""
    os._exit(0)


def leave_an_orphan():
    """Leaves a grandchild in a session of its own that ignores SIGTERM, SIGINT and SIGHUP and keeps every descriptor.

    Its process id is appended to the file that HOSTILE_PIDS names, where that is set. Returns once it runs.
    """
    ready, started = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            _be_the_orphan(started)
        os._exit(0)
    os.close(started)
    os.waitpid(child, 0)
    pid = os.read(ready, 32).decode()
    os.close(ready)
    if "HOSTILE_PIDS" in os.environ:
        with open(os.environ["HOSTILE_PIDS"], "a") as file:  # noqa: PTH123
            file.write(pid + "\n")


def _be_the_orphan(started):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.write(started, str(os.getpid()).encode())
    os.close(started)
    time.sleep(ORPHAN_SECONDS)
    os._exit(0)


def flood(stream, megabytes):
    """Writes that many MB (10**6 bytes) of numbered lines of 100 bytes to the descriptor of ``stream``."""
    descriptor = stream.fileno()
    stream.flush()
    for number in range(megabytes):
        block = b"".join(b"%09d.%06d %s\n" % (number, line, b"x" * 82) for line in range(10_000))
        view = memoryview(block)
        while view:
            view = view[os.write(descriptor, view) :]


def write_bytes(data):
    """Writes bytes to standard output, past Python's text layer."""
    sys.stdout.flush()
    os.write(1, data)
