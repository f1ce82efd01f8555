"""What a worker tells: every event as a line of a file, the ones that a live view needs on the channel too."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from typing import Any

ON_CHANNEL = frozenset(
    ("hello", "need_devices", "granted", "proving", "proof", "not_granted", "start", "phase", "finish", "bye")
)
ONLY_IN_FILE = ("failure",)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class Events:
    """Writes one JSON object a line: ``n`` the nonce, ``e`` the kind, ``t`` seconds since the worker began.

    Each line is one write to an append-only descriptor that no child program inherits. A process that was forked from
    the worker writes nothing. When the host has gone, the channel is given up and the file goes on.
    """

    def __init__(self, path: str, nonce: str, channel: socket.socket | None) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._channel = channel
        self._nonce = nonce
        self._pid = os.getpid()
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def emit(self, kind: str, /, **fields: Any) -> None:
        """Writes the event ``kind``. Lone surrogates are escaped; NaN and infinity raise ValueError."""
        if os.getpid() != self._pid:
            return
        event = {"n": self._nonce, "e": kind, "t": round(time.monotonic() - self._began, 6)}
        event.update(fields)
        line = _encode(event)
        with self._lock:
            _write(self._file, line)
            if kind in ON_CHANNEL and self._channel is not None:
                if not event.keys().isdisjoint(ONLY_IN_FILE):
                    line = _encode({name: event[name] for name in event if name not in ONLY_IN_FILE})
                self._send(self._channel, line)

    def boot(self) -> float | None:
        """When the worker began, in seconds since the machine was started; None where the system can't tell."""
        if not hasattr(time, "CLOCK_BOOTTIME"):
            return None
        return round(time.clock_gettime(time.CLOCK_BOOTTIME) - (time.monotonic() - self._began), 6)

    def close(self) -> None:
        """Closes file and channel; nothing is emitted any more."""
        os.close(self._file)
        if self._channel is not None:
            self._channel.close()

    def _send(self, channel: socket.socket, line: bytes) -> None:
        try:
            channel.sendall(line, _NO_SIGNAL)
        except OSError:
            self._channel = None


def _encode(event: dict[str, Any]) -> bytes:
    text = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATE.sub(_as_text, text).encode("utf-8")


def _as_text(match: re.Match[str]) -> str:
    return "\\\\u%04x" % ord(match.group())


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
