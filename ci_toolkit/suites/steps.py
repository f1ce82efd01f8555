"""One unit through all the workers that it needs: the whole, the rest after a death, and runs that tell why. Pure."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ci_toolkit.model.case import Case
from ci_toolkit.model.outcome import BAD, Outcome
from ci_toolkit.model.report import PARTS, Purpose
from ci_toolkit.suites.kind import UnitResult

DEADLY = frozenset({Outcome.CRASHED, Outcome.TIMEOUT})

IsKnown = Callable[[Case], bool]
"""Whether the suite's ratchet expects the case to end as it did."""


@dataclass(frozen=True)
class Step:
    """What a worker is started for. ``only`` are the cases to run, None for all; ``suspect`` is the one in question."""

    purpose: Purpose = Purpose.WHOLE
    only: tuple[str, ...] | None = None
    suspect: str = ""


@dataclass(frozen=True)
class Taken:
    """A step that has been taken, and what came of it."""

    step: Step
    result: UnitResult


class UnitRun:
    """The steps of one unit, each in a fresh worker, one after the other.

    A death costs the case that was running: the rest goes on. The culprit is then run alone, and if it survives that,
    after those that ran before it; no case is given a third worker to kill. ``confirm`` is how often new failures are
    run again.
    """

    def __init__(self, confirm: int, is_known: IsKnown) -> None:
        self._confirm = confirm
        self._is_known = is_known
        self._parts: deque[Step] = deque([Step()])
        self._doubts: deque[Step] = deque()
        self._before: dict[str, tuple[str, ...]] = {}
        self._confirmed = False
        self.taken: list[Taken] = []

    @property
    def started(self) -> bool:
        return bool(self.taken)

    def next(self) -> Step | None:
        """The next step, None when the unit is complete."""
        if self._parts:
            return self._parts.popleft()
        if not self._confirmed:
            self._confirmed = True
            self._plan_confirmation()
        return self._doubts.popleft() if self._doubts else None

    def take(self, step: Step, result: UnitResult) -> None:
        """Notes what became of a step, and plans what follows from it."""
        self.taken.append(Taken(step, result))
        if step.purpose in PARTS:
            self._go_on(step, result)
        elif step.purpose is Purpose.ALONE and self._before[step.suspect] and _survived(result, step.suspect):
            only = (*self._before[step.suspect], step.suspect)
            self._doubts.appendleft(Step(Purpose.AFTER, only, step.suspect))

    def _go_on(self, step: Step, result: UnitResult) -> None:
        if result.death is None:
            return
        if result.culprit:
            culprit = next((case for case in result.cases if case.id == result.culprit), None)
            if culprit is not None and culprit.outcome in DEADLY and not self._is_known(culprit):
                self._before[result.culprit] = result.before
                self._doubts.append(Step(Purpose.ALONE, (result.culprit,), result.culprit))
        # A worker that neither finished nor lost a case would be followed by the same again, without end.
        if result.rest and (step.only is None or len(result.rest) < len(step.only)):
            self._parts.append(Step(Purpose.REST, result.rest))

    def _plan_confirmation(self) -> None:
        failing = tuple(
            case.id
            for taken in self.taken
            for case in taken.result.cases
            if case.outcome in {Outcome.FAILED, Outcome.ERROR} and not self._is_known(case)
        )
        if failing:
            self._doubts.extend(Step(Purpose.CONFIRM, failing) for _ in range(self._confirm))


def _survived(result: UnitResult, suspect: str) -> bool:
    return any(case.id == suspect and case.outcome not in DEADLY | {Outcome.NOT_RUN} for case in result.cases)


def costs(result: UnitResult, is_known: IsKnown) -> bool:
    """Whether a part's end counts against the lane's budget of deaths."""
    if result.death is None:
        return False
    culprit = next((case for case in result.cases if case.id == result.culprit), None)
    return culprit is None or not is_known(culprit)


def failed(result: UnitResult, is_known: IsKnown) -> bool:
    """Whether a unit's joined result holds anything that no ratchet expects."""
    return bool(result.errors) or any(case.outcome in BAD and not is_known(case) for case in result.cases)
