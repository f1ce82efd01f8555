"""A lane's run while it goes on: START and END of each unit, the first failing cases, and a live line on a terminal."""

import time
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from rich.status import Status

from ci_toolkit.github.commands import defuse
from ci_toolkit.model.outcome import BAD, Outcome
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.report import WorkerEnd
from ci_toolkit.model.text import clip, one_line
from ci_toolkit.publish.terminal import make_console, on_terminal
from ci_toolkit.publish.words import duration, plural
from ci_toolkit.workers.jobs import Job

FAILURES_NAMED = 20
"""How many failing cases of a lane are named while it runs; the verdict names all causes."""
FAILING = BAD | {Outcome.XPASSED}


@dataclass
class _Unit:
    began: float
    finished: int = 0
    case: str = ""
    failed: str = ""


class Progress:
    """Follows the workers of a plan's lanes; give ``observe`` to the run."""

    def __init__(self, plan: Plan) -> None:
        self._console = make_console()
        self._status: Status | None = None
        self._running: dict[str, _Unit] = {}
        self._finished = 0
        self._fallbacks: set[str] = set()
        self._failed: Counter[str] = Counter()
        self._lanes = len(plan.lanes)

    def __enter__(self) -> Self:
        if on_terminal() and self._console.is_interactive:
            self._status = self._console.status("starting")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def observe(self, job: Job, message: dict[str, Any]) -> None:
        """Takes a worker's message, and from the host ``residue`` and, when the worker is gone, ``ended``."""
        lane, unit = job.request.lane, job.request.unit
        event, running = message.get("e"), self._running.get(job.request.nonce)
        if event == "hello" and running is None:
            self._running[job.request.nonce] = _Unit(time.monotonic())
            self._say(f"START {lane} {unit}")
        elif event == "start" and running:
            running.case = str(message.get("id"))
        elif event == "finish" and running:
            running.case = ""
            running.finished += 1
            self._finished += 1
        elif event == "phase" and running and message.get("outcome") in FAILING and not message.get("rerun"):
            self._case_failed(lane, running, str(message.get("id")))
        elif event == "residue":
            self._say(f"LEFT  {lane} {unit}: {message.get('message')}", "yellow")
        elif event == "fallback" and message.get("message") not in self._fallbacks:
            self._fallbacks.add(str(message.get("message")))
            self._say(f"SPAWN {lane}: workers are started afresh, not forked: {message.get('message')}", "yellow")
        elif event == "ended":
            self._ended(job, message)
        self._show()

    def _case_failed(self, lane: str, running: _Unit, case: str) -> None:
        """A case fails once, even if more than one phase of it does."""
        if running.failed == case:
            return
        running.failed = case
        self._failed[lane] += 1
        if self._failed[lane] <= FAILURES_NAMED:
            self._say(f"FAIL  {lane} {clip(case, 300)}", "red")
        elif self._failed[lane] == FAILURES_NAMED + 1:
            self._say(f"FAIL  {lane}: further failures are not named here, the verdict has all", "red")

    def _ended(self, job: Job, message: dict[str, Any]) -> None:
        found = self._running.pop(job.request.nonce, None)
        cases = found.finished if found else 0
        spent = duration(time.monotonic() - found.began) if found else "no time"
        end, said = message["end"], message.get("message")
        during = f", in case {clip(found.case, 300)}" if found and found.case and found.case not in str(said) else ""
        how = "" if end == WorkerEnd.COMPLETED else f"; {end}: {said}{during}"
        style = "dim" if end == WorkerEnd.COMPLETED else "red"
        text = f"END   {job.request.lane} {job.request.unit}: {cases} {plural('case', cases)} in {spent}{how}"
        self._say(text, style)

    def _show(self) -> None:
        if self._status is not None:
            failed = sum(self._failed.values())
            running = f"{len(self._running)} {plural('unit', len(self._running))} running"
            self._status.update(f"{running}, {self._finished:,} cases finished, {failed:,} failed")

    def _say(self, text: str, style: str = "dim") -> None:
        self._console.print(defuse(one_line(text)), style=style)
