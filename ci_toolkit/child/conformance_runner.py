"""Runs an upstream's own tests with the subject's pytest: against a candidate, or, as the control, against itself."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable

from . import pytest_runner
from .alias import Finder
from .events import Events
from .import_hook import ImportHook, UpstreamNeededError
from .importers import Importers
from .loads import CANDIDATE, PRIVATE, UPSTREAM, Loads, digest
from .names import Names
from .pin import Pin
from .providers import CHANGED, Fault, Providers, versions
from .refusals import is_standard, reason
from .views import ALIAS, REAL, Views

REFUSED = 97
"""The status of a worker that did not run its tests, or not all of them, because the alias could not be trusted."""


class Session:
    """One unit: what stands in for what, and the evidence of it."""

    def __init__(self, options: dict[str, Any], events: Events) -> None:
        self._options = options
        self._events = events
        self._is_control = options["engine"] == "control"
        candidate = options.get("candidate") or {"name": ""}
        self._names = Names(options["upstream"]["name"], candidate["name"])
        if self._is_control and candidate["name"] and is_standard(self._names):
            self._names = self._names._replace(candidate="")
        self._candidate = candidate
        self._pin = Pin(options["upstream"]["tests"])
        aliased = not self._is_control and options["alias"] == "all"
        self._real = PRIVATE if aliased else UPSTREAM
        self._views = Views(self._names, self._pin, ALIAS if aliased else REAL)
        self._loads = Loads(lambda row: events.emit("provider", **row))
        may_not = aliased and not options.get("private_upstream", False)
        self._finder = Finder(
            self._names,
            self._pin,
            self._views,
            self._loads,
            folder="" if self._is_control else candidate.get("folder", ""),
            real=self._real,
            refuse=self._refuse_upstream if may_not else None,
            aliases=not self._is_control,
        )
        self._importers = Importers(self._names, self._pin)
        self._hook = ImportHook(
            self._names,
            self._views,
            self._importers,
            options["alias"],
            options.get("private_upstream", False),
            self._refuse_upstream,
        )
        self.refused = ""

    def refuse(self) -> bool:
        """Tells why the unit can't run here, if so."""
        options = self._options
        text = reason(options["engine"], options["alias"], self._names, self._pin, self._candidate)
        if text:
            self._refused(text)
        return bool(text)

    def install(self) -> None:
        """Gives the upstream's name to the candidate, from now on."""
        for name, module in sorted(sys.modules.items()):
            if self._names.is_candidate(name):
                # Only the interpreter's own modules come here: whoever loaded another was refused.
                self._loads.add(self._finder.alias_of(name) or name, name, CANDIDATE, module)
                self._finder.share(name, module)
        self._finder.put_first()
        if not self._is_control:
            self._hook.install()

    def plugin(self) -> Any:
        """The part that pytest calls."""
        from .conformance_plugin import ConformancePlugin

        seed = self._options.get("seed")
        self._plugin = ConformancePlugin(self._events, self._names, self._finder, self._importers, seed)
        return self._plugin

    def tell(self) -> None:
        """Writes the evidence: who answered, the versions, and the test files as they were and as they are."""
        looking = Providers(self._names, self._pin, self._finder, self._options["engine"], self._real)
        modules, faults = looking.look(self._hook.touched or self.refused, self._candidate.get("libraries", ()))
        start, end = self._plugin.tests, {file: digest(file) for file in self._plugin.tests}
        for file in sorted(start):
            if start[file] != end[file]:
                faults.append(Fault(CHANGED, "the test file %s is not the one that ran any more" % file, "", file))
        self._events.emit(
            "providers",
            engine=self._options["engine"],
            modules=modules,
            faults=[fault._asdict() for fault in faults],
            versions=versions(self._names),
            tests={file: value or "" for file, value in start.items()},
            tests_end={file: value or "" for file, value in end.items()},
        )

    def _refuse_upstream(self, name: str) -> None:
        text = "the candidate %s imports the upstream (%s), and conf does not give it a private copy"
        self._refused(text % (self._names.candidate, name))
        raise UpstreamNeededError(self.refused)

    def _refused(self, text: str) -> None:
        if not self.refused:
            self._events.emit("refused", reason=text)
        self.refused = self.refused or text


def run(request: dict[str, Any], events: Events, ready: Callable[[], None]) -> int:
    """Runs the request's unit and returns pytest's exit status, or ``REFUSED``.

    ``options`` are those of ``pytest_runner`` and: ``engine`` (``candidate`` or ``control``), ``upstream`` (``name``,
    ``tests``: absolute paths of its test code), ``candidate`` (``name``, ``folder``, ``libraries``), ``alias``
    (``all`` or ``tests``), ``private_upstream``, ``seed`` (absent: nothing is reseeded) and ``tests_folder`` (put
    first on ``sys.path``, or empty). Under a control no candidate may be loaded; it is not looked for when its name
    is empty, or when it comes with the interpreter.
    """
    options = dict(request["options"])
    if options.get("tests_folder"):
        options["sys_path"] = [options["tests_folder"], *options.get("sys_path", ())]
    _load_pytest()
    session = Session(options, events)
    if session.refuse():
        return REFUSED
    session.install()
    try:
        status = pytest_runner.run({**request, "options": options}, events, ready, [session.plugin()])
    finally:
        session.tell()
    return REFUSED if session.refused else status


def _load_pytest() -> None:
    """Loads all that pytest itself will need: an alias must not reach it."""
    from . import pytest_plugin  # noqa: F401

    for name in getattr(importlib.import_module("_pytest.config"), "default_plugins", ()):
        importlib.import_module("_pytest." + name)
