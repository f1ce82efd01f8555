"""Looks at one thing in a process of its own: what hangs there (a driver, a drive, a proxy) hangs nobody else."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from ci_toolkit.devices.command import run_command
from ci_toolkit.devices.probe import failed

A = TypeVar("A")

QUESTION = "CI_TOOLKIT_QUESTION"
"""Asked in the environment, which other users can not read: an address may hold a password."""
ANSWER = "ci-toolkit answers "
MARGIN_S = 5.0
"""A look ends itself at its limit, with all that it has started; one that can not is ended after this."""
MOST = 16


@dataclass(frozen=True)
class Look(Generic[A]):
    """A question: what to look at, the type of the answer, and how long it may take in seconds."""

    what: str
    about: Mapping[str, object]
    kind: type[A]
    limit_s: float


@dataclass(frozen=True)
class Seen(Generic[A]):
    """The answer, or in one line why there is none."""

    answer: A | None
    fault: str = ""


def look(question: Look[A], stop: Callable[[], object] = bool) -> Seen[A]:
    """Asks, and waits for at most the question's limit and MARGIN_S."""
    argv = [sys.executable, "-P", "-m", "ci_toolkit.doctor.look"]
    asked = {"what": question.what, "limit_s": question.limit_s, "about": msgspec.to_builtins(question.about)}
    done = run_command(argv, question.limit_s + MARGIN_S, {**os.environ, QUESTION: json.dumps(asked)}, stop)
    fault = failed(done, question.limit_s)
    if fault:
        return Seen(None, fault)
    said = next((line for line in reversed(done.stdout.splitlines()) if line.startswith(ANSWER)), "")
    try:
        document: dict[str, Any] = json.loads(said.removeprefix(ANSWER))
        if "fault" in document:
            return Seen(None, str(document["fault"]))
        return Seen(msgspec.convert(document["answer"], question.kind))
    except (ValueError, KeyError, msgspec.ValidationError) as error:
        return Seen(None, f"the answer can not be read: {error}")


def look_all(questions: Sequence[Look[Any]], stop: Callable[[], object] = bool) -> list[Seen[Any]]:
    """All answers, in the order of the questions, which are asked side by side."""
    with ThreadPoolExecutor(max(1, min(len(questions), MOST))) as pool:
        return list(pool.map(lambda question: look(question, stop), questions))
