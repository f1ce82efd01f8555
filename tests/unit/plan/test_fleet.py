"""The plan of an event: what changed files, labels, tiers and switches select, and the reason for all the rest."""

import dataclasses
import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.errors import UsageError
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.formats.durations import Duration, Durations
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.plan.event import Changes, Event
from ci_toolkit.plan.fleet import plan_fleet
from ci_toolkit.plan.lanes import Wish

TODAY = datetime.date(2026, 12, 1)
PRESENT = frozenset({"tests/test_add.py", "tests/test_mul.py", "core_tests/test_core.py"})
ALL = {"ops-cpu", "ops-card", "core-cpu"}


def plan(catalogue: Catalogue, event: Event, wish: Wish | None = None, durations: Durations | None = None) -> Plan:
    return plan_fleet(
        catalogue, event, wish or Wish(), durations or Durations(), provenance=Provenance(toolkit="0"), today=TODAY
    )


def pull(*files: str, labels: tuple[str, ...] = ()) -> Event:
    return Event("pull_request", labels=labels, changes=Changes(files, "abc"), present=PRESENT)


def ids(made: Plan) -> set[str]:
    return {lane.id for lane in made.lanes}


def test_a_row_of_the_table_selects_units(conf) -> None:
    made = plan(conf(), pull("src/ops/mul.py", "README.md"))
    assert ids(made) == {"ops-cpu", "ops-card"}
    assert {lane.selection.units for lane in made.lanes} == {("test_mul.py",)}
    assert made.left_out[0].reason == "nothing that it tests has changed"
    assert made.change
    assert (made.change.files, made.change.code) == (2, 1)


def test_units_of_several_rows_are_united_and_the_whole_wins(conf) -> None:
    made = plan(conf(), pull("src/ops/mul.py", "src/ops/add.py"))
    assert made.lanes[0].selection.units == ("test_add.py", "test_mul.py")
    made = plan(conf(), pull("src/ops/mul.py", "src/core/x.py"))
    assert ids(made) == ALL
    assert {lane.id: lane.selection.units for lane in made.lanes}["ops-cpu"] == ("test_add.py",), "the tier's sample"


def test_a_test_file_that_is_not_there_selects_the_whole_suite(conf) -> None:
    made = plan(conf(), pull("src/ops/gone.py"))
    assert ids(made) == {"ops-cpu", "ops-card"}
    assert all("not there" in lane.why for lane in made.lanes)
    assert all(lane.selection.units == ("test_add.py",) for lane in made.lanes)


def test_a_source_that_no_path_names_selects_the_fall_back(conf) -> None:
    made = plan(conf(), pull("src/other.py"))
    assert ids(made) == {"core-cpu"}
    assert made.change
    assert "no path names src/other.py" in made.change.why


@pytest.mark.parametrize("file", [".github/workflows/ci.yml", "conf/suites.yml", "action.yml", "conf/notes.md"])
def test_what_decides_what_runs_runs_all(conf, file: str) -> None:
    assert ids(plan(conf(), pull(file))) == ALL


def test_changes_that_are_not_known_narrow_nothing(conf) -> None:
    made = plan(conf(), Event("pull_request", changes=Changes(None, why="the event has no base")))
    assert ids(made) == ALL
    assert made.change
    assert made.change.why == "everything: the event has no base"
    assert not made.may_be_empty


def test_a_change_of_no_file_narrows_nothing(conf) -> None:
    """A workflow on ``pull_request_target`` checks out the base: nothing differs from it."""
    made = plan(conf(), pull())
    assert ids(made) == ALL
    assert not made.may_be_empty


def test_only_non_code_may_plan_nothing(conf) -> None:
    made = plan(conf(), pull("README.md", "docs/x/y.py"))
    assert not made.lanes
    assert not made.jobs
    assert made.may_be_empty
    assert {left.id for left in made.left_out} == ALL


def test_no_lane_for_a_change_of_code_is_never_right(conf) -> None:
    fleet = 'schema: fleet/1\nswitched_off: [{lanes: "*", reason: the lab moves, until: 2027-01-01}]\n'
    made = plan(conf(fleet=fleet), pull("src/ops/mul.py"))
    assert not made.lanes
    assert not made.may_be_empty
    assert {left.reason for left in made.left_out} == {"switched off until 2027-01-01: the lab moves"}


@pytest.mark.parametrize("name", ["push", "merge_group", "schedule", "workflow_dispatch"])
def test_other_events_run_their_tier_whatever_changed(conf, name: str) -> None:
    made = plan(conf(), Event(name, changes=Changes(("README.md",))))
    assert ids(made) == ALL
    assert made.change is None
    assert not made.may_be_empty


def test_labels_add_lanes_and_raise_the_tier(conf) -> None:
    made = plan(conf(), pull("src/other.py", labels=("ci: card", "unknown")))
    assert ids(made) == {"core-cpu", "ops-card"}
    made = plan(conf(), pull("src/core/x.py", labels=("ci: full",)))
    assert made.tier == "nightly"
    assert all(lane.selection.units is None for lane in made.lanes)


def test_names_that_no_rule_knows_are_refused(conf) -> None:
    with pytest.raises(UsageError, match="no rule for the event 'release'; known: pull_request"):
        plan(conf(), Event("release"))
    with pytest.raises(UsageError, match="there is no tier 'week'"):
        plan(conf(), Event("push", tier="week"))


def test_a_platform_without_labels_can_not_be_planned(conf) -> None:
    platforms = "schema: platforms/1\nplatforms: {cpu: {}, card: {device: cuda, runs_on: [x]}}\n"
    with pytest.raises(UsageError, match="cpu has no runner labels"):
        plan(conf(platforms=platforms), Event("push"))


def test_a_lane_may_take_less_only_where_all_its_units_are_known(conf) -> None:
    day = datetime.date(2026, 11, 30)
    known = Durations(lanes={"ops-cpu": {"test_add.py": Duration(seen=day, seconds=(400.0,))}})
    times = {lane.id: (lane.expected_s, lane.timeout_s) for lane in plan(conf(), Event("push"), durations=known).lanes}
    assert times == {"ops-cpu": (400.0, 1200.0), "ops-card": (None, 3600.0), "core-cpu": (None, 3600.0)}
    whole = plan(conf(), Event("push"), Wish(full=True), known)
    assert {lane.id: lane.timeout_s for lane in whole.lanes}["ops-cpu"] == 3600.0


FILES = st.lists(
    st.sampled_from(["README.md", "src/ops/add.py", "src/ops/mul.py", "src/core/a.py", "src/x.py", "conf/a.yml"]),
    unique=True,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(FILES, st.randoms(), st.sets(st.sampled_from(["ci: card", "ci: full"])))
def test_every_lane_is_in_one_job_or_left_out_with_a_reason(conf, files: list[str], random, labels: set[str]) -> None:
    catalogue = conf()
    made = plan(catalogue, pull(*files, labels=tuple(sorted(labels))))
    in_jobs = sorted(lane for job in made.jobs for lane in job.lanes)
    assert in_jobs == sorted(ids(made))
    assert ids(made) | {left.id for left in made.left_out} == ALL
    assert len(made.lanes) + len(made.left_out) == len(ALL)
    assert all(left.reason for left in made.left_out)
    assert all(lane.why for lane in made.lanes)
    assert made.lanes or made.may_be_empty == (set(files) <= {"README.md"})
    confs, again = list(catalogue.lanes), list(files)
    random.shuffle(confs)
    random.shuffle(again)
    shuffled = dataclasses.replace(catalogue, lanes=tuple(confs))
    assert digest_of(plan(shuffled, pull(*again, labels=tuple(sorted(labels))))) == digest_of(made)
