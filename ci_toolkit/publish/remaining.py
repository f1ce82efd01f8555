"""How long a run still takes, as far as earlier runs tell. Pure; only shown, never judged."""

from collections.abc import Iterable

from ci_toolkit.formats.durations import Durations
from ci_toolkit.model.plan import Plan

Unit = tuple[str, str]
"""A lane and a unit of it."""


class Remaining:
    """The units of a plan that have not ended, with what they are expected to take on ``slots`` workers at a time."""

    def __init__(self, plan: Plan, durations: Durations, slots: int) -> None:
        self._slots = max(slots, 1)
        self._known: dict[Unit, float] = {}
        self._waiting: set[Unit] = set()
        for lane in plan.lanes:
            known, covers = durations.of(lane), lane.covers()
            self._known |= {(lane.id, unit): seconds for unit, seconds in known.items()}
            if known:
                listed = filter(covers, known) if lane.is_whole else lane.selection.units or ()
                self._waiting |= {(lane.id, unit) for unit in listed}
        self._unknown = sum(self._known.values()) / len(self._known) if self._known else 0.0

    def begin(self, unit: Unit) -> None:
        """Notes that a unit waits no longer."""
        self._waiting.discard(unit)

    def seconds(self, running: Iterable[tuple[Unit, float]]) -> float | None:
        """How long it still takes, with what runs and for how many seconds it has; None where nothing is known."""
        if not self._known:
            return None
        left = [max(self._known.get(unit, self._unknown) - elapsed, 0.0) for unit, elapsed in running]
        waiting = [self._known.get(unit, self._unknown) for unit in tuple(self._waiting)]
        return max((sum(left) + sum(waiting)) / self._slots, *left, *waiting, 0.0)
