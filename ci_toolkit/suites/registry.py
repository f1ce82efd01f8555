"""Kinds of suites by their name in conf."""

import importlib
from typing import cast

from ci_toolkit.errors import UsageError
from ci_toolkit.suites.kind import Kind

MODULES = {
    "pytest": "ci_toolkit.suites.pytest.kind",
    "conformance": "ci_toolkit.suites.conformance.kind",
}
PLANNED = ("operators", "scenes", "benchmarks")


def kind_of(name: str) -> Kind:
    """The module of a kind; raises UsageError for one that is unknown, or not built yet."""
    if name in MODULES:
        return cast(Kind, importlib.import_module(MODULES[name]))
    known = ", ".join(MODULES)
    if name in PLANNED:
        raise UsageError(f"suites of kind {name!r} can not be run by this version", hint=f"it runs: {known}")
    raise UsageError(f"{name!r} is no kind of suite", hint=f"known: {known}")
