"""A lane's run while it goes on: a line for each unit that starts and ends, in logs and on terminals."""

import time
from types import TracebackType
from typing import Any, Self

from ci_toolkit.github.commands import defuse
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.text import one_line
from ci_toolkit.publish.terminal import make_console
from ci_toolkit.publish.words import duration
from ci_toolkit.workers.jobs import Job


class Progress:
    """Prints ``START`` and ``END`` of each unit, with how many of its cases finished."""

    def __init__(self, plan: Plan) -> None:
        self._console = make_console()
        self._plan = plan
        self._started: dict[str, float] = {}
        self._finished: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for nonce in list(self._started):
            self._started.pop(nonce)

    def observe(self, job: Job, message: dict[str, Any]) -> None:
        """Takes a worker's message."""
        nonce, event = job.request.nonce, message.get("e")
        if event == "hello":
            self._started[nonce] = time.monotonic()
            self._finished[nonce] = 0
            self._say(f"START {job.request.lane} {job.request.unit}")
        elif event == "finish" and nonce in self._finished:
            self._finished[nonce] += 1
        elif event == "bye" and nonce in self._started:
            spent = duration(time.monotonic() - self._started.pop(nonce))
            self._say(f"END   {job.request.lane} {job.request.unit}: {self._finished[nonce]} cases in {spent}")

    def _say(self, text: str) -> None:
        self._console.print(defuse(one_line(text)), style="dim")
