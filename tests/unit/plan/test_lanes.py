"""The plan of a machine: what runs, what is left out and why."""

import dataclasses
import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_toolkit.catalogue.load import Catalogue, load_catalogue
from ci_toolkit.errors import NothingSelectedError, UsageError
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.formats.durations import Durations
from ci_toolkit.model.facts import fits
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.plan.lanes import Machine, Wish, make_plan

TODAY = datetime.date(2026, 12, 1)
SUITES = """
schema: suites/1
suites:
  one: {platforms: [cpu, gpu], sample: [a.py]}
  two: {platforms: [cpu], requires: {python: "3.11", package.numpy: ">=2"}}
"""


def conf(folder: Path, fleet: str = "") -> Catalogue:
    folder.joinpath("platforms.yml").write_text("schema: platforms/1\nplatforms: {cpu: {}, gpu: {device: cuda}}\n")
    folder.joinpath("suites.yml").write_text(SUITES)
    if fleet:
        folder.joinpath("fleet.yml").write_text(f"schema: fleet/1\n{fleet}")
    return load_catalogue(folder)


FACTS = {"python": "3.11.7", "package.numpy": "2.4.1"}
MACHINE = Machine(
    absent={"one-cpu": "", "one-gpu": "no card", "two-cpu": ""}, facts={"one-cpu": FACTS, "two-cpu": FACTS}
)


EVERYTHING = Wish()


def plan(catalogue: Catalogue, wish: Wish = EVERYTHING, machine: Machine = MACHINE):
    return make_plan(catalogue, machine, wish, Durations(), provenance=Provenance(toolkit="0"), today=TODAY)


def test_what_the_machine_has_not_is_left_out_with_its_reason(tmp_path: Path) -> None:
    made = plan(conf(tmp_path))
    assert [lane.id for lane in made.lanes] == ["one-cpu", "two-cpu"]
    assert [(left.id, left.reason, left.named) for left in made.left_out] == [("one-gpu", "no card", False)]


def test_a_lane_that_was_named_and_can_not_run_is_marked(tmp_path: Path) -> None:
    assert plan(conf(tmp_path), Wish(only=("one-gpu",))).left_out[0].named
    assert not plan(conf(tmp_path), Wish(only=("one-*",))).left_out[0].named


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"python": "3.12.1", "package.numpy": "2.4"}, "python is 3.12.1 (it needs 3.11)"),
        ({"python": "3.1.0", "package.numpy": "2.4"}, "python is 3.1.0"),
        ({"python": "3.11.7", "package.numpy": "1.26"}, "numpy is 1.26 (it needs >=2)"),
        ({"python": "3.11.7"}, "numpy is not there"),
    ],
)
def test_requirements_that_are_not_met(tmp_path: Path, facts: dict[str, str], said: str) -> None:
    machine = dataclasses.replace(MACHINE, facts={"two-cpu": facts})
    made = plan(conf(tmp_path), Wish(only=("two-cpu",)), machine)
    assert made.lanes == ()
    assert said in made.left_out[0].reason


def test_samples_are_for_the_fast_tier(tmp_path: Path) -> None:
    fast, full = plan(conf(tmp_path)), plan(conf(tmp_path), Wish(full=True))
    assert fast.lanes[0].selection.units == ("a.py",)
    assert full.lanes[0].selection.units is None


def test_a_glob_without_a_lane_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(NothingSelectedError, match="did you mean 'one-gpu'") as caught:
        plan(conf(tmp_path), Wish(only=("one-gpuu",)))
    assert caught.value.exit_code == 5


def test_a_switch_leaves_lanes_out_until_its_day_and_never_expires_in_silence(tmp_path: Path) -> None:
    made = plan(conf(tmp_path, 'switched_off: [{lanes: "one-*", reason: fan is loud, until: 2026-12-01}]\n'))
    assert made.left_out[0].reason == "switched off until 2026-12-01: fan is loud"
    with pytest.raises(UsageError, match=r"fleet\.yml:2: .*the switch expired on 2026-11-30"):
        plan(conf(tmp_path, 'switched_off: [{lanes: "one-*", reason: fan is loud, until: 2026-11-30}]\n'))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20)
@given(st.randoms())
def test_the_order_of_conf_does_not_matter(tmp_path: Path, random) -> None:
    catalogue = conf(tmp_path)
    lanes = list(catalogue.lanes)
    random.shuffle(lanes)
    shuffled = plan(dataclasses.replace(catalogue, lanes=tuple(lanes)))
    assert digest_of(shuffled) == digest_of(plan(catalogue))


def test_values_fit_before_a_dot_and_specifiers_by_version() -> None:
    assert fits("3.11", "3.11.7")
    assert not fits("3.1", "3.11")
    assert fits(">=2.12", "2.13.0+cpu")
    assert not fits(">=2.12", "unknown")


@pytest.mark.parametrize("wanted", [">=x", "=>3", "=3", "!3", "~3", "<>3", ">=2,=>1"])
def test_what_begins_like_a_specifier_and_is_none_is_never_taken_for_a_value(wanted: str) -> None:
    with pytest.raises(ValueError, match="no version specifier"):
        fits(wanted, "3.1")


def test_a_switched_off_lane_is_left_out_for_that_even_where_there_is_no_card(tmp_path: Path) -> None:
    made = plan(conf(tmp_path, 'switched_off: [{lanes: "one-gpu", reason: board is away, until: 2027-01-01}]\n'))
    assert [left.reason for left in made.left_out] == ["switched off until 2027-01-01: board is away"]


def test_every_lane_is_planned_or_left_out_with_a_reason(tmp_path: Path) -> None:
    catalogue = conf(tmp_path)
    for absent in ({}, {"one-cpu": "x"}, {"one-cpu": "x", "one-gpu": "y", "two-cpu": "z"}):
        made = plan(catalogue, machine=Machine(absent, {}))
        assert {*(lane.id for lane in made.lanes), *(left.id for left in made.left_out)} == set(catalogue.by_id())
        assert all(left.reason for left in made.left_out)


def test_a_lane_that_was_named_twice_is_one_lane(tmp_path: Path) -> None:
    made = plan(conf(tmp_path), Wish(only=("one-cpu", "one-*", "one-cpu")))
    assert [lane.id for lane in made.lanes] == ["one-cpu"]
    assert [left.id for left in made.left_out] == ["one-gpu"]


def test_only_a_star_is_special_in_a_wish(tmp_path: Path) -> None:
    for glob in ("one-?pu", "one-[cg]pu", ""):
        with pytest.raises(NothingSelectedError):
            plan(conf(tmp_path), Wish(only=(glob,)))
