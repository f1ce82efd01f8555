"""How many lanes in a row a runner may fail before the rest of its lanes is not even tried. Pure."""

from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import Lane
from ci_toolkit.model.report import ErrorKind, Report

LANES = 2
"""Each of them may wait for a device that hangs, for as long as its own budget allows."""


class RunnerBudget:
    """Counts by kind of device: a card that is dead takes nothing from lanes on the processor."""

    def __init__(self) -> None:
        self._failed: dict[str, list[tuple[str, str]]] = {}

    def note(self, lane: Lane, report: Report) -> None:
        """Takes in how a lane ended. Only one in which nothing passed, and which blames the runner, counts."""
        blamed = [error.message for error in report.errors if error.kind is ErrorKind.RUNNER]
        if blamed and not report.counts.get(Outcome.PASSED):
            self._failed.setdefault(lane.device.module, []).append((lane.id, blamed[0]))
        else:
            self._failed.pop(lane.device.module, None)

    def spent(self, lane: Lane) -> str:
        """Why ``lane`` is not tried; empty when it is."""
        failed = self._failed.get(lane.device.module, [])
        if len(failed) < LANES:
            return ""
        lanes = ", ".join(name for name, _ in failed[:LANES])
        return f"not tried, as the runner failed the lanes {lanes} before it: {failed[LANES - 1][1]}"
