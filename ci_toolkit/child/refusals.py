"""Why a conformance run can't be trusted before it has begun: whoever has a name already can't be given another."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any, Iterable, Mapping

from .names import Names
from .pin import Pin, file_of


def reason(engine: str, alias: str, names: Names, pin: Pin, candidate: Mapping[str, Any]) -> str:
    """The reason not to run, in one line; empty when there is none. Nothing is imported for it."""
    if "." in names.upstream:
        return "the upstream %r is no top-level name" % names.upstream
    if engine == "control":
        return _early(names) if names.candidate else ""
    if names.is_upstream(names.package):
        return "the candidate %r lies in the upstream's own package" % names.candidate
    folder = candidate.get("folder", "")
    if folder and not os.path.isdir(folder):  # noqa: PTH112
        return "the candidate's folder %s is missing" % folder
    loaded = sorted(name for name in list(sys.modules) if names.is_upstream(name))
    if alias == "all" and loaded:
        text = (
            "%s is loaded already, by the interpreter, pytest or a preload: nobody can stand in for it in this process"
        )
        return text % ", ".join(loaded[:3])
    tests = sorted(name for name, module in list(sys.modules.items()) if pin.has_module(module))
    if tests:
        return "the upstream's test code is loaded already (%s), and has imported the upstream" % ", ".join(tests[:3])
    return _early(names)


def is_standard(names: Names) -> bool:
    """Whether the candidate comes with the interpreter; such a one may be loaded by anybody, at any time."""
    known: Iterable[str] | None = getattr(sys, "stdlib_module_names", None)
    if known is not None:
        return names.package in known
    module = sys.modules.get(names.package)
    file = file_of(module)
    if module is None:
        return False
    if file is None:
        return names.package in sys.builtin_module_names
    stdlib = os.path.realpath(sysconfig.get_paths()["stdlib"]) + os.sep
    return os.path.realpath(file).startswith(stdlib) and "-packages" not in os.path.realpath(file)[len(stdlib) :]


def _early(names: Names) -> str:
    early = sorted(name for name in list(sys.modules) if names.is_candidate(name))
    if early and not is_standard(names):
        return "the candidate is loaded already (%s), by a preload or a plug-in" % ", ".join(early[:3])
    return ""
