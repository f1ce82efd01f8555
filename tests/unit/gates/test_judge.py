"""Each way in which a lane must not be green, and that a green is green only when everything holds."""

import dataclasses
import datetime

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_toolkit.errors import UsageError
from ci_toolkit.gates.judge import judge
from ci_toolkit.model.outcome import Cause, Outcome
from ci_toolkit.model.plan import Advisory, Change, ExpectedDevice, LeftOut, Selection
from ci_toolkit.model.report import ErrorKind, ExecutionError
from ci_toolkit.model.verdict import FindingKind, Verdict
from ci_toolkit.publish.words import headline

P, F, S, X, XP = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED


def group(body: str = "", **changes: str) -> str:
    """A ratchet with one group that names a.py::bad."""
    parts = {
        "outcome": "failed",
        "match": "class",
        "signature": '"ValueError call a:f"',
        "reason": "known",
        "expires": "2027-01-01",
        "cases": "{a.py: [bad]}",
    }
    parts.update(changes)
    lines = "".join(f"    {name}: {value}\n" for name, value in parts.items() if value)
    return f"membership: grows\ngroups:\n  g:\n{lines}{body}"


def test_all_passed_is_green(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::two": P}
    verdict = world.verdict()
    assert (verdict.result, verdict.exit_code, verdict.findings) == ("passed", 0, ())


@pytest.mark.parametrize(
    ("outcome", "kind", "code"),
    [
        (F, "regression", 1),
        (Outcome.ERROR, "regression", 1),
        (Outcome.CRASHED, "regression", 1),
        (Outcome.TIMEOUT, "regression", 1),
        (XP, "unexpected_pass", 1),
        (X, "changed_outcome", 1),
        (S, "unreviewed_skip", 1),
        (Outcome.NOT_RUN, "not_run", 3),
        (Outcome.MISSING, "missing", 3),
    ],
)
def test_any_other_outcome_needs_a_review(world, outcome: Outcome, kind: str, code: int) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": outcome}
    assert world.kinds() == [kind]
    assert world.verdict().exit_code == code


def test_a_lane_without_evidence_is_missing(world) -> None:
    verdict = judge(world.plan(), {}, datetime.date(2026, 12, 1))
    assert [finding.kind for finding in verdict.findings] == [FindingKind.LANE_MISSING]
    assert verdict.exit_code == 3


def test_a_plan_without_a_lane_is_not_green(world) -> None:
    plan = world.plan()
    empty = type(plan)(provenance=plan.provenance, conf_digest="conf", lanes=())
    assert judge(empty, {}, datetime.date(2026, 12, 1)).exit_code == 5
    named = type(plan)(
        provenance=plan.provenance, conf_digest="conf", lanes=(), left_out=(LeftOut(id="x", reason="r", named=True),)
    )
    verdict = judge(named, {}, datetime.date(2026, 12, 1))
    assert (verdict.result, verdict.exit_code) == ("failed", 4)


def test_a_plan_may_be_empty_only_where_no_code_is_known_to_have_changed(world) -> None:
    plan = world.plan()

    def judged(change: Change | None, policy: str) -> Verdict:
        empty = msgspec.structs.replace(plan, lanes=(), change=change, empty=policy)
        return judge(empty, {}, datetime.date(2026, 12, 1))

    docs, code = Change(files=2, code=0, why="all 2 changed files are non-code"), Change(files=2, code=1)
    green = judged(docs, "pass")
    assert (green.result, [finding.kind for finding in green.findings]) == ("passed", [FindingKind.NOTHING_PLANNED])
    assert "all 2 changed files are non-code" in green.findings[0].message
    assert headline(green) == "PASSED: nothing was tested that counts"
    for change, policy in ((code, "pass"), (Change(why="everything"), "pass"), (None, "pass"), (docs, "fail")):
        assert judged(change, policy).exit_code == 5


def test_an_advisory_lane_is_shown_and_never_counts_as_green(world) -> None:
    world.advisory = Advisory(until=datetime.date(2026, 12, 1), reason="the board is new")
    world.outcomes = {"a.py::one": P, "a.py::bad": F}
    verdict = world.verdict()
    assert (verdict.result, verdict.lanes[0].result, verdict.lanes[0].findings) == ("passed", "advisory", 1)
    assert [(finding.kind, finding.blocks) for finding in verdict.findings] == [("regression", False)]
    assert headline(verdict) == "PASSED: nothing was tested that counts; 1 advisory, 1 of them not green, none counts"
    world.outcomes = {"a.py::one": P}
    assert world.verdict().lanes[0].result == "advisory"


def test_an_advisory_lane_blocks_after_its_day(world) -> None:
    world.advisory = Advisory(until=datetime.date(2026, 11, 30), reason="the board is new")
    world.outcomes = {"a.py::bad": F}
    verdict = world.verdict()
    assert (verdict.exit_code, verdict.lanes[0].result) == (1, "failed")


def test_a_lane_without_a_case_is_not_green(world) -> None:
    assert "lane_empty" in world.kinds()


def test_a_lane_that_skipped_everything_did_not_pass(world) -> None:
    world.outcomes = {"a.py::one": (S, "no card")}
    world.ratchet = "membership: grows\nskips: [{reason: no card, ceiling: 9, why: there is none}]\n"
    assert world.kinds() == ["too_few_passed"]


def test_evidence_of_another_run_is_foreign(world) -> None:
    world.outcomes = {"a.py::one": P}
    world.run = "run-2"
    assert world.kinds() == ["foreign_evidence"]
    assert world.verdict().exit_code == 3


def test_evidence_of_another_selection_is_foreign(world) -> None:
    world.outcomes = {"a.py::one": P}
    found = world.input()
    world.selection = Selection(units=("a.py",))
    verdict = judge(world.plan(), {"s-cpu": found}, datetime.date(2026, 12, 1))
    assert verdict.findings[0].kind is FindingKind.FOREIGN_EVIDENCE


@pytest.mark.parametrize(
    ("kind", "cause", "found", "code"),
    [
        (ErrorKind.COLLECTION, Cause.EXCEPTION, "execution_error", 3),
        (ErrorKind.WORKER_CRASHED, Cause.EXCEPTION, "execution_error", 3),
        (ErrorKind.INFRA, Cause.INFRA, "infrastructure", 4),
        (ErrorKind.SETUP, Cause.INFRA, "infrastructure", 4),
        (ErrorKind.INTERRUPTED, Cause.EXCEPTION, "interrupted", 130),
    ],
)
def test_an_execution_error_is_red_whatever_the_cases_say(world, kind, cause, found: str, code: int) -> None:
    world.outcomes = {"a.py::one": P}
    world.errors = (ExecutionError(kind=kind, message="it broke", cause=cause, unit="a.py"),)
    assert world.kinds() == [found]
    assert world.verdict().exit_code == code


def test_a_crash_is_not_also_a_changed_contract(world) -> None:
    world.outcomes = {"a.py::one": P}
    world.ratchet = 'membership: grows\ncontract: {package.numpy: "2.4"}\n'
    world.errors = (ExecutionError(kind=ErrorKind.WORKER_CRASHED, message="died", unit="a.py"),)
    assert world.kinds() == ["execution_error"]


def test_a_unit_that_never_ran_is_missing(world) -> None:
    world.outcomes = {"a.py::one": P}

    def silent(lane):
        report = dataclasses.replace(lane.seen, report=_without_workers(lane.seen.report))
        return dataclasses.replace(lane, seen=report)

    world.change = silent
    assert world.kinds() == ["missing"]


def _without_workers(report):
    import msgspec

    return msgspec.structs.replace(report, workers=())


def test_a_reviewed_failure_is_green(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": F}
    world.ratchet = group()
    assert world.kinds() == []


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"signature": '"KeyError call a:f"'}, "changed_failure"),
        ({"match": "exact"}, "changed_failure"),
        ({"outcome": "error"}, "changed_outcome"),
        ({"reason": "UNREVIEWED"}, "unreviewed"),
        ({"reason": ""}, "unreviewed"),
        ({"expires": "2026-11-30"}, "expired"),
        ({"cases": "{a.py: [bad, gone]}"}, "unmatched_entry"),
        ({"cases": "{a.py: [{glob: 'b*', count: 2}]}"}, "glob_count"),
        ({"cases": "{a.py: [bad, {glob: 'z*', count: 2}]}"}, "unmatched_entry"),
        ({"when": "{system: windows}"}, "regression"),
        ({"when": "{device.arch: sm_90}"}, "regression"),
        (
            {"outcome": "[passed, failed]", "seen": "{runs: 10, failed: 5, max_rate: 0.2}"},
            "too_intermittent",
        ),
    ],
)
def test_an_expectation_that_does_not_fit_is_red(world, changes: dict[str, str], kind: str) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": F}
    world.ratchet = group(**changes)
    assert world.kinds() == [kind]


def test_exact_takes_the_whole_signature_and_any_takes_all(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": F}
    world.ratchet = group(match="exact", signature='"ValueError call a:f: message"')
    assert world.kinds() == []
    world.ratchet = group(match="any", signature="")
    assert world.kinds() == []


def test_a_case_that_passes_now_must_be_promoted(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": P}
    world.ratchet = group()
    assert world.kinds() == ["unexpected_pass"]


def test_an_intermittent_case_may_do_either(world) -> None:
    for outcome in (P, F):
        world.outcomes = {"a.py::one": P, "a.py::bad": outcome}
        world.ratchet = group(outcome="[passed, failed]", seen="{runs: 10, failed: 1, max_rate: 0.2}")
        assert world.kinds() == []


def test_conditions_hold_by_value_list_and_specifier(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": F}
    for when in ("{python: '3.11'}", "{python: '>=3.11,<3.12'}", "{system: [windows-x86_64, linux-x86_64]}"):
        world.ratchet = group(when=when)
        assert world.kinds() == []


def test_two_groups_for_a_case_conflict(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": F}
    world.ratchet = group() + group().split("groups:\n")[1].replace("  g:", "  h:")
    assert world.kinds() == ["conflicting_entries"]


def test_a_locked_suite_names_lost_and_new_cases(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::new": P}
    world.ratchet = "membership: locked\n"
    world.members = {"a.py": ["one", "lost"]}
    assert sorted(world.kinds()) == ["missing", "unlisted_case"]


def test_a_growing_suite_takes_new_passes_and_names_lost_cases(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::new": P}
    world.ratchet = "membership: grows\n"
    world.members = {"a.py": ["one", "lost"]}
    found = world.blocking()
    assert [(finding.kind, finding.cases) for finding in found] == [("missing", ("a.py::lost",))]
    world.outcomes["a.py::new"] = F
    assert sorted(world.kinds()) == ["missing", "regression"]


def test_nothing_outside_the_selection_is_judged(world) -> None:
    world.outcomes = {"a.py::one": P}
    world.members = {"a.py": ["one"], "b.py": ["two"]}
    world.ratchet = group(cases="{b.py: [two]}").replace("grows", "locked") + "floor: 5\n"
    world.selection = Selection(units=("a.py",), why="sample")
    assert world.kinds() == []
    world.selection = Selection()
    world.units = ("a.py", "b.py")
    assert sorted(world.kinds()) == ["missing", "too_few_passed"]


def test_absent_and_withheld_members(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::hangs": (Outcome.NOT_RUN, "hangs the card")}
    world.members = {"a.py": ["one", "hangs", "elsewhere"]}
    world.ratchet = (
        "absent:\n  other: {reason: only on Windows, cases: {a.py: [elsewhere]}}\n"
        "withheld:\n  hang: {reason: hangs the card, cases: {a.py: [hangs]}}\n"
    )
    assert world.kinds() == []
    world.outcomes["a.py::elsewhere"] = P
    world.outcomes["a.py::hangs"] = P
    assert sorted(world.kinds()) == ["changed_outcome", "stale_absent"]


def test_skips_are_accepted_by_reason_up_to_a_ceiling(world) -> None:
    world.ratchet = "membership: grows\nskips: [{reason: 'needs *', ceiling: 1, why: the runner has none}]\n"
    world.outcomes = {"a.py::one": P, "a.py::s": (S, "needs a card")}
    assert world.kinds() == []
    world.outcomes["a.py::t"] = (S, "needs a disk")
    assert world.kinds() == ["skip_ceiling"]
    world.outcomes["a.py::t"] = (S, "because")
    assert world.kinds() == ["unreviewed_skip"]


def test_a_skip_rule_without_a_reviewed_why_accepts_nothing(world) -> None:
    world.ratchet = "membership: grows\nskips: [{reason: '*', ceiling: 9, why: UNREVIEWED}]\n"
    world.outcomes = {"a.py::one": P, "a.py::s": (S, "needs a card")}
    assert world.kinds() == ["unreviewed_skip"]


def test_another_contract_is_one_finding(world) -> None:
    world.outcomes = {"a.py::one": P}
    world.ratchet = 'membership: grows\ncontract: {python: "3.12", system: linux-x86_64}\n'
    assert world.kinds() == ["contract_changed"]
    world.ratchet = "membership: grows\nsignature_scheme: 2\n"
    assert world.kinds() == ["contract_changed"]
    world.ratchet = 'membership: grows\ncontract: {package.numpy: "2.4"}\n'
    assert world.kinds() == ["contract_changed"]


def test_what_the_base_shows_too_is_inherited_and_does_not_block(world) -> None:
    world.outcomes = {"a.py::one": P, "a.py::bad": F}
    world.base = {"a.py::bad": (F, "ValueError call a:f")}
    verdict = world.verdict()
    assert verdict.exit_code == 0
    assert [finding.kind for finding in verdict.findings] == [FindingKind.INHERITED]
    world.base = {"a.py::bad": (F, "KeyError call a:f")}
    assert world.kinds() == ["regression"]
    world.base = {"a.py::bad": (P, "")}
    assert world.kinds() == ["regression"]


def test_flaky_is_shown_and_does_not_block(world) -> None:
    world.outcomes = {"a.py::one": P}
    world.tries = {"a.py::one": [F, P]}
    assert [finding.kind for finding in world.verdict().findings] == [FindingKind.FLAKY]
    assert world.verdict().exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (group(expires=""), "a day on which it expires"),
        (group(signature=""), "needs a signature"),
        (group(outcome="[passed, failed]"), "seen"),
        (group(outcome="passed"), "needs no expectation"),
        (group(outcome="not_run"), "absent or withheld"),
        (group(cases="{a.py: ['b*']}"), "holds a *"),
        (group(cases="{a.py: [{glob: 'b*'}]}"), "exact count"),
        (group(cases="{a.py: []}"), "names no case"),
        (group(when="{python: '>=x'}"), "no version specifier"),
        ("membership: grow\n", "must be one of locked, grows"),
        ("skips: [{reason: a, ceiling: 0, why: b}]\n", "at least 1"),
    ],
)
def test_a_ratchet_that_can_not_be_right_is_refused_with_its_line(world, text: str, said: str) -> None:
    world.ratchet = text
    with pytest.raises(UsageError, match=r"cpu\.yml:[0-9]+: ") as caught:
        world.loaded()
    assert said in str(caught.value)


OUTCOMES = st.sampled_from(list(Outcome))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.sampled_from([f"a.py::t{n}" for n in range(8)]), OUTCOMES), st.randoms())
def test_green_needs_every_case_passed_and_order_does_not_matter(world, outcomes, random) -> None:
    world.outcomes = dict(outcomes)
    verdict = world.verdict()
    assert (verdict.exit_code == 0) == (bool(outcomes) and set(outcomes.values()) == {P})
    shuffled = list(outcomes.items())
    random.shuffle(shuffled)
    world.outcomes = dict(shuffled)
    again = world.verdict()
    assert [(f.key, f.kind, f.cases) for f in again.findings] == [(f.key, f.kind, f.cases) for f in verdict.findings]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.sampled_from([f"a.py::t{n}" for n in range(6)]), OUTCOMES, min_size=1))
def test_more_faults_never_turn_a_red_lane_green(world, outcomes) -> None:
    world.outcomes = dict(outcomes)
    before = world.verdict().exit_code
    world.outcomes["a.py::more"] = F
    assert world.verdict().exit_code != 0
    assert before == 0 or world.verdict().exit_code >= 1


def test_what_befell_many_units_alike_is_one_finding(world) -> None:
    world.outcomes = {"a.py::one": P}
    world.units = tuple(f"{n}.py" for n in range(5))
    world.errors = tuple(
        ExecutionError(kind=ErrorKind.INTERRUPTED, message="stopped before it started", unit=unit)
        for unit in world.units
    )
    found = world.blocking()
    assert [(finding.kind, finding.count) for finding in found] == [("interrupted", 5)]
    assert found[0].cases == world.units


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"attempt": 2}, "older_attempt"),
        ({"builds": {"ops": "sha256:1"}}, "another_build"),
    ],
)
def test_evidence_of_something_else_is_named(world, change: dict[str, object], kind: str) -> None:
    world.outcomes = {"a.py::one": P}
    for name, value in change.items():
        setattr(world, name, value)
    assert world.kinds() == [kind]
    assert world.verdict().exit_code == 3


def test_evidence_of_another_plan_with_the_same_lane_is_refused(world) -> None:
    world.outcomes = {"a.py::one": P}
    found = world.input()
    plan = msgspec.structs.replace(world.plan(), notes=("planned once more",))
    verdict = judge(plan, {"s-cpu": found}, datetime.date(2026, 12, 1))
    assert [finding.kind for finding in verdict.findings] == [FindingKind.ANOTHER_PLAN]


@pytest.mark.parametrize(
    ("asked", "had"),
    [
        (ExpectedDevice(module="cuda", arch="sm_90"), [("cuda", "sm_80")]),
        (ExpectedDevice(module="cuda"), [("cpu", "")]),
        (ExpectedDevice(module="cuda", count=2), [("cuda", "sm_90")]),
        (ExpectedDevice(module="cpu"), []),
    ],
)
def test_a_lane_on_another_device_is_not_green_though_all_passed(world, asked, had) -> None:
    world.outcomes = {"a.py::one": P}
    world.device, world.devices = asked, had
    assert set(world.kinds()) == {"wrong_device"}
    assert world.verdict().exit_code == 4


def test_a_machine_without_the_device_is_one_finding(world) -> None:
    message = "asks for cuda of architecture sm_90, this machine has sm_80"
    world.errors = (ExecutionError(kind=ErrorKind.WRONG_DEVICE, message=message, cause=Cause.INFRA),)
    world.device, world.devices, world.units = ExpectedDevice(module="cuda", arch="sm_90"), [], ()
    assert world.kinds() == ["wrong_device", "lane_empty"]
    assert world.verdict().exit_code == 4
