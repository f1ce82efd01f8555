"""What a conformance run adds to a pytest session: the finder stays first, files are hashed, tests are reseeded."""

from __future__ import annotations

import importlib
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from .alias import Finder
from .events import Events
from .importers import Importers
from .loads import digest
from .names import Names


class ConformancePlugin:
    """``seed`` is None where no test is reseeded. ``tests`` maps each test file to its hash before it was imported."""

    def __init__(self, events: Events, names: Names, finder: Finder, importers: Importers, seed: int | None) -> None:
        self._events = events
        self._names = names
        self._finder = finder
        self._importers = importers
        self._seed = seed
        self._told = False
        self._seen: dict[str, str | None] = {}
        self.tests: dict[str, str | None] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        self._finder.put_first()
        if isinstance(collector, pytest.File):
            file = str(collector.path)
            if file not in self._seen and os.path.isfile(file):  # noqa: PTH113
                self._seen[file] = digest(file)
            if pytest.version_tuple[:1] < (8,):
                self._import_around(file)

    def _import_around(self, file: str) -> None:
        """Imports the packages around a test file: pytest 7 puts empty modules in their place otherwise."""
        for place in self._finder.places():
            if file.startswith(place + os.sep):
                name = ".".join([self._names.upstream, *Path(file).parent.relative_to(place).parts])
                try:
                    importlib.import_module(name)
                except Exception:  # noqa: BLE001 - the test file itself will meet and tell it
                    return

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:
        self._finder.put_first()
        self._importers.in_test = True

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        self._importers.in_test = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        file = str(item.path)
        if file not in self.tests:
            self.tests[file] = self._seen.get(file) or digest(file)
        if self._seed is not None:
            self._reseed(self._seed)

    def _reseed(self, seed: int) -> None:
        """Gives each test the same numbers, whatever ran before it; told once."""
        random.seed(seed)
        numpy, torch = self._loaded("numpy"), self._loaded("torch")
        if numpy is not None:
            # NumPy loads its generators late; a test that first asks for them would get others each time.
            importlib.import_module("numpy.random").seed(seed & 0xFFFFFFFF)
        if torch is not None:
            torch.manual_seed(seed & 0x7FFFFFFFFFFFFFFF)
        if not self._told:
            self._told = True
            self._events.emit("seeded", seed=seed, scope="test", generators=["random", "numpy", "torch"])

    def _loaded(self, name: str) -> Any:
        return None if self._names.is_upstream(name) else sys.modules.get(name)
