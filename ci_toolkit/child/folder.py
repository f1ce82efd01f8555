"""Removes a folder that a test left behind, whatever permissions it set."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable


def remove(path: str) -> str:
    """Removes ``path`` and all below it without following links; returns the first reason why something stays."""
    reasons: list[str] = []
    folders = [path]
    for folder in folders:
        try:
            os.chmod(folder, stat.S_IRWXU)  # noqa: PTH101 - pathlib would double a keeper's start
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        _attempt(os.unlink, entry.path, reasons)
        except OSError as error:
            _note(error, folder, reasons)
    for folder in reversed(folders):
        _attempt(os.rmdir, folder, reasons)
    return reasons[0] if reasons else ""


def _attempt(action: Callable[[str], None], path: str, reasons: list[str]) -> None:
    try:
        action(path)
    except OSError as error:
        _note(error, path, reasons)


def _note(error: OSError, path: str, reasons: list[str]) -> None:
    if not isinstance(error, FileNotFoundError):
        reasons.append("%s: %s" % (path, error.strerror))
