"""Proves that the native libraries that are loaded are the very files that were declared."""

from __future__ import annotations

import os
from typing import Iterable, Mapping, NamedTuple

from .loads import digest

MAPS = "/proc/self/maps"
_DELETED = " (deleted)"


class Mapped(NamedTuple):
    """A file that is mapped into this process, with the inode that it had when it was mapped."""

    path: str
    inode: int
    is_deleted: bool


def wrong_libraries(declared: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    """(file, message) for each declared library (``path``, ``sha256``) that is not the one and only that is loaded."""
    wanted = list(declared)
    if not wanted:
        return []
    try:
        mapped = _mapped()
    except OSError as error:
        text = "this system does not tell which libraries are loaded: %s" % error
        return [(library["path"], text) for library in wanted]
    return [(library["path"], text) for library in wanted for text in _faults(library, mapped)]


def _faults(library: Mapping[str, str], mapped: Iterable[Mapped]) -> list[str]:
    path, name = os.path.realpath(library["path"]), os.path.basename(library["path"])  # noqa: PTH119
    names = {name, os.path.basename(path)}  # noqa: PTH119
    same_name = [file for file in mapped if os.path.basename(file.path) in names]  # noqa: PTH119
    found = []
    own = [file for file in same_name if os.path.realpath(file.path) == path and not file.is_deleted]
    if not own:
        found.append("the library %s was not loaded" % library["path"])
    for file in same_name:
        if file not in own:
            replaced, another = "was replaced after it was loaded", "was loaded as well as, or instead of, " + path
            what = replaced if file.is_deleted else another
            found.append("the library %s %s" % (file.path, what))
    for file in own:
        # Overlaid file systems tell another device in the maps; the inode is what a replaced file changes.
        if file.inode != os.stat(path).st_ino:  # noqa: PTH116
            found.append("the library %s was replaced after it was loaded" % path)
    actual = digest(path)
    if own and actual != library["sha256"]:
        found.append("the library %s has the hash %s, and %s is declared" % (path, actual, library["sha256"]))
    return found


def _mapped() -> list[Mapped]:
    found: dict[Mapped, None] = {}
    with open(MAPS, encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
        for line in maps:
            parts = line.rstrip("\n").split(None, 5)
            if len(parts) == 6 and parts[5].startswith("/"):
                path, is_deleted = parts[5], parts[5].endswith(_DELETED)
                path = path[: -len(_DELETED)] if is_deleted else path
                found[Mapped(path, int(parts[4]), is_deleted)] = None
    return list(found)
