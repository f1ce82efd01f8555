"""The worker's side of a grant: asks the host for devices, shows itself these only, and proves what it has."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import threading
from typing import Any

from .events import Events
from .probe import answer


class NotGrantedError(Exception):
    """Why the worker must not run: the host is gone, or it was not the host that answered."""


class Devices:
    """The devices of one worker: first obtained, then, before the first case runs, proven."""

    def __init__(self, request: dict[str, Any], events: Events, channel: socket.socket) -> None:
        self._request = request
        self._events = events
        self._channel = channel
        self._received = b""
        self._count = 0
        self._opening: threading.Thread | None = None

    def obtain(self) -> None:
        """Returns once the host has granted devices; raises NotGrantedError when it is gone.

        Their contexts are created in the background: tests are collected meanwhile.
        """
        self._events.emit("need_devices", width=self._request["width"])
        grant = self._wait_for("granted")
        os.environ.update(grant["mask"])
        self._events.emit("granted", devices=grant["devices"])
        self._count = len(grant["devices"])
        if self._request["device"] == "cuda":
            self._opening = threading.Thread(target=_open_cuda, args=(self._count,), daemon=True)
            self._opening.start()

    def prove(self) -> None:
        """Runs a kernel on each device, and returns once the host has believed it; raises NotGrantedError."""
        self._events.emit("proving")  # from now on the host waits for a bounded time
        if self._opening is not None:
            self._opening.join()
        self._events.emit("proof", answer=answer(self._request["device"], self._count))
        self._wait_for("go")

    def _wait_for(self, kind: str) -> dict[str, Any]:
        while b"\n" not in self._received:
            data = self._channel.recv(1 << 16)
            if not data:
                raise NotGrantedError("the host is gone")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if message.get("n") != self._request["nonce"] or message.get("e") != kind:
            raise NotGrantedError("%s was expected, a stranger said something else" % kind)
        return message


def _open_cuda(count: int) -> None:
    """Creates the contexts that the library under test will use. What goes wrong here goes wrong in the proof again."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    driver.cuInit(0)
    for ordinal in range(count):
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if driver.cuDeviceGet(ctypes.byref(device), ordinal) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
