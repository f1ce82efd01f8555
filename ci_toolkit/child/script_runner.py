"""Runs a Python file as a program: one case, for which the subject needs no test runner."""

from __future__ import annotations

import runpy
import sys
import time
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from .events import Events


def run(request: dict[str, Any], events: Events, ready: Callable[[], None]) -> int:
    """Runs ``options["file"]`` with ``options["args"]`` and returns 0, or the status that it exits with.

    An exception ends the worker, as it would end the program.
    """
    ready()
    options = request["options"]
    case, arguments = options["id"], [options["file"]] + list(options.get("args", ()))
    events.emit("cases", rows=[{"id": case}])
    events.emit("collected", count=1, withheld=0, duplicates=[])
    events.emit("start", id=case)
    began = time.monotonic()
    sys.argv[:] = arguments
    code = 0
    try:
        runpy.run_path(options["file"], run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            sys.stderr.write(error.code + "\n")
    outcome, seconds = "failed" if code else "passed", round(time.monotonic() - began, 6)
    events.emit("phase", id=case, when="call", outcome=outcome, seconds=seconds)
    events.emit("finish", id=case)
    events.emit("end", exitstatus=code)
    return code
