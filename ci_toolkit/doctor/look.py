"""The process that looks: answers the one question of its environment in the last line that it prints."""

import importlib
import json
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import msgspec

from ci_toolkit.doctor.bounded import ANSWER, QUESTION
from ci_toolkit.errors import ToolkitError

LOOKS = {
    "disk": ("ci_toolkit.doctor.look_system", "disk"),
    "git": ("ci_toolkit.doctor.look_system", "git"),
    "index": ("ci_toolkit.doctor.look_network", "index"),
    "address": ("ci_toolkit.doctor.look_network", "address"),
    "proxy": ("ci_toolkit.doctor.look_network", "proxy"),
    "devices": ("ci_toolkit.doctor.look_devices", "devices"),
    "proof": ("ci_toolkit.doctor.look_devices", "proof"),
    "interpreter": ("ci_toolkit.doctor.look_python", "interpreter"),
}
"""What can be looked at -> the function that does."""


class _OverError(Exception):
    """The time is over."""


def main() -> int:
    """Ends what it has started when its time is over."""
    question = json.loads(os.environ.pop(QUESTION))
    limit_s = question["limit_s"]
    signal.signal(signal.SIGALRM, _over)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    module, name = LOOKS[question["what"]]
    try:
        answer = getattr(importlib.import_module(module), name)(**question["about"])
        told: dict[str, object] = {"answer": msgspec.to_builtins(answer)}
    except _OverError:
        told = {"fault": f"it gave no answer in {limit_s:g} s"}
    except ToolkitError as error:
        told = {"fault": str(error)}
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.write(f"\n{ANSWER}{json.dumps(told)}\n")
    return 0


def _over(number: int, frame: FrameType | None) -> NoReturn:
    raise _OverError


if __name__ == "__main__":
    sys.exit(main())
