"""Who imports: the upstream's test code, the candidate, the upstream itself, or somebody else.

An import statement says it by the globals that it hands to ``__import__``. Those who import on another's behalf
(``importlib``, ``pkgutil``, ``unittest.mock``, ``pytest.importorskip`` and kin) are looked through to their callers.

Not told apart: an import by a compiled function at the time of its call (C code that does not go through
``__import__`` has neither globals nor a frame to show). It sees the view that is shown by default. While a compiled
module of the candidate is loaded its imports are known to be the candidate's.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Mapping

from .names import Names, within
from .pin import Pin

PIN = "pin"
CANDIDATE = "candidate"
UPSTREAM = "upstream"
MACHINERY = "machinery"
"""pytest and this folder: what they import for themselves is no use that a test makes of the candidate."""
OTHER = "other"
_PROXY = "proxy"
_PROXIES = ("importlib", "pkgutil", "unittest.mock", "_pytest.outcomes", "_pytest.monkeypatch", "runpy")
_BETWEEN = ("importlib", "pkgutil", "unittest", "_pytest", "pluggy", "contextlib", "functools", "runpy")
"""What may stand between a proxy and the code that called it."""
_OURS = __name__.rpartition(".")[0]
_MACHINERY = ("_pytest", "pluggy", _OURS)


class Importers:
    """Tells importers apart; ``in_test`` is set while a test runs."""

    def __init__(self, names: Names, pin: Pin) -> None:
        self._names = names
        self._pin = pin
        self._known: dict[tuple[object, object], str] = {}
        self.in_test = False

    def kind(self, scope: Mapping[str, Any] | None, frame: FrameType) -> str:
        """The kind of an importer by its globals; ``frame`` is the caller's, for globals that do not say."""
        kind = "" if scope is None else self._of(scope)
        if kind in ("", _PROXY):
            return self._behind(frame, kind == _PROXY)
        return kind

    def _of(self, scope: Mapping[str, Any]) -> str:
        """The kind that globals tell of; empty where they have no name, as those of ``exec`` may."""
        key = name, file = scope.get("__name__"), scope.get("__file__")
        if not isinstance(name, str) or not (file is None or isinstance(file, str)):
            return ""
        found = self._known.get(key)
        if found is None:
            spec = scope.get("__spec__")
            found = self._known[key] = self._decide(getattr(spec, "name", None) or name, file)
        return found

    def _decide(self, name: str, file: object) -> str:
        if self._pin.has(file):
            return PIN
        if self._names.is_candidate(name):
            return CANDIDATE
        if self._names.is_upstream(name):
            return UPSTREAM
        if any(within(name, proxy) for proxy in _PROXIES):
            return _PROXY
        return MACHINERY if any(within(name, package) for package in _MACHINERY) else OTHER

    def _behind(self, frame: FrameType | None, by_proxy: bool) -> str:
        """The kind of the first caller that imports for itself."""
        while frame is not None:
            scope = frame.f_globals
            name = scope.get("__name__")
            if isinstance(name, str) and within(name, _OURS) and name.endswith("_runner"):
                # pytest called the proxy, as it does for a test that is decorated with mock.patch.
                return PIN if by_proxy and self.in_test else OTHER
            kind = self._of(scope)
            if kind == _PROXY:
                by_proxy = True
            elif kind not in ("", OTHER, MACHINERY) or not _is_between(name):
                return kind or OTHER
            frame = frame.f_back
        return OTHER


def _is_between(name: object) -> bool:
    if not isinstance(name, str):
        return True
    return within(name, _OURS) or any(within(name, package) for package in _BETWEEN)


def package_of(scope: Mapping[str, Any] | None) -> str:
    """The package that relative imports in these globals start from; empty where the globals do not say."""
    if scope is None:
        return ""
    package = scope.get("__package__")
    if isinstance(package, str):
        return package
    name = scope.get("__name__")
    if not isinstance(name, str):
        return ""
    return name if "__path__" in scope else name.rpartition(".")[0]


def caller(depth: int) -> FrameType:
    """The frame ``depth`` callers above the one that asks."""
    return sys._getframe(depth + 1)
