"""The finder that answers for the upstream's names, first of all finders.

With the engine ``candidate`` a name of the upstream is the candidate's very module object; test code of the upstream
comes from the pin; whoever has the view ``REAL`` gets the upstream itself. A name that the candidate does not have is
an error: None would let another finder fill the gap. With the engine ``control`` the finder only watches.

The candidate is imported in ``create_module``, never in ``find_spec``: when the import of a candidate with cycles puts
the alias into ``sys.modules`` meanwhile, the import system would take the candidate's own spec from there and execute
the module again.

What holds of an aliased module: ``__name__``, ``__spec__`` and ``__loader__`` are the candidate's, so reload, relative
imports and ``importlib.resources`` work as in the candidate. Its classes are pickled by the candidate's names, which
stay importable; a class that claims the upstream's name is found under it as well. A class of a private copy of the
upstream can not be pickled by name: its name leads to the candidate. A test that removes ``sys.modules["up.x"]`` and
imports it again gets the same object, as long as ``sys.modules["candidate.x"]`` is there.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import CodeType
from typing import Any, Callable

from .loads import CANDIDATE, PIN, UPSTREAM, Loads
from .names import Names
from .pin import Pin
from .views import ALIAS, Views
from .watched import Watched

MISSING = object()
_KEPT = ("__spec__", "__loader__", "__package__")
"""What the import system may set on the module that ``create_module`` returns."""


class Finder:
    """``folder`` is where the candidate's top-level package lies, or empty for the installed one.

    ``refuse(name)`` is called when native code of a candidate that may not have the upstream imports it. A control has
    no ``aliases``.
    """

    def __init__(
        self,
        names: Names,
        pin: Pin,
        views: Views,
        loads: Loads,
        folder: str = "",
        real: str = UPSTREAM,
        refuse: Callable[[str], None] | None = None,
        aliases: bool = True,
    ) -> None:
        self.names = names
        self.views = views
        self.loads = loads
        self._pin = pin
        self._folder = folder
        self._real = real
        self._refuse = refuse
        self._aliases = aliases
        self._places: list[str] | None = None
        self._single: str | None = None

    def put_first(self) -> None:
        """Makes this the first finder; pytest's own, which rewrites assertions, is put before it by each session."""
        if sys.meta_path[0] is not self:
            sys.meta_path[:] = [self, *(finder for finder in sys.meta_path if finder is not self)]

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The spec of a module of the upstream or the candidate; None for all others."""
        __tracebackhide__ = True
        if self.names.is_upstream(fullname):
            spec = self._pinned(fullname)
            if spec is not None:
                return self._watch(spec, fullname, PIN)
            if self.views.shown == ALIAS:
                return self._alias(fullname, path)
            if self._refuse is not None:
                self._refuse(fullname)
            return self._watch(self._others(fullname, path, target), fullname, self._real)
        if self.names.is_candidate(fullname):
            return self._watch(self._candidate(fullname, path, target), fullname, CANDIDATE)
        return None

    def places(self) -> list[str]:
        """The folders of the upstream's own package; empty where it is a single file or is not installed."""
        if self._places is None:
            spec = self._others(self.names.upstream, None)
            folders = None if spec is None else spec.submodule_search_locations
            self._places = [os.path.abspath(place) for place in folders or ()]  # noqa: PTH100
            if spec is not None and folders is None and spec.has_location:
                self._single = os.path.abspath(spec.origin)  # noqa: PTH100
        return self._places

    def single_file(self) -> str | None:
        """The upstream's own file where it is no package; None for packages and where it is not installed."""
        self.places()
        return self._single

    # Where specs come from -----------------------------------------------------------------------------------------

    def _others(self, fullname: str, path: Any, target: Any = None) -> Any:
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(fullname, path, target)
            if spec is not None:
                return spec
        return None

    def _candidate(self, fullname: str, path: Any, target: Any = None) -> Any:
        if not self._folder or fullname != self.names.package:
            return self._others(fullname, path, target)
        init = os.path.join(self._folder, "__init__.py")  # noqa: PTH118
        if os.path.isfile(init):  # noqa: PTH113
            return importlib.util.spec_from_file_location(fullname, init, submodule_search_locations=[self._folder])
        spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [self._folder]
        return spec

    def _upstream_places(self, fullname: str) -> list[str] | None:
        """The path on which the upstream itself would look for a module; None for its top."""
        parent = fullname.rpartition(".")[0]
        if not parent:
            return None
        below = parent.split(".")[1:]
        return [os.path.join(place, *below) for place in self.places()]  # noqa: PTH118

    def _pinned(self, fullname: str) -> Any:
        """The spec of a module that is the upstream's test code, None for every other."""
        path = self._upstream_places(fullname)
        if not path:
            return None
        spec = self._others(fullname, path)
        if spec is None or not (self._pin.has_spec(spec) or self._lies_around(spec, fullname)):
            return None
        if spec.loader is None or not spec.has_location:
            # The import system's own path of a namespace would follow its parent, which is the candidate's.
            places = list(spec.submodule_search_locations)
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = places
        return spec

    def _lies_around(self, spec: Any, fullname: str) -> bool:
        """Whether a package is test code because its test files were listed one by one, and nobody else has it."""
        if not self._pin.is_around(spec) or self._has_candidate(self.names.target(fullname)):
            return False
        if spec.has_location:
            self._pin.take(spec.origin)
        return True

    # The alias -----------------------------------------------------------------------------------------------------

    def _alias(self, fullname: str, path: Any) -> Any:
        __tracebackhide__ = True
        target = self.names.target(fullname)
        if not self._has_candidate(target):
            raise self.missing(fullname)
        spec = importlib.machinery.ModuleSpec(fullname, _AliasLoader(self))  # type: ignore[arg-type]
        spec.origin = self._claimed(fullname, path) or getattr(sys.modules.get(target), "__file__", None)
        return spec

    def _has_candidate(self, target: str) -> bool:
        """Whether the candidate has a module, as far as can be told without importing anything."""
        if not self.names.candidate:
            return False
        if target in sys.modules:
            return sys.modules[target] is not None
        parent = target.rpartition(".")[0]
        if not parent:
            return self._candidate(target, None) is not None
        if parent not in sys.modules:
            return True
        path = getattr(sys.modules[parent], "__path__", None)
        return path is not None and self._candidate(target, path) is not None

    def _claimed(self, fullname: str, path: Any) -> str | None:
        """The upstream's file, for whoever looks for just that file by its folder; None for a usual import.

        pytest does, for the packages around a test file, and would load it itself if it were not found.
        """
        if path is None or not any(self._is_upstream_place(str(place)) for place in path):
            return None
        spec = self._others(fullname, self._upstream_places(fullname))
        return None if spec is None or not spec.has_location else str(spec.origin)

    def _is_upstream_place(self, place: str) -> bool:
        place = os.path.abspath(place)  # noqa: PTH100
        return any(
            place == own or place.startswith(own + os.sep) or place == os.path.dirname(own)  # noqa: PTH120
            for own in self.places()
        )

    def missing(self, fullname: str) -> ModuleNotFoundError:
        """The error of a name that the candidate does not have; it names both."""
        target = self.names.target(fullname)
        text = "No module named %r: the candidate, which stands in for %r, has no %r"
        return ModuleNotFoundError(text % (fullname, self.names.upstream, target), name=fullname)

    # What is loaded ------------------------------------------------------------------------------------------------

    def _watch(self, spec: Any, fullname: str, kind: str) -> Any:
        if spec is not None and hasattr(spec.loader, "exec_module") and not isinstance(spec.loader, Watched):
            spec.loader = Watched(self, spec.loader, fullname, kind)
        return spec

    def alias_of(self, target: str) -> str:
        """The upstream's name for a module of the candidate; empty where it has none, as in a control."""
        return self.names.alias(target) if self._aliases else ""

    def share(self, target: str, module: Any) -> None:
        """Gives a module of the candidate its upstream's name, too; None takes the name away."""
        alias = self.alias_of(target)
        if alias and self._pinned(alias) is None:
            self.views.put(ALIAS, alias, module)
            for load in self.loads.all:
                if load.kind == PIN and load.name.rpartition(".")[0] == alias:
                    self.bind(load.name, load.module)

    def bind(self, name: str, module: Any) -> None:
        """Makes test code that lies in the upstream an attribute of the candidate's package, as an import would."""
        parent, _, child = name.rpartition(".")
        package = self.views.find(ALIAS, parent) if parent else None
        if package is not None and self.views.is_alias(parent):
            setattr(package, child, module)


class _AliasLoader:
    """Hands out the candidate's module, and leaves nothing of the import system's on it."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._before: dict[str, Any] = {}

    def create_module(self, spec: Any) -> Any:
        """The candidate's module, imported now unless it is loaded."""
        __tracebackhide__ = True
        target = self._finder.names.target(spec.name)
        try:
            module = importlib.import_module(target)
        except ModuleNotFoundError as error:
            if error.name is not None and (target + ".").startswith(error.name + "."):
                raise self._finder.missing(spec.name) from error
            raise
        self._before = {name: getattr(module, name, MISSING) for name in _KEPT}
        return module

    def exec_module(self, module: Any) -> None:
        """Restores what the import system has put on the module; it is executed already."""
        for name, value in self._before.items():
            if value is MISSING:
                if hasattr(module, name):
                    delattr(module, name)
            elif getattr(module, name, MISSING) is not value:
                setattr(module, name, value)

    def get_code(self, fullname: str) -> CodeType | None:
        """The candidate's code, for ``runpy``."""
        target = self._finder.names.target(fullname)
        spec = importlib.util.find_spec(target)
        code: CodeType | None = spec.loader.get_code(target)  # type: ignore[union-attr]
        return code
