"""Makes a fork server ready for pytest: one session without tests, with the suite's plug-ins."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from typing import Any, Callable, Iterable, Sequence

import pytest

ENTRY_POINTS = "pytest11"
AUTOLOAD_OFF = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


def warm(args: Sequence[str], is_clean: Callable[[], bool]) -> None:
    """Runs one empty session with the plug-ins that are installed and those that ``args`` name.

    Some plug-ins start threads or servers when they are configured, which no fork may inherit: what a session leaves
    is tried in a fork first. One plug-in that leaves something is not configured here, only imported; when several do,
    none is. Each worker's own session configures them all.
    """
    blocked = {name[3:] for name in _named(args) if name.startswith("no:")}
    installed = (
        [] if os.environ.get(AUTOLOAD_OFF) else [point for point in _entry_points() if point.name not in blocked]
    )
    named = [part for name in _named(args) for part in ("-p", name)]
    candidates: list[list[Any]] = [[], *([point] for point in installed)]
    for left_out in candidates:
        arguments = [*named, *(part for point in left_out for part in ("-p", "no:" + point.name))]
        modules = [point.value.partition(":")[0] for point in left_out]
        if _leaves_nothing(lambda: _session(arguments, modules), is_clean):  # noqa: B023 - called at once
            _session(arguments, modules)
            return
    os.environ[AUTOLOAD_OFF] = "1"
    try:
        _session(named, [point.value.partition(":")[0] for point in installed])
    finally:
        del os.environ[AUTOLOAD_OFF]


def _leaves_nothing(session: Callable[[], None], is_clean: Callable[[], bool]) -> bool:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            session()
            status = 0 if is_clean() else 1
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def _session(arguments: Sequence[str], modules: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as empty:
        quiet = ["-q", "--capture=no", "--rootdir=" + empty, "-c", os.devnull, "-p", "no:cacheprovider"]
        pytest.main([*quiet, *arguments, empty], plugins=[_Importer(modules)])


class _Importer:
    """Imports while the session's own hook for assertions is in place, as pytest itself would."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = modules

    def pytest_configure(self, config: pytest.Config) -> None:
        pytest.register_assert_rewrite(*(name.partition(".")[0] for name in self._modules))
        for name in self._modules:
            importlib.import_module(name)


def _named(args: Sequence[str]) -> list[str]:
    """What ``-p`` names in pytest's arguments."""
    found = [part[2:] for part in args if part.startswith("-p") and part != "-p"]
    return found + [part for at, part in enumerate(args) if at and args[at - 1] == "-p"]


def _entry_points() -> Iterable[Any]:
    from importlib.metadata import entry_points

    if sys.version_info >= (3, 10):
        return entry_points(group=ENTRY_POINTS)
    return entry_points().get(ENTRY_POINTS, ())
