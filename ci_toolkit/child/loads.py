"""What was loaded, as it happened: each module with its file and the file's hash, told at once as an event."""

from __future__ import annotations

import hashlib
import os
from typing import Any, Callable, NamedTuple

from .pin import file_of

CANDIDATE = "candidate"
PIN = "pin"
UPSTREAM = "upstream"
PRIVATE = "private"


class Load(NamedTuple):
    """One execution of a module: ``name`` is the one that the upstream's tests know, ``provider`` its own."""

    name: str
    provider: str
    kind: str
    file: str | None
    sha256: str | None
    module: Any

    def row(self) -> dict[str, Any]:
        """The load as it is told."""
        return {field: getattr(self, field) for field in ("name", "provider", "kind", "file", "sha256")}


class Loads:
    """The modules in the order in which they were loaded; ``tell(row)`` hears of each."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell = tell
        self.all: list[Load] = []

    def add(self, name: str, provider: str, kind: str, module: Any, file: str | None = None) -> Load:
        """Notes that ``module`` is about to be executed, or was before anybody looked."""
        file = file or file_of(module)
        load = Load(name, provider, kind, file, digest(file), module)
        self.all.append(load)
        self._tell(load.row())
        return load

    def drop(self, load: Load) -> None:
        """Forgets a module whose execution failed: it provides nothing."""
        self.all.remove(load)

    def first_digest(self, file: str) -> str | None:
        """The hash that a file had when it was first loaded."""
        return next((load.sha256 for load in self.all if load.file == file), None)


def digest(file: str | None) -> str | None:
    """The SHA-256 of a file; None where there is none to read."""
    if file is None or not os.path.isfile(file):  # noqa: PTH113 - a built-in or frozen module has no file
        return None
    checksum = hashlib.sha256()
    with open(file, "rb") as stream:  # noqa: PTH123
        while True:
            chunk = stream.read(1 << 20)
            if not chunk:
                return checksum.hexdigest()
            checksum.update(chunk)
