"""A request to stop that comes from signals, and wakes whoever waits."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Set by the first SIGINT, SIGTERM or SIGHUP; later ones change nothing and never raise.

    ``reason`` is the signal's name, or what ``request`` was given; empty while nobody asked.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._reader = self._writer = -1

    def __bool__(self) -> bool:
        return bool(self.reason)

    def request(self, reason: str) -> None:
        """Asks to stop from within the program."""
        self.reason = self.reason or reason
        if self._writer >= 0:
            os.write(self._writer, b"\0")

    @contextmanager
    def install(self) -> Iterator["Stop"]:
        """Handles the signals while the block runs; call it in the main thread."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        previous = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        try:
            yield self
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)
            os.close(self._reader)
            os.close(self._writer)
            self._reader = self._writer = -1

    def fileno(self) -> int:
        """A descriptor that becomes readable when a signal came; -1 outside ``install``."""
        return self._reader

    def drain(self) -> None:
        """Empties the descriptor; ``reason`` stays."""
        try:
            while os.read(self._reader, 4096):
                pass
        except BlockingIOError:
            return

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.reason = self.reason or signal.Signals(number).name
