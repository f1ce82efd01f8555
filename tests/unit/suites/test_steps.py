"""The steps of a unit, simulated: whatever its cases do to their workers, each is accounted for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.model.case import Case
from ci_toolkit.model.outcome import Cause, Outcome
from ci_toolkit.model.report import ErrorKind, ExecutionError, Purpose
from ci_toolkit.suites.joining import joined
from ci_toolkit.suites.kind import UnitResult
from ci_toolkit.suites.steps import PARTS, Step, UnitRun

BEHAVIOURS = ("passes", "fails", "dies", "dies when not first", "dies when first")


class Worker:
    """Runs cases in order until one kills it."""

    def __init__(self, behaviours: list[str], forgets: frozenset[int] = frozenset()) -> None:
        self.behaviours = behaviours
        self.forgets = forgets
        self.ran: Counter[str] = Counter()
        self.killed: Counter[str] = Counter()

    def run(self, step: Step) -> UnitResult:
        names = [str(at) for at in range(len(self.behaviours)) if step.only is None or str(at) in step.only]
        cases: list[Case] = []
        for at, name in enumerate(names):
            behaviour = self.behaviours[int(name)]
            first = at == 0
            self.ran[name] += 1
            if behaviour == "dies" or (behaviour == "dies when first" and first) or (
                behaviour == "dies when not first" and not first
            ):  # fmt: skip
                self.killed[name] += 1
                cases.append(Case(id=name, outcome=Outcome.CRASHED))
                cases += [Case(id=rest, outcome=Outcome.NOT_RUN) for rest in names[at + 1 :]]
                death = ExecutionError(kind=ErrorKind.WORKER_CRASHED, message="died", cause=Cause.EXCEPTION, case=name)
                before = tuple(names[:at])
                return UnitResult(tuple(cases), death=death, culprit=name, before=before, rest=tuple(names[at + 1 :]))
            cases.append(Case(id=name, outcome=Outcome.FAILED if behaviour == "fails" else Outcome.PASSED))
        return UnitResult(tuple(cases))


@given(st.lists(st.sampled_from(BEHAVIOURS), min_size=1, max_size=12), st.integers(0, 2))
def test_each_case_has_its_outcome_and_none_kills_a_third_worker(behaviours: list[str], confirm: int) -> None:
    worker, run = Worker(behaviours), UnitRun(confirm, lambda case: False)
    while (step := run.next()) is not None:
        run.take(step, worker.run(step))
    assert all(count <= 2 for count in worker.killed.values())
    result = joined("u", run.taken, halted="", flaky_passes=False)
    assert [case.id for case in result.cases] == [str(at) for at in range(len(behaviours))]
    assert not {case.outcome for case in result.cases} & {Outcome.NOT_RUN, Outcome.MISSING}
    assert not result.errors
    for case, behaviour in zip(result.cases, behaviours, strict=True):
        if behaviour in ("passes", "fails", "dies"):
            assert case.outcome == {"passes": "passed", "fails": "failed", "dies": "crashed"}[behaviour]
        if case.outcome is Outcome.CRASHED:
            assert case.alone is not None


@given(st.lists(st.sampled_from(BEHAVIOURS), min_size=2, max_size=12), st.integers(1, 4))
def test_what_a_halt_leaves_is_not_run_with_its_reason_and_an_error(behaviours: list[str], parts: int) -> None:
    worker, run = Worker(behaviours), UnitRun(0, lambda case: False)
    while (step := run.next()) is not None and sum(one.step.purpose in PARTS for one in run.taken) < parts:
        run.take(step, worker.run(step))
    result = joined("u", run.taken, halted="no more", flaky_passes=False)
    unrun = [case for case in result.cases if case.outcome is Outcome.NOT_RUN]
    assert {case.reason for case in unrun} <= {"no more"}
    assert bool(unrun) == bool(result.errors)


FAULT = ExecutionError(kind=ErrorKind.STRANGER, message="a stranger spoke", cause=Cause.EXCEPTION)


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [({}, Outcome.PASSED), ({"errors": (FAULT,)}, Outcome.FAILED), ({"death": FAULT}, Outcome.FAILED)],
)
def test_only_a_worker_that_is_believed_can_make_a_failure_flaky(fault: dict, outcome: Outcome) -> None:
    run = UnitRun(1, lambda case: False)
    step = run.next()
    assert step is not None
    run.take(step, UnitResult((Case(id="a", outcome=Outcome.FAILED),)))
    again = run.next()
    assert again is not None
    run.take(again, UnitResult((Case(id="a", outcome=Outcome.PASSED),), **fault))
    (case,) = joined("u", run.taken, halted="", flaky_passes=True).cases
    assert (case.outcome, case.tries) == (outcome, (Outcome.FAILED, Outcome.PASSED))


def test_what_the_ratchet_expects_is_neither_looked_into_nor_confirmed() -> None:
    worker, run = Worker(["passes", "dies", "fails"]), UnitRun(3, lambda case: True)
    while (step := run.next()) is not None:
        run.take(step, worker.run(step))
    assert [one.step.purpose for one in run.taken] == [Purpose.WHOLE, Purpose.REST]


def test_a_worker_that_dies_without_getting_anywhere_is_not_followed_by_another() -> None:
    run = UnitRun(0, lambda case: False)
    death = ExecutionError(kind=ErrorKind.WORKER_CRASHED, message="died", cause=Cause.EXCEPTION)
    cases = tuple(Case(id=name, outcome=Outcome.NOT_RUN, reason="it died") for name in "ab")
    nothing = UnitResult(cases, death=death, rest=("a", "b"))
    steps = []
    while (step := run.next()) is not None:
        steps.append(step.purpose)
        run.take(step, nothing)
    assert steps == [Purpose.WHOLE, Purpose.REST]
    assert len(joined("u", run.taken, halted="", flaky_passes=False).errors) == 2
