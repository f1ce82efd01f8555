"""The worker: runs one request with its runner, between ``hello`` and ``bye``."""

import faulthandler
import importlib
import json
import os
import platform
import signal
import socket
import sys

from .events import Events
from .packages import installed

STACKS_SIGNAL = signal.SIGUSR1
"""Makes a worker write the stacks of all its threads to its standard error, even from native code."""


def main(arguments):
    """``REQUEST CHANNEL``: the path of ``request.json``, the descriptor of the channel. Returns the exit status."""
    channel = socket.socket(fileno=int(arguments[1]))
    os.set_inheritable(channel.fileno(), False)
    stacks = os.fdopen(os.dup(2), "wb", buffering=0)
    faulthandler.enable(stacks)
    if hasattr(faulthandler, "register"):
        faulthandler.register(STACKS_SIGNAL, stacks)
    with open(arguments[0], encoding="utf-8") as file:
        request = json.load(file)
    folder = os.path.dirname(arguments[0])
    events = Events(os.path.join(folder, "events.jsonl"), request["nonce"], channel)
    places = list(sys.path)
    events.emit(
        "hello",
        pid=os.getpid(),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        executable=sys.executable,
        prefix=sys.prefix,
        start_mode="spawn",
        packages=installed(places),
    )
    runner = importlib.import_module("." + request["runner"] + "_runner", __package__)
    code = runner.run(request, events)
    sys.stdout.flush()
    sys.stderr.flush()
    events.emit(
        "bye",
        code=code,
        leaked=_leaked(request["options"].get("subject", ())),
        packages=installed(places),
        peak_rss_bytes=_peak_rss(),
    )
    events.close()
    return code


def _leaked(subject):
    """Modules of the toolkit's host side that this process loaded, unless the toolkit is the subject."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    host = os.path.basename(ours)
    if host in subject:
        return []
    child = os.path.join(ours, os.path.basename(os.path.dirname(os.path.abspath(__file__)))) + os.sep
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        file = os.path.abspath(file) if isinstance(file, str) else ""
        if name.partition(".")[0] == host or (file.startswith(ours + os.sep) and not file.startswith(child)):
            found.append(name)
    return sorted(found)


def _peak_rss():
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
