"""The worker's side of a grant: asks the host for devices, shows itself these only, and proves what it has."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from .events import Events
from .probe import answer


class NotGrantedError(Exception):
    """Why the worker must not run: the host is gone, or it was not the host that answered."""


def obtain(request: dict[str, Any], events: Events, channel: socket.socket) -> None:
    """Returns once the host has granted the devices that ``request`` asks for, and has believed the proof of them.

    Raises NotGrantedError when the host is gone.
    """
    words = _Words(request["nonce"], channel)
    events.emit("need_devices", width=request["width"])
    grant = words.wait_for("granted")
    os.environ.update(grant["mask"])
    events.emit("granted", devices=grant["devices"])
    events.emit("proof", answer=answer(request["device"], len(grant["devices"])))
    words.wait_for("go")


class _Words:
    """What the host says, a line at a time."""

    def __init__(self, nonce: str, channel: socket.socket) -> None:
        self._nonce = nonce
        self._channel = channel
        self._received = b""

    def wait_for(self, kind: str) -> dict[str, Any]:
        while b"\n" not in self._received:
            data = self._channel.recv(1 << 16)
            if not data:
                raise NotGrantedError("the host is gone")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if message.get("n") != self._nonce or message.get("e") != kind:
            raise NotGrantedError("%s was expected, a stranger said something else" % kind)
        return message
