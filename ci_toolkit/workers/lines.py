"""JSON lines that arrive in pieces on a socket, from a peer that may send anything."""

import json
import socket
from typing import Any

LINE_BYTES = 1 << 20
"""A longer line is not a message of ours; it is dropped and counted, and memory stays bounded."""
DRAIN_READS = 64


class Lines:
    """Messages of one non-blocking socket. ``closed`` is set at its end, ``garbled`` counts what was no message."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.closed = False
        self.garbled = 0
        self._rest = b""
        self._skipping = False

    def receive(self) -> list[dict[str, Any]]:
        """What can be read without waiting, at most 1 MiB at a time: more than a socket holds."""
        data = self._read()
        return [] if data is None else self._split(data)

    def drain(self) -> list[dict[str, Any]]:
        """All that a peer which has ended had sent; one that goes on for ever is left alone at some time."""
        messages: list[dict[str, Any]] = []
        for _ in range(DRAIN_READS):
            data = None if self.closed else self._read()
            if data is None:
                break
            messages += self._split(data)
        return messages

    def _read(self) -> bytes | None:
        try:
            data = self.connection.recv(LINE_BYTES)
        except BlockingIOError:
            return None
        except ConnectionError:
            data = b""
        self.closed = not data
        return data

    def _split(self, data: bytes) -> list[dict[str, Any]]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._skipping and lines:
            lines, self._skipping = lines[1:], False
        if self._skipping or len(self._rest) > LINE_BYTES:
            self.garbled += not self._skipping
            self._rest, self._skipping = b"", True
        return [message for message in map(self._message, lines) if message is not None]

    def _message(self, line: bytes) -> dict[str, Any] | None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            return message
        self.garbled += 1
        return None
