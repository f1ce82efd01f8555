"""What an exception says about a failure: its type, message, frames and excerpt, all of them bounded."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from types import TracebackType
from typing import Any

from .device_faults import is_device_fault, is_out_of_memory
from .text import bounded, case_id, plain_str

MESSAGE_BYTES = 8192
EXCERPT_BYTES = 4096
FRAMES = 40

_RUNNERS = ("_pytest", "pluggy", "pytest")
_LIBRARIES = ("site-packages", "dist-packages")
_OUT_OF_MEMORY = "OutOfMemoryError"
_LINKS = 10


class Places:
    """Names files as a report names them: relative to the suite's root, to the library folder, or absolute."""

    def __init__(self, root: str) -> None:
        self._roots = _spellings(root)
        self._stdlib = _spellings(sysconfig.get_paths()["stdlib"])
        self._ours = Path(__file__).resolve().parent
        self._folder = __file__.replace("\\", "/").rpartition("/")[0] + "/"
        self._known: dict[str, tuple[str, bool, bool]] = {}

    def place(self, file: str) -> tuple[str, bool, bool]:
        """(name, own, machinery) of a source file: ``own`` lies under the root, ``machinery`` belongs to the runner."""
        if file not in self._known:
            self._known[file] = self._look(file)
        return self._known[file]

    def is_ours(self, file: str) -> bool:
        """Whether a source file is of this folder."""
        return file.startswith(self._folder)

    def _look(self, file: str) -> tuple[str, bool, bool]:
        if file.startswith("<") or not file:
            return case_id(file), False, False
        spellings = _spellings(file)
        parts = spellings[0].parts
        library = max((at + 1 for at, name in enumerate(parts) if name in _LIBRARIES), default=0)
        machinery = self._ours in spellings[-1].parents or bool(library and parts[library] in _RUNNERS)
        name = _under(spellings, self._roots)
        standard = None if library else _under(spellings, self._stdlib)
        if name is not None:
            own = not machinery and standard is None and not set(name.parts).intersection(_LIBRARIES)
            return case_id(name.as_posix()), own, machinery
        if library:
            return case_id("/".join(parts[library:])), False, machinery
        return case_id((standard or spellings[0]).as_posix()), False, machinery


def _spellings(path: str) -> list[Path]:
    return [Path(path).absolute(), Path(path).resolve()]


def _under(spellings: list[Path], folders: list[Path]) -> Path | None:
    for path in spellings:
        for folder in folders:
            if folder in path.parents:
                return path.relative_to(folder)
    return None


def describe(
    value: BaseException, traceback: TracebackType | None, stage: str, places: Places, text: str = ""
) -> dict[str, Any]:
    """The failure of a raised ``value``; ``text`` is the runner's own account, from which the excerpt is cut."""
    return {
        "stage": stage,
        "cause": cause(value),
        "exception": type_name(type(value)),
        "message": bounded(_message(value), MESSAGE_BYTES),
        "frames": frames(traceback, places),
        "excerpt": bounded(text, EXCERPT_BYTES),
    }


def type_name(kind: type) -> str:
    """The qualified name of an exception's type, without a module for built-in ones."""
    name, module = plain_str(kind.__qualname__), plain_str(kind.__module__)
    return case_id(name if module == "builtins" else module + "." + name)


def frames(traceback: TracebackType | None, places: Places) -> list[dict[str, Any]]:
    """The frames of a traceback, outermost first, without ours, the runner's at the start and a surplus between."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append((code.co_filename, traceback.tb_lineno or 0, code.co_name))
        traceback = traceback.tb_next
    found = [frame for frame in found if not places.is_ours(frame[0])]
    first = next((at for at, frame in enumerate(found) if not places.place(frame[0])[2]), 0)
    found = found[first:]
    if len(found) > FRAMES:
        found = found[: FRAMES // 2] + found[-(FRAMES - FRAMES // 2) :]
    rows = []
    for file, line, function in found:
        name, own, _ = places.place(file)
        rows.append({"file": name, "line": line, "function": case_id(function), "own": own})
    return rows


def cause(value: BaseException) -> str:
    """Whose trouble an exception is, as far as its type and text tell.

    ``device`` means that the device's context is broken: no later case of this process can be trusted.
    """
    if any(is_device_fault(_device_text(link)) for link in _chain(value)):
        return "device"
    names = [kind.__name__ for kind in type(value).__mro__]
    if isinstance(value, MemoryError) or _OUT_OF_MEMORY in names:
        return "resource"
    if "Failed" in names and _of_runner(value):
        return "resource" if plain_str(value).startswith("Timeout ") else "assertion"
    if isinstance(value, AssertionError) or "DocTestFailure" in names or "MultipleDoctestFailures" in names:
        return "assertion"
    if is_out_of_memory(_device_text(value)):
        return "resource"
    if isinstance(value, NotImplementedError) or any("Unsupported" in name for name in names):
        return "unsupported"
    if isinstance(value, RuntimeError) and "not implemented for '" in plain_str(value):
        return "unsupported"
    return "exception"


def _chain(value: BaseException) -> list[BaseException]:
    """``value`` and what it was raised from or during: a fault of the device may be wrapped by who caught it."""
    found = [value]
    for _ in range(_LINKS):
        link = found[-1].__cause__ or found[-1].__context__
        if link is None or any(link is one for one in found):
            break
        found.append(link)
    return found


def _device_text(value: BaseException) -> str:
    """What can tell of a device; an assertion, or what the runner raises, only quotes."""
    return "" if _of_runner(value) or isinstance(value, AssertionError) else plain_str(value)


def _of_runner(value: BaseException) -> bool:
    """Whether pytest itself raises such; ``pytest.fail`` poses as a built-in exception, its bases do not."""
    return any(kind.__module__.startswith("_pytest.") for kind in type(value).__mro__)


def _message(value: BaseException) -> str:
    doctests = getattr(value, "failures", [value])
    if "Doctest" in type(value).__name__ or type(value).__name__ == "DocTestFailure":
        return "\n".join(_doctest_message(failure) for failure in doctests)
    return plain_str(value)


def _doctest_message(failure: Any) -> str:
    if not hasattr(failure, "got"):
        raised = getattr(failure, "exc_info", (None, failure))[1]
        return "%s: %s" % (type_name(type(raised)), plain_str(raised))
    return "Expected: %s\nGot: %s" % (failure.example.want.rstrip(), failure.got.rstrip())
