"""What the ends of a run's jobs add to its evidence: a job that was lost is red, whatever has arrived."""

import dataclasses
import datetime
import json

import msgspec
import pytest

from ci_toolkit.errors import UsageError
from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.gates.jobs import Needed, lost_plan, other_conf, read_needs, stray
from ci_toolkit.gates.judge import judge
from ci_toolkit.gates.lane import LaneInput
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import Advisory, Build, Job, Plan
from ci_toolkit.model.verdict import FindingKind, Verdict

TODAY = datetime.date(2026, 12, 1)
OUTPUTS = {"digest": "d", "matrix_0": "{}"}


def planned(world, *lanes: str) -> Plan:
    jobs = tuple(Job(id=lane, lanes=(lane,), platform="cpu", runs_on=("x",), timeout_minutes=1) for lane in lanes)
    made = tuple(msgspec.structs.replace(world.lane, id=lane) for lane in lanes)
    return msgspec.structs.replace(world.plan(), lanes=made, jobs=jobs)


def judged(world, needs: dict[str, Needed], build: str = "", **lost: FindingKind) -> Verdict:
    """The verdict over one lane that passed, and others that left nothing; all test the same build, if any."""
    world.outcomes = {"a.py::one": Outcome.PASSED}
    plan = planned(world, "s-cpu", *lost)
    if build:
        jobs = tuple(msgspec.structs.replace(job, build=build) for job in plan.jobs)
        made = (Build(id=build, runs_on=("x",), timeout_minutes=1),)
        plan = msgspec.structs.replace(plan, jobs=jobs, builds=made)
    found = world.input()
    seen = found.seen
    report = msgspec.structs.replace(
        seen.report,
        provenance=msgspec.structs.replace(seen.report.provenance, plan_digest=plan_digest(plan)),
    )
    inputs = {"s-cpu": dataclasses.replace(found, seen=dataclasses.replace(seen, report=report))}
    inputs |= {lane.id: LaneInput(lane, fault=(lost[lane.id], "x")) for lane in plan.lanes[1:]}
    return judge(plan, inputs, TODAY, needs={"plan": Needed("success", OUTPUTS), **needs})


def kinds(verdict: Verdict) -> list[str]:
    return [finding.kind.value for finding in verdict.findings if finding.blocks]


def test_all_jobs_well_and_all_lanes_green(world) -> None:
    needs = {"lanes_0": Needed("success"), "lanes_1": Needed("skipped"), "lanes_3": Needed("skipped")}
    verdict = judged(world, needs)
    assert (verdict.result, verdict.exit_code) == ("passed", 0)


@pytest.mark.parametrize("result", ["failure", "cancelled"])
def test_a_job_that_ended_badly_over_green_evidence_is_red(world, result: str) -> None:
    verdict = judged(world, {"lanes_0": Needed(result)})
    assert kinds(verdict) == ["job_disagrees"]
    assert (verdict.exit_code, verdict.findings[0].observed) == (3, result)


def test_a_red_lane_explains_its_job(world) -> None:
    assert kinds(judged(world, {"lanes_0": Needed("failure")}, lost=FindingKind.NO_UPLOAD)) == ["no_upload"]


def test_an_advisory_lane_explains_its_job_only_where_that_was_lost(world) -> None:
    world.advisory = Advisory(until=TODAY, reason="new")
    assert kinds(judged(world, {"lanes_0": Needed("failure")}, lost=FindingKind.TAMPERED_EVIDENCE)) == ["job_disagrees"]
    assert kinds(judged(world, {"lanes_0": Needed("failure")}, lost=FindingKind.NO_UPLOAD)) == []


@pytest.mark.parametrize(
    ("needs", "kind"),
    [
        ({"lanes_0": Needed("skipped")}, "lane_skipped"),
        ({}, "lane_skipped"),
        ({"plan": Needed("success", {**OUTPUTS, "matrix_0": ""}), "lanes_0": Needed("skipped")}, "matrix_lost"),
        ({"plan": Needed("success", {**OUTPUTS, "matrix_0": False}), "lanes_0": Needed("skipped")}, "matrix_lost"),
    ],
)
def test_a_lane_that_can_not_have_run_is_red_even_with_evidence(world, needs, kind: str) -> None:
    assert kinds(judged(world, needs)) == [kind]


WELL = {"lanes_0": Needed("success")}


@pytest.mark.parametrize(
    ("needs", "kind"),
    [
        ({}, "build_lost"),
        ({"builds": Needed("skipped")}, "build_lost"),
        ({"builds": Needed("skipped"), "plan": Needed("success", {**OUTPUTS, "builds": False})}, "matrix_lost"),
        ({"builds": Needed("failure")}, "job_disagrees"),
        ({"builds": Needed("cancelled")}, "job_disagrees"),
    ],
)
def test_a_lane_of_a_build_that_was_not_made_is_red_even_with_evidence(world, needs, kind: str) -> None:
    assert kinds(judged(world, WELL | needs, build="wheel")) == [kind]


def test_a_build_that_failed_explains_its_job_and_another_red_does_not(world) -> None:
    needs = {"lanes_0": Needed("failure"), "builds": Needed("failure")}
    assert kinds(judged(world, needs, build="wheel", lost=FindingKind.BUILD_FAILED)) == ["build_failed"]
    found = kinds(judged(world, needs, build="wheel", lost=FindingKind.NO_UPLOAD))
    assert sorted(found) == ["job_disagrees", "no_upload"]


def test_an_advisory_lane_explains_the_failure_of_its_build(world) -> None:
    world.advisory = Advisory(until=TODAY, reason="new")
    needs = {"lanes_0": Needed("failure"), "builds": Needed("failure")}
    assert kinds(judged(world, needs, build="wheel", lost=FindingKind.BUILD_FAILED)) == []


def test_a_plan_without_builds_skips_their_job(world) -> None:
    assert kinds(judged(world, WELL | {"builds": Needed("skipped")})) == []
    assert kinds(judged(world, WELL | {"builds": Needed("failure")})) == ["job_disagrees"]


def test_another_job_that_the_gate_needs_must_succeed(world) -> None:
    needs = {"lanes_0": Needed("success"), "docs": Needed("skipped")}
    assert kinds(judged(world, needs)) == ["job_disagrees"]


@pytest.mark.parametrize(
    ("job", "digest", "kind"),
    [
        (Needed("failure", OUTPUTS), "d", FindingKind.PLAN_LOST),
        (Needed("skipped"), "d", FindingKind.PLAN_LOST),
        (Needed("success"), "d", FindingKind.PLAN_LOST),
        (Needed("success", {"digest": ""}), "d", FindingKind.PLAN_LOST),
        (Needed("success", OUTPUTS), None, FindingKind.PLAN_LOST),
        (Needed("success", OUTPUTS), "e", FindingKind.ANOTHER_PLAN),
    ],
)
def test_without_the_runs_own_plan_nothing_is_green(job: Needed, digest: str | None, kind: FindingKind) -> None:
    found = lost_plan({"plan": job}, digest, "out/plan.json: can not be read")
    assert found is not None
    assert (found.kind, found.blocks, found.exit_code) == (kind, True, 3)


def test_the_runs_own_plan_is_none(world) -> None:
    assert lost_plan({"plan": Needed("success", OUTPUTS)}, "d", "") is None
    assert other_conf(world.plan(), "conf") == ()
    assert other_conf(world.plan(), "other")[0].blocks
    assert stray([]) == ()
    assert stray(["evidence.hardware.x.a1"])[0].blocks


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"lanes_0": {"result": "success"}}',
        '{"plan": {"result": "green"}}',
        '{"plan": {}}',
        '{"plan": {"result": "success", "outputs": {"digest": 1}}}',
    ],
)
def test_what_is_no_needs_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--needs"):
        read_needs(text)


def test_needs_as_github_gives_them() -> None:
    needs = read_needs(json.dumps({"plan": {"result": "success", "outputs": {"digest": "x"}, "more": 1}}))
    assert needs["plan"].outputs == {"digest": "x"}
