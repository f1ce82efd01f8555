"""Who answered for the upstream's names, proven by files and hashes, and what of it can't be trusted.

A module that belongs to neither side is told as a fault and not among the ``modules``.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Iterable, NamedTuple

from .alias import Finder
from .libraries import wrong_libraries
from .loads import CANDIDATE, PIN, UPSTREAM, Load, digest
from .names import Names
from .pin import Pin, file_of, folders_of
from .views import ALIAS, REAL

FOREIGN = "foreign_provider"
DUPLICATE = "duplicate_provider"
NOT_IMPORTED = "candidate_not_imported"
IN_CONTROL = "candidate_in_control"
GAP = "gap_filled"
WRONG_LIBRARY = "wrong_library"
CHANGED = "changed_during_run"
VERSIONS = ("pytest", "numpy", "torch", "hypothesis")


class Fault(NamedTuple):
    """Why the run can't be trusted: its kind, one line, and the module and file that it is about."""

    kind: str
    message: str
    module: str = ""
    file: str = ""


class Providers:
    """Looks at what a session has left. ``real`` is the kind of the upstream's own modules here."""

    def __init__(self, names: Names, pin: Pin, finder: Finder, engine: str, real: str) -> None:
        self._names = names
        self._pin = pin
        self._finder = finder
        self._views = finder.views
        self._loads = finder.loads
        self._is_control = engine == "control"
        self._real = real
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        self._faults: list[Fault] = []

    def look(self, touched: str, libraries: Iterable[dict[str, str]]) -> tuple[list[dict[str, Any]], list[Fault]]:
        """All modules of both sides, and the faults.

        ``touched`` is what the tests imported of the candidate, or why they could not.
        """
        with self._views.lock:
            if not self._is_control:
                self._see_alias()
            self._see_real()
            self._see_pin()
            self._see_candidate()
            self._see_unloaded()
            self._see_duplicates()
        if self._is_control:
            self._see_contamination()
        elif not touched:
            text = "no test imported %r from the candidate %r" % (self._names.upstream, self._names.candidate)
            self._fault(NOT_IMPORTED, text)
        if not self._is_control:
            for file, text in wrong_libraries(libraries):
                self._fault(WRONG_LIBRARY, text, file=file)
        self._see_changes()
        return [self._rows[key] for key in sorted(self._rows)], self._faults

    # One side after the other --------------------------------------------------------------------------------------

    def _see_alias(self) -> None:
        for name, module in sorted(self._views.table(ALIAS).items()):
            target = self._names.target(name)
            own, file = sys.modules.get(target), file_of(module)
            if module is None:
                continue
            if self._is_upstreams(module):
                self._row(name, name, UPSTREAM, module)
                self._fault(GAP, "the upstream's own file answers for %s" % name, name, file)
            elif module is own:
                self._row(name, target, CANDIDATE, module)
            elif own is not None:
                self._fault(DUPLICATE, "%s is another module object than %s" % (name, target), name, file)
            else:
                self._fault(FOREIGN, "%s is neither the candidate's nor the upstream's test code" % name, name, file)

    def _see_real(self) -> None:
        for name, module in sorted(self._views.table(REAL).items()):
            if module is None:
                continue
            self._row(name, name, self._real, module)
            file = file_of(module)
            if file is not None and not self._is_upstreams(module):
                self._fault(FOREIGN, "%s is not a file of the upstream" % name, name, file)

    def _see_pin(self) -> None:
        for name, module in sorted(sys.modules.items()):
            if self._names.is_upstream(name) and self._pin.has_module(module):
                self._row(name, name, PIN, module)

    def _see_candidate(self) -> None:
        told = {row["provider"] for row in self._rows.values()}
        for name, module in sorted(sys.modules.items()):
            if self._names.is_candidate(name) and name not in told and module is not None:
                self._row(name, name, CANDIDATE, module)

    def _see_unloaded(self) -> None:
        """Modules that were executed and that nothing leads to any more."""
        told = {(row["provider"], row["file"]) for row in self._rows.values()}
        for load in self._loads.all:
            if (load.provider, load.file) not in told:
                self._rows.setdefault((load.name, load.provider), load.row())

    def _see_duplicates(self) -> None:
        objects: dict[str, dict[int, str]] = {}
        for load in self._loads.all:
            if load.kind != PIN and load.file is not None:
                objects.setdefault(os.path.realpath(load.file), {}).setdefault(id(load.module), load.provider)
        for row in self._rows.values():
            if row["kind"] != PIN and row["file"] is not None:
                objects.setdefault(os.path.realpath(row["file"]), {})
        known = {os.path.basename(file) for file in objects}  # noqa: PTH119
        tables = [sys.modules, self._views.table(REAL), self._views.table(ALIAS)]
        for name, module in [item for table in tables for item in list(table.items())]:
            file = file_of(module)
            if file is not None and os.path.basename(file) in known and not self._poses(name, module):  # noqa: PTH119
                found = objects.get(os.path.realpath(file))
                if found is not None:
                    found.setdefault(id(module), name)
        for file, names in sorted(objects.items()):
            if len(names) > 1:
                listed = sorted(names.values())
                text = "one file is %d modules: %s" % (len(listed), ", ".join(listed))
                self._fault(DUPLICATE, text, listed[0], file)

    def _poses(self, name: str, module: Any) -> bool:
        """Whether a module only says that it is of a file: nothing was executed for it.

        So do objects that a module puts in its own place, and copies that a loader fills from another module.
        """
        spec = getattr(module, "__spec__", None)
        if spec is not None and getattr(spec, "origin", None) != getattr(module, "__file__", None):
            return True
        is_replaced = any(load.provider == name and load.module is not module for load in self._loads.all)
        return is_replaced and not isinstance(module, type(sys))

    def _see_contamination(self) -> None:
        if not self._names.candidate:
            return
        found = {load.provider: load.file for load in self._loads.all if load.kind == CANDIDATE}
        found.update(
            (name, file_of(module)) for name, module in list(sys.modules.items()) if self._names.is_candidate(name)
        )
        for name, file in sorted(found.items())[:1]:
            text = "the control imported the candidate (%d of its modules, %s first by name)" % (len(found), name)
            self._fault(IN_CONTROL, text, name, file)

    def _see_changes(self) -> None:
        told: set[str] = set()
        for row in list(self._rows.values()):
            file = row["file"]
            if file is not None and row["sha256"] is not None and file not in told and digest(file) != row["sha256"]:
                told.add(file)
                self._fault(CHANGED, "%s is not the file that was loaded any more" % row["provider"], row["name"], file)

    # Details -------------------------------------------------------------------------------------------------------

    def _row(self, name: str, provider: str, kind: str, module: Any) -> None:
        file = file_of(module)
        load = Load(name, provider, kind, file, None, None)
        sha256 = None if file is None else self._loads.first_digest(file) or digest(file)
        self._rows[name, provider] = load._replace(sha256=sha256).row()

    def _fault(self, kind: str, message: str, module: str = "", file: str | None = None) -> None:
        self._faults.append(Fault(kind, message, module, file or ""))

    def _is_upstreams(self, module: Any) -> bool:
        """Whether a module's file, or its folder when it has none, lies where the upstream's own package does."""
        if self._pin.has_module(module):
            return False
        file = file_of(module)
        own = {os.path.realpath(place) for place in self._finder.places()}
        single = self._finder.single_file()
        if file is not None and single is not None:
            return os.path.realpath(file) == os.path.realpath(single)
        found = [file] if file is not None else folders_of(module)
        return any(os.path.realpath(str(place)).startswith(tuple(path + os.sep for path in own)) for place in found)


def versions(names: Names) -> dict[str, str | None]:
    """The versions of what tests depend on: of the loaded module where it is itself, else of what is installed."""
    return {name: _version(name, names) for name in VERSIONS}


def _version(name: str, names: Names) -> str | None:
    module = None if names.is_upstream(name) else sys.modules.get(name)
    loaded = getattr(module, "__version__", None)
    if isinstance(loaded, str):
        return str(loaded)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
