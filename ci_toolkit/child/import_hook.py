"""Stands before ``__import__`` and its kin: each import of the upstream's names gets the view that its importer has."""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import sys
from typing import Any, Callable, Mapping

from .importers import CANDIDATE, OTHER, PIN, UPSTREAM, Importers, caller, package_of
from .names import Names
from .views import ALIAS, REAL, Views


class UpstreamNeededError(KeyboardInterrupt):
    """The candidate imports the upstream and may not. No ``except ImportError`` of the candidate can hide it."""


class ImportHook:
    """``alias`` is ``all`` or ``tests``; with ``private`` the candidate has the upstream to itself.

    ``refuse(name)`` raises UpstreamNeededError.
    """

    def __init__(
        self,
        names: Names,
        views: Views,
        importers: Importers,
        alias: str,
        private: bool,
        refuse: Callable[[str], None],
    ) -> None:
        self._names = names
        self._views = views
        self._importers = importers
        self._alias = alias
        self._private = private
        self._refuse = refuse
        self.touched = ""
        """The first name of the upstream that a test, or what a test uses, imported from the candidate."""

    def install(self) -> None:
        """Takes the places of ``__import__`` and of the functions that import what they are told by name."""
        builtins.__import__ = self._statement(builtins.__import__)
        importlib.import_module = self._by_name(importlib.import_module, touches=True)
        importlib.util.find_spec = self._by_name(importlib.util.find_spec, touches=False)
        for module in filter(None, map(sys.modules.get, ("pytest", "_pytest.outcomes"))):
            # It looks into sys.modules after its import.
            module.importorskip = self._by_name(module.importorskip, touches=True)  # type: ignore[attr-defined]

    def _statement(self, original: Callable[..., Any]) -> Callable[..., Any]:
        upstream, is_upstream, imported = self._names.upstream, self._names.is_upstream, self._imported

        def __import__(  # noqa: N807
            name: str,
            globals: Mapping[str, Any] | None = None,
            locals: Mapping[str, Any] | None = None,
            fromlist: Any = (),
            level: int = 0,
        ) -> Any:
            __tracebackhide__ = True
            if level == 0:
                if not isinstance(name, str) or not name.startswith(upstream) or not is_upstream(name):
                    return original(name, globals, locals, fromlist, level)
                absolute = name
            else:
                package = package_of(globals)
                if not is_upstream(package):
                    return original(name, globals, locals, fromlist, level)
                absolute = _absolute(name, package, level)
            frame = caller(1)
            kind = self._importers.kind(frame.f_globals if globals is None else globals, frame)
            view = self._view(kind, absolute)
            found = None
            if view != self._views.shown:
                found = self._at_once(view, absolute, fromlist, level)
            if found is None:
                found = self._within(view, original, name, globals, locals, fromlist, level)
            imported(kind, view, absolute if fromlist else upstream)
            return found

        return __import__

    def _by_name(self, original: Callable[..., Any], touches: bool) -> Callable[..., Any]:
        """``original`` within the view of its caller; its first argument is a name, a second may be a package."""

        @functools.wraps(original)
        def by_name(*arguments: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            given = [*arguments, *(named[key] for key in ("name", "modname", "package") if key in named), None]
            absolute, package = given[:2]
            if isinstance(absolute, str) and absolute.startswith(".") and isinstance(package, str):
                absolute = importlib.util.resolve_name(absolute, package)
            if not isinstance(absolute, str) or not self._names.is_upstream(absolute):
                return original(*arguments, **named)
            frame = caller(1)
            kind = self._importers.kind(frame.f_globals, frame)
            view = self._view(kind, absolute)
            found = self._within(view, original, *arguments, **named)
            if touches:
                self._imported(kind, view, absolute)
            return found

        return by_name

    def _view(self, kind: str, name: str) -> str:
        """Which view an importer of this kind has."""
        if self._alias == "tests":
            return ALIAS if kind == PIN else REAL
        if kind == CANDIDATE and not self._private:
            self._refuse(name)
        return REAL if self._private and kind in (CANDIDATE, UPSTREAM) else ALIAS

    def _within(self, view: str, original: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        with self._views.lock:
            before = self._views.shown
            self._views.show(view)
            try:
                return original(*arguments, **named)
            finally:
                self._views.show(before)

    def _at_once(self, view: str, absolute: str, fromlist: Any, level: int) -> Any:
        """What the import yields when all of it is loaded; None where the import system must look."""
        module = self._views.find(view, absolute)
        if module is None or getattr(getattr(module, "__spec__", None), "_initializing", False):
            return None
        if not fromlist:
            return None if level else self._views.find(view, absolute.partition(".")[0])
        if any(not isinstance(name, str) or name == "*" or not hasattr(module, name) for name in fromlist):
            return None
        return module

    def _imported(self, kind: str, view: str, name: str) -> None:
        if view == ALIAS and not self.touched and kind in (PIN, OTHER) and self._views.is_alias(name):
            self.touched = name


def _absolute(name: str, package: str, level: int) -> str:
    parts = package.rsplit(".", level - 1)
    return parts[0] + "." + name if name else parts[0]
