"""Shards: each unit has one, known or not, whatever the order, and the long ones are spread."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import UsageError
from ci_toolkit.model.plan import ExpectedDevice, Lane, Selection
from ci_toolkit.plan.shards import assigned

UNITS = st.text("abc/_.py\udc80", min_size=1, max_size=8)
KNOWN = st.dictionaries(UNITS, st.floats(0, 1e6), max_size=12)


def shards(of: int, known: dict[str, float], units: tuple[str, ...] | None = None) -> list[Lane | None]:
    lane = Lane(id="s", suite="s", kind="pytest", platform="cpu", timeout_s=9, device=ExpectedDevice(module="cpu"))
    selection = Selection(units=units, why="named")
    return [
        assigned(msgspec.structs.replace(lane, shard=(number, of), selection=selection), known)
        for number in range(1, of + 1)
    ]


@given(st.integers(2, 9), KNOWN, st.sets(UNITS))
def test_each_unit_of_a_whole_suite_has_one_shard_also_one_that_nobody_knew(of, known, found) -> None:
    covers = [lane.covers() for lane in shards(of, known) if lane]
    assert len(covers) == of
    for unit in {*known, *found}:
        assert sum(one(unit) for one in covers) == 1


@given(st.integers(2, 9), KNOWN, st.sets(UNITS, min_size=1))
def test_each_selected_unit_has_one_shard_and_a_shard_without_one_does_not_run(of, known, chosen) -> None:
    made = [lane for lane in shards(of, known, tuple(chosen)) if lane]
    assert sorted(unit for lane in made for unit in lane.selection.units or ()) == sorted(chosen)
    assert all(lane.selection.units for lane in made)
    assert {lane.selection.why for lane in made} == {"named"}


@given(st.integers(2, 5), KNOWN, st.randoms())
def test_the_order_in_which_units_are_known_does_not_matter(of, known, random) -> None:
    items = list(known.items())
    random.shuffle(items)
    assert shards(of, dict(items)) == shards(of, known)


@given(st.integers(2, 9), st.dictionaries(UNITS, st.floats(0.001, 1e6), min_size=1, max_size=40))
def test_no_shard_takes_much_longer_than_its_part(of, known) -> None:
    """Each longest first onto the least loaded: Graham's bound of 4/3 - 1/(3n) of the best."""
    loads = [sum(known[unit] for unit in lane.selection.mine) for lane in shards(of, known) if lane]
    best = max(max(known.values()), sum(known.values()) / of)
    assert max(loads) <= sum(known.values()) / of + max(known.values())
    if len(known) <= of:
        assert max(loads) == pytest.approx(best)


def test_conf_makes_the_lanes_and_the_planner_spreads_the_files(conf) -> None:
    catalogue = conf(
        suites="schema: suites/1\nsuites: {s: {platforms: [cpu, card], shards: {card: 3}}}\n", selection=""
    )
    assert [one.lane.id for one in catalogue.lanes] == ["s-cpu", "s-card-1of3", "s-card-2of3", "s-card-3of3"]
    assert catalogue.lane("s-card").lane.id == "s-card-1of3"


@pytest.mark.parametrize(
    ("shards", "said"),
    [("0", "suites.s.shards: can be 1 to 256"), ("{tpu: 2}", "'tpu'"), ("{cpu: 999}", "suites.s.shards.cpu: can be")],
)
def test_shards_that_can_not_be(conf, shards: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        conf(suites=f"schema: suites/1\nsuites: {{s: {{platforms: [cpu], shards: {shards}}}}}\n", selection="")
    assert said in f"{caught.value.where}: {caught.value.message}"
