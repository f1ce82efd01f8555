"""A candidate beside the upstream itself: what both show alike is not the candidate's fault, and never silence."""

import dataclasses
import datetime

import msgspec
import pytest

from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.gates.judge import judge
from ci_toolkit.gates.lane import LaneInput
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.report import ErrorKind, ExecutionError
from ci_toolkit.model.verdict import Verdict

TODAY = datetime.date(2026, 12, 1)
P, F, S, E = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.ERROR
Outcomes = dict[str, Outcome | tuple[Outcome, str]]


class Pair:
    """The lanes of a candidate and its control."""

    def __init__(self, world) -> None:
        self.world = world
        self.skips = False

    def given(self, outcomes: Outcomes, signature: str = "ValueError call a:f", errors=()) -> LaneInput:
        self.world.outcomes, self.world.signature, self.world.errors = outcomes, signature, errors
        return self.world.input()

    def judged(self, candidate: LaneInput, control: LaneInput | None, part_of: str = "") -> Verdict:
        lane = msgspec.structs.replace(candidate.lane, kind="conformance")
        lanes = {"s-cpu": (lane, candidate, "s-cpu-control")}
        if control is not None:
            own = msgspec.structs.replace(lane, id="s-cpu-control", variant="control")
            lanes["s-cpu-control"] = (own, control, "")
        plan = msgspec.structs.replace(self.world.plan(), lanes=tuple(lane for lane, _, _ in lanes.values()))
        plan = msgspec.structs.replace(plan, part_of=part_of)
        return judge(plan, {name: self._of(plan, *each) for name, each in lanes.items()}, TODAY)

    def _of(self, plan: Plan, lane, given: LaneInput, control: str) -> LaneInput:
        seen = given.seen
        assert seen is not None
        provenance = msgspec.structs.replace(seen.report.provenance, plan_digest=plan_digest(plan))
        report = msgspec.structs.replace(seen.report, lane=lane, provenance=provenance)
        seen = dataclasses.replace(seen, report=report)
        return dataclasses.replace(
            given, lane=lane, seen=seen, control_lane=control, allow_control_skips=self.skips, base={}
        )


@pytest.fixture
def pair(world) -> Pair:
    return Pair(world)


def found(verdict: Verdict) -> list[tuple[str, str, bool]]:
    return sorted((one.kind.value, one.lane, one.blocks) for one in verdict.findings)


def test_both_pass(pair) -> None:
    both: Outcomes = {"a.py::x": P}
    verdict = pair.judged(pair.given(both), pair.given(both))
    assert (verdict.result, verdict.findings) == ("passed", ())


def test_what_the_candidate_alone_fails_is_its_own(pair) -> None:
    verdict = pair.judged(pair.given({"a.py::x": F}), pair.given({"a.py::x": P}))
    assert found(verdict) == [("regression", "s-cpu", True)]


def test_what_both_fail_alike_is_the_controls(pair) -> None:
    verdict = pair.judged(pair.given({"a.py::x": F}), pair.given({"a.py::x": F}))
    assert found(verdict) == [("regression", "s-cpu-control", True), ("shown_by_control", "s-cpu", False)]
    assert verdict.exit_code == 1


@pytest.mark.parametrize("control", [{"a.py::x": E}, {"a.py::x": (F, "")}])
def test_another_end_excuses_nothing(pair, control: Outcomes) -> None:
    candidate = pair.given({"a.py::x": F}, "TypeError call b:g")
    kinds = {(one.kind.value, one.lane) for one in pair.judged(candidate, pair.given(control)).findings}
    assert ("regression", "s-cpu") in kinds


def test_a_control_that_is_not_the_runs_own_excuses_nothing(pair) -> None:
    candidate = pair.given({"a.py::x": F})
    pair.world.run = "another"
    control = pair.given({"a.py::x": F})
    kinds = {(one.kind.value, one.lane) for one in pair.judged(candidate, control).findings}
    assert kinds == {("regression", "s-cpu"), ("foreign_evidence", "s-cpu-control")}


def test_a_job_that_has_no_control_leaves_it_to_the_gate_over_all(pair) -> None:
    verdict = pair.judged(pair.given({"a.py::x": F}), None, part_of="d")
    assert found(verdict) == [("regression", "s-cpu", False)]
    assert verdict.result == "passed"
    assert pair.judged(pair.given({"a.py::x": F}), None).result == "failed", "a whole plan has its control"


def test_skips_of_both_are_accepted_where_conf_says_so_and_no_others(pair) -> None:
    both: Outcomes = {"a.py::x": (S, "no windows"), "a.py::y": P}
    assert pair.judged(pair.given(both), pair.given(both)).result == "failed"
    pair.skips = True
    assert pair.judged(pair.given(both), pair.given(both)).result == "passed"
    other: Outcomes = {"a.py::x": (S, "not built"), "a.py::y": P}
    assert found(pair.judged(pair.given(other), pair.given(both))) == [("unreviewed_skip", "s-cpu", True)]
    failing: Outcomes = {"a.py::x": F, "a.py::y": P}
    assert ("regression", "s-cpu", True) in found(pair.judged(pair.given(failing), pair.given(both)))


def test_a_pass_that_nobody_expected_is_heard_though_the_control_passes(pair) -> None:
    pair.world.ratchet = """\
membership: grows
groups:
  g: {outcome: failed, match: any, reason: known, expires: 2027-01-01, cases: {a.py: [x]}}
"""
    candidate = pair.given({"a.py::x": P})
    pair.world.ratchet = None
    control = pair.given({"a.py::x": P})
    assert found(pair.judged(candidate, control)) == [("unexpected_pass", "s-cpu", True)]


def test_another_collection_is_told_unless_an_error_explains_it(pair) -> None:
    more: Outcomes = {"a.py::x": P, "a.py::y": P}
    verdict = pair.judged(pair.given({"a.py::x": P}), pair.given(more))
    assert found(verdict) == [("collection_differs", "s-cpu", True)]
    assert "the control alone collects a.py::y" in verdict.findings[0].message
    crashed = (ExecutionError(kind=ErrorKind.WORKER_CRASHED, message="SIGSEGV", unit="a.py"),)
    kinds = {
        one.kind.value for one in pair.judged(pair.given({"a.py::x": P}, errors=crashed), pair.given(more)).findings
    }
    assert kinds == {"execution_error"}
