"""A loader around a loader: tells what is executed, and shows native code its importer's view. Leaves no trace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .loads import CANDIDATE, PIN
from .views import REAL

if TYPE_CHECKING:
    from .alias import Finder


class Watched:
    """Stands for ``loader`` until the module is executed; ``kind`` is whose module it is."""

    def __init__(self, finder: Finder, loader: Any, name: str, kind: str) -> None:
        self._finder = finder
        self._loader = loader
        self._name = name
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        """The loader's own module; a compiled module may import what it needs already now."""
        __tracebackhide__ = True
        create = getattr(self._loader, "create_module", None)
        return None if create is None else self._seeing(create, spec)

    def exec_module(self, module: Any) -> None:
        """Executes the module as its own loader does, which it has from now on."""
        __tracebackhide__ = True
        spec = module.__spec__
        spec.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        finder, name, is_candidate = self._finder, self._name, self._kind == CANDIDATE
        alias = finder.alias_of(name) if is_candidate else ""
        load = finder.loads.add(alias or name, name, self._kind, module, spec.origin if spec.has_location else None)
        if is_candidate:
            finder.share(name, module)
        try:
            self._seeing(self._loader.exec_module, module)
        except BaseException:
            finder.loads.drop(load)
            if is_candidate:
                finder.share(name, None)
            raise
        if is_candidate:
            finder.share(name, sys.modules.get(name, module))
        elif self._kind == PIN:
            finder.bind(name, module)

    def _seeing(self, function: Any, argument: Any) -> Any:
        """Calls with the real upstream in ``sys.modules``: imports of native code can't be told by their importer."""
        __tracebackhide__ = True
        views = self._finder.views
        if self._kind == PIN or views.shown == REAL:
            return function(argument)
        with views.lock:
            before = views.shown
            views.show(REAL)
            try:
                return function(argument)
            finally:
                views.show(before)
