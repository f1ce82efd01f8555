"""The worker: runs one request with its runner, between ``hello`` and ``bye``."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import platform
import signal
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import AbstractSet as Set
from typing import Any, Iterable

from .events import Events
from .packages import installed

NOT_GRANTED = 96
"""The status of a worker that did not get its devices, or got others."""
STACKS_SIGNAL = signal.SIGUSR1
"""Makes a worker write the stacks of all its threads to its standard error, even from native code."""


def main(arguments: list[str], start_mode: str = "spawn") -> int:
    """``REQUEST CHANNEL``: the path of ``request.json``, the descriptor of the channel. Returns the exit status."""
    channel = socket.socket(fileno=int(arguments[1]))
    os.set_inheritable(channel.fileno(), False)
    stacks = os.dup(2)
    faulthandler.enable(stacks)
    if hasattr(faulthandler, "register"):
        faulthandler.register(STACKS_SIGNAL, stacks)
    path = Path(arguments[0])
    request = json.loads(path.read_bytes())
    events = Events(str(path.with_name("events.jsonl")), request["nonce"], channel)
    places = list(sys.path)
    loaded = set(sys.modules)
    events.emit(
        "hello",
        pid=os.getpid(),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        executable=sys.executable,
        prefix=sys.prefix,
        start_mode=start_mode,
        boot=events.boot(),
        packages=installed(places),
    )
    runner = importlib.import_module("." + request["runner"] + "_runner", __package__)
    code = _run(runner, request, events, channel)
    sys.stdout.flush()
    sys.stderr.flush()
    events.emit(
        "bye",
        code=code,
        leaked=_leaked(request["options"].get("subject", ()), loaded),
        packages=installed(places),
        peak_rss_bytes=_peak_rss(),
    )
    events.close()
    return code


def _run(runner: ModuleType, request: dict[str, Any], events: Events, channel: socket.socket) -> int:
    """Runs the unit, on devices when it needs some: what can be imported without them is imported before."""
    if not request.get("width"):
        return int(runner.run(request, events, _ready))
    from .devices import Devices, NotGrantedError

    for name in request["preload"]:
        importlib.import_module(name)
    devices = Devices(request, events, channel)
    try:
        devices.obtain()
        return int(runner.run(request, events, devices.prove))
    except NotGrantedError as error:
        events.emit("not_granted", reason=str(error))
        return NOT_GRANTED


def _ready() -> None:
    """Nothing is to be proven."""


def _leaked(subject: Iterable[str], loaded: Set[str]) -> list[str]:
    """Modules of the toolkit's host side that this process holds, unless the toolkit is the subject.

    Those that were ``loaded`` at the start are known by their names only.
    """
    child = os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120 - thousands of modules are looked at
    folder = os.path.dirname(child)  # noqa: PTH120
    host = os.path.basename(folder)  # noqa: PTH119
    if host in subject:
        return []
    found = [name for name in loaded if name.partition(".")[0] == host]
    for name in set(sys.modules) - loaded:
        file = getattr(sys.modules.get(name), "__file__", None)
        ours = isinstance(file, str) and file.startswith(folder + os.sep) and not file.startswith(child + os.sep)
        if ours or name.partition(".")[0] == host:
            found.append(name)
    return sorted(found)


def _peak_rss() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
