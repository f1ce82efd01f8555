"""The upstream's test code: which files belong to it, whatever name they are imported by."""

from __future__ import annotations

import os
from typing import Any, Iterable


class Pin:
    """Knows the files that lie under ``tests``, a list of absolute files and folders."""

    def __init__(self, tests: Iterable[str]) -> None:
        listed = [os.path.abspath(path) for path in tests]  # noqa: PTH100
        self._listed = tuple({spelling for path in listed for spelling in (path, os.path.realpath(path))})
        self._around = {os.path.dirname(path) for path in self._listed if os.path.isfile(path)}  # noqa: PTH113, PTH120
        self._known: dict[str, bool] = {}

    def has(self, file: object) -> bool:
        """Whether ``file`` is the upstream's test code. What is no path is not."""
        if not isinstance(file, str):
            return False
        found = self._known.get(file)
        if found is None:
            path = os.path.abspath(file)  # noqa: PTH100
            found = any(
                spelling == entry or spelling.startswith(entry + os.sep)
                for entry in self._listed
                for spelling in (path, os.path.realpath(path))
            )
            self._known[file] = found
        return found

    def has_module(self, module: Any) -> bool:
        """Whether a module was loaded from the upstream's test code."""
        file = file_of(module)
        return self.has(file) if file else any(map(self.has, folders_of(module)))

    def has_spec(self, spec: Any) -> bool:
        """Whether the module that ``spec`` tells of is the upstream's test code, or a folder of it."""
        if spec.has_location:
            return self.has(spec.origin)
        return any(map(self.has, spec.submodule_search_locations or ()))

    def is_around(self, spec: Any) -> bool:
        """Whether ``spec`` is a package whose folder holds a test file that was listed by itself."""
        places = map(str, spec.submodule_search_locations or ())
        return any(not self._around.isdisjoint((place, os.path.realpath(place))) for place in places)

    def take(self, file: str) -> None:
        """Makes a file test code that was not listed."""
        self._known[file] = self._known[os.path.abspath(file)] = True  # noqa: PTH100


def file_of(module: Any) -> str | None:
    """The absolute file of a module; None for a built-in, a namespace, and what is no module at all."""
    try:
        file = module.__file__
    except Exception:  # noqa: BLE001 - objects that pose as modules may raise anything
        return None
    return os.path.abspath(file) if isinstance(file, str) else None  # noqa: PTH100


def folders_of(module: Any) -> list[Any]:
    """The folders of a package, also of a namespace; empty for what is none."""
    try:
        return list(module.__path__)
    except Exception:  # noqa: BLE001 - as above
        return []
