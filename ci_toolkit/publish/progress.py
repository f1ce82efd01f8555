"""A lane's run while it goes on: lines for its units and first failing cases, and a live view on a terminal."""

import os
import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.live import Live
from rich.text import Text

from ci_toolkit.formats.durations import Durations
from ci_toolkit.github.commands import command, defuse, on_github
from ci_toolkit.model.outcome import BAD, Outcome
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.report import WorkerEnd
from ci_toolkit.model.text import clip, one_line
from ci_toolkit.publish.live import LiveView, Running, Totals, is_watched
from ci_toolkit.publish.remaining import Remaining
from ci_toolkit.publish.terminal import make_console
from ci_toolkit.publish.words import duration, plural
from ci_toolkit.suites.announcing import KNOWN
from ci_toolkit.workers.jobs import Job

FAILURES_NAMED = 20
"""How many failing cases of a lane are named while it runs; the verdict names all causes."""
DEVICES_BYTES = 200
FAILING = BAD | {Outcome.XPASSED}


class Progress:
    """Follows the workers of a plan's lanes; give ``observe`` to the run.

    A log gets a line when a unit starts, is granted devices, and ends. On a terminal the running ones are seen in a
    view that lives, and only their ends stay. ``durations`` and ``slots``, the workers at a time, tell how long it
    still takes.
    """

    def __init__(self, plan: Plan, durations: Durations | None = None, slots: int = 1) -> None:
        self._console = make_console()
        self._live: Live | None = None
        self._running: dict[str, Running] = {}
        self._totals = Totals()
        self._remaining = Remaining(plan, durations or Durations(), slots)
        self._fallbacks: set[str] = set()
        self._failed: Counter[str] = Counter()
        self._has_red = False

    def __enter__(self) -> Self:
        if is_watched(self._console, os.environ):
            view = LiveView(self._running, self._totals, self._remaining)
            self._live = Live(view, console=self._console, transient=True, redirect_stdout=False, redirect_stderr=False)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def observe(self, job: Job, message: dict[str, Any]) -> None:
        """Takes a worker's message, and from the host ``residue`` and, when the worker is gone, ``ended``."""
        lane, unit = job.request.lane, job.request.unit
        event, running = message.get("e"), self._running.get(job.request.nonce)
        if event == "hello" and running is None:
            self._starts(job, message)
        elif event == "need_devices" and running:
            running.waits = True
        elif event == "granted" and running:
            self._granted(running, message)
        elif event == "start" and running:
            running.case = str(message.get("id"))
        elif event == "finish" and running:
            running.case = ""
            running.finished += 1
            self._totals.finished += 1
        elif event == "phase" and running and _is_news(message):
            self._case_failed(lane, running, str(message.get("id")))
        elif event == "residue":
            self._say(f"LEFT  {lane} {unit}: {message.get('message')}", "yellow")
        elif event == "fallback" and message.get("message") not in self._fallbacks:
            self._fallbacks.add(str(message.get("message")))
            self._say(f"SPAWN {lane}: workers are started afresh, not forked: {message.get('message')}", "yellow")
        elif event == "ended":
            self._ended(job, message)

    def _starts(self, job: Job, message: dict[str, Any]) -> None:
        lane, unit = job.request.lane, job.request.unit
        self._running[job.request.nonce] = Running(lane, unit, time.monotonic())
        self._remaining.begin((lane, unit))
        process = f" (process {message['pid']})" if isinstance(message.get("pid"), int) else ""
        self._log(f"START {lane} {unit}{process}")

    def _granted(self, running: Running, message: dict[str, Any]) -> None:
        running.waits = False
        running.device = devices(message.get("devices"))
        self._log(f"GRANT {running.lane} {running.unit}: {running.device}")

    def _case_failed(self, lane: str, running: Running, case: str) -> None:
        """A case fails once, even if more than one phase of it does."""
        if running.failed == case:
            return
        running.failed = case
        self._failed[lane] += 1
        self._totals.failed += 1
        self._first_red(lane, case, "failed")
        if self._failed[lane] <= FAILURES_NAMED:
            self._say(f"FAIL  {lane} {clip(case, 300)}", "red")
        elif self._failed[lane] == FAILURES_NAMED + 1:
            self._say(f"FAIL  {lane}: further failures are not named here, the verdict has all", "red")

    def _ended(self, job: Job, message: dict[str, Any]) -> None:
        found = self._running.pop(job.request.nonce, None)
        self._totals.ended += 1
        self._remaining.begin((job.request.lane, job.request.unit))
        cases = found.finished if found else 0
        spent = duration(time.monotonic() - found.began) if found else "no time"
        end, said = message["end"], message.get("message")
        during = f", in case {clip(found.case, 300)}" if found and found.case and found.case not in str(said) else ""
        how = "" if end == WorkerEnd.COMPLETED else f"; {end}: {said}{during}"
        style = "dim" if end == WorkerEnd.COMPLETED else "red"
        if end not in (WorkerEnd.COMPLETED, WorkerEnd.INTERRUPTED) and not message.get(KNOWN):
            self._first_red(job.request.lane, (found and found.case) or job.request.unit, f"ended its worker ({end})")
        on = f" on {found.device}" if found and found.device else ""
        text = f"END   {job.request.lane} {job.request.unit}{on}: {cases} {plural('case', cases)} in {spent}{how}"
        self._say(text, style)

    def _first_red(self, lane: str, case: str, how: str) -> None:
        """The first bad end that nobody expects is an annotation at once: the others can wait for the verdict."""
        if not self._has_red and on_github(os.environ):
            message = f"{case} {how}; the lane goes on, its verdict has all"
            self._console.print(Text(command("error", one_line(clip(message, 500)), title=f"first red · {lane}")))
        self._has_red = True

    def _log(self, text: str) -> None:
        """Says what the view that lives shows anyway."""
        if self._live is None:
            self._say(text)

    def _say(self, text: str, style: str = "dim") -> None:
        # A style of the print itself would colour the view below the line too.
        self._console.print(Text(defuse(one_line(text)), style))


def _is_news(message: Mapping[str, Any]) -> bool:
    """Whether a phase ended badly and for good, and not as its ratchet says."""
    return message.get("outcome") in FAILING and not message.get("rerun") and not message.get(KNOWN)


def devices(granted: object) -> str:
    """The devices of a grant by number, with the name of the first; what is no list of devices is told as none."""
    listed = [one for one in granted if isinstance(one, dict)] if isinstance(granted, list) else []
    if not listed:
        return "no device"
    numbers = ", ".join(str(one.get("index")) for one in listed)
    name = f" ({listed[0]['name']})" if listed[0].get("name") else ""
    return clip(f"{plural('device', len(listed))} {numbers}{name}", DEVICES_BYTES)
