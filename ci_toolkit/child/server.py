"""The fork server: imports once what the workers of a lane need, and forks a keeper for each of them.

Requests are JSON lines on a socket, each with the descriptors of the keeper's control socket and the worker's channel;
the host's end closing ends the server. Keepers and workers go on without it.
"""

from __future__ import annotations

import array
import gc
import importlib
import json
import os
import signal
import socket
import sys
import time
import weakref

from .folder import remove
from .forked import close_others, descriptors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

DEVICE_FILES = ("/dev/nvidia", "/dev/kfd", "/dev/dri/", "/dev/davinci", "/dev/accel", "/dev/mtgpu", "/dev/hisi")
"""What drivers of accelerators are opened by; such a descriptor must not be shared by forks."""


def main(arguments: list[str]) -> int:
    """``CONTROL``: the descriptor of the socket to the host. Its first line says what to prepare."""
    control = socket.socket(fileno=int(arguments[0]))
    os.set_inheritable(control.fileno(), False)
    received, _ = _receive(control)
    wish = json.loads(received)
    began = time.monotonic()
    try:
        _prepare(wish)
    except BaseException as error:  # noqa: BLE001 - a preload may raise anything, and the host must know
        _tell(control, broken="%s: %s" % (type(error).__name__, error))
        return 1
    _shed_threads()
    backends = _has_backends()
    kept = descriptors() - {0, 1, 2, control.fileno()}
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    ready = {"seconds": time.monotonic() - began, "fault": _fault(wish), "threads": _threads(), "rss_bytes": _rss()}
    _tell(control, ready=ready)
    while True:
        line, given = _receive(control)
        if not line:
            remove(wish["temporary"])
            return 0
        fault = _fault(wish)
        if fault:
            _close(given)
            _tell(control, refused=fault)
            continue
        pid = os.fork()
        if pid == 0:
            _keep({**json.loads(line), "backends": backends, "quiet": wish["quiet"]}, given, kept)
        _close(given)
        _tell(control, forked=pid, rss_bytes=_rss())


def _prepare(wish: dict[str, Any]) -> None:
    """Imports what conf names, runs one empty session of the runner, and freezes the heap."""
    for name in wish["preload"]:
        importlib.import_module(name)
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random")  # it is loaded late, and each fork must seed it
    from . import keeper, worker  # noqa: F401 - so that no fork has to import them

    importlib.import_module("." + wish["runner"] + "_runner", __package__)
    if wish["runner"] in ("pytest", "conformance"):
        from . import pytest_plugin  # noqa: F401
        from .pytest_warm import warm

        warm(wish["args"], lambda: not _fault(wish))
    for finalizer in list(getattr(weakref.finalize, "_registry", ())):
        finalizer.atexit = False  # what is to be cleared up at the end is this process's, not each fork's
    gc.collect()
    gc.freeze()


def _fault(wish: dict[str, Any]) -> str:
    """What makes a fork of this process unlike a fresh interpreter; empty when nothing does."""
    threads = _threads()
    if threads != 1:
        return "the server has %d threads, and a fork would have one" % threads
    for descriptor in descriptors():
        try:
            target = os.readlink("/proc/self/fd/%d" % descriptor)  # noqa: PTH115
        except OSError:
            continue
        if target.startswith(DEVICE_FILES):
            return "the server has opened the device %s" % target
    cuda = sys.modules.get("torch.cuda")
    if cuda is not None and cuda.is_initialized():
        return "the server has initialised CUDA"
    allowed = {name.partition(".")[0] for name in wish["preload"]}
    early = [name for name in wish["subject"] if name in sys.modules and name not in allowed]
    if early:
        return "the server has imported the subject (%s), which 'preload' does not name" % ", ".join(early)
    return ""


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208


def _shed_threads() -> None:
    """Lets OpenBLAS, which starts its threads when it is loaded, end them: it does before each fork.

    A fork starts its own when it first needs them. Threads that it was given at once would spin on every processor.
    """
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _has_backends() -> bool:
    """Whether any package registers a device with torch, which each fork must then load; to look takes long."""
    if "torch" not in sys.modules:
        return False
    from importlib.metadata import entry_points

    if sys.version_info >= (3, 10):
        return bool(entry_points(group="torch.backends"))
    return "torch.backends" in entry_points()


def _keep(spec: dict[str, Any], given: list[int], kept: Iterable[int]) -> None:
    """In the fork that becomes a keeper: takes its descriptors, lets go of the server's, and never returns."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        close_others({0, 1, 2, *given, *kept})
        from .keeper import keep

        status = keep(socket.socket(fileno=given[0]), given[1], spec, b"", kept)
    finally:
        os._exit(status)


def _rss() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """One line and the descriptors that came with it; nothing when the host is gone."""
    line = b""
    given: list[int] = []
    room = socket.CMSG_SPACE(4 * array.array("i").itemsize)
    while not line.endswith(b"\n"):
        try:
            data, ancillary, _, _ = control.recvmsg(1 << 16, room)
        except ConnectionError:
            data, ancillary = b"", []
        if not data:
            _close(given)
            return b"", []
        line += data
        for level, kind, raw in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                found = array.array("i")
                found.frombytes(raw[: len(raw) - len(raw) % found.itemsize])
                given += found
    return line, given


def _close(given: Iterable[int]) -> None:
    for descriptor in given:
        os.close(descriptor)


def _tell(control: socket.socket, **message: Any) -> None:
    try:
        control.sendall(json.dumps(message).encode() + b"\n")
    except ConnectionError:
        return
