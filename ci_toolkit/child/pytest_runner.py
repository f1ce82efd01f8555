"""Runs a unit's tests with the subject's own pytest."""

from __future__ import annotations

import sys
from typing import Any, Callable, Sequence

from .events import Events


def command(options: dict[str, Any]) -> list[str]:
    """pytest's arguments. Paths are absolute, so that no name can be read as an option or as a file of arguments.

    Output goes straight to the worker's logs, which are bounded: pytest's own capture grows with a flood on disk and
    then in memory, and loses what was printed before a crash. The suite's own arguments may ask for it all the same.
    """
    root = options["root"]
    arguments = ["--capture=no", *options.get("args", ())]
    for flag, expression in (("-m", options.get("marker")), ("-k", options.get("keyword"))):
        if expression:
            arguments += [flag, expression]
    arguments += ["--rootdir=" + root, "-p", "no:cacheprovider", "--maxfail=0"]
    return arguments + [root.rstrip("/") + "/" + name for name in options["files"]]


def run(request: dict[str, Any], events: Events, ready: Callable[[], None], plugins: Sequence[object] = ()) -> int:
    """Runs the request's unit, with more ``plugins`` where given, and returns pytest's exit status.

    ``options``: ``root`` (absolute), ``files`` (test files or node ids, relative to the root), and where wanted
    ``args``, ``marker``, ``keyword``, ``sys_path`` (put first), ``withheld`` (id -> reason) and ``only`` (ids).
    """
    options = request["options"]
    sys.path[:0] = options.get("sys_path", ())
    import pytest

    from .pytest_plugin import Recorder

    only = options.get("only")
    recorder = Recorder(
        events, options["root"], options.get("withheld", {}), None if only is None else set(only), ready
    )
    try:
        status = int(pytest.main(command(options), plugins=[recorder, *plugins]))
    except SystemExit as exit:
        # Only a plug-in or a conftest can end pytest like this; a status of 0 must not look like a finished session.
        events.emit("stopped", by="exit", reason="pytest was left by sys.exit(%r)" % (exit.code,))
        return int(pytest.ExitCode.INTERNAL_ERROR)
    events.emit("end", exitstatus=status, pytest=pytest.__version__)
    return status
