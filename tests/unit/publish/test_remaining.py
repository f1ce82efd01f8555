"""How long a run still takes: from earlier runs, and never a guess where there were none."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.formats.durations import Duration, Durations
from ci_toolkit.model.plan import ExpectedDevice, Lane, Plan, Selection
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.publish.remaining import Remaining

DAY = datetime.date(2026, 12, 1)


def plan(units=None, shard=None, mine=(), others=()):
    lane = Lane(
        id="s-cpu",
        suite="s",
        kind="pytest",
        platform="cpu",
        timeout_s=9,
        device=ExpectedDevice(module="cpu"),
        selection=Selection(units=units, mine=mine, others=others),
        shard=shard,
    )
    return Plan(provenance=Provenance(toolkit="0", run="r", conf_digest="c"), conf_digest="c", lanes=(lane,))


def known(**seconds):
    return Durations(lanes={"s-cpu": {unit: Duration(seen=DAY, seconds=(spent,)) for unit, spent in seconds.items()}})


@pytest.mark.parametrize(
    ("units", "slots", "left"),
    [
        (None, 1, 60.0),
        (None, 2, 30.0),
        (None, 6, 30.0),
        (("b",), 1, 20.0),
        (("b", "new"), 1, 40.0),
    ],
)
def test_what_waits_is_shared_by_the_workers_and_none_is_split(units, slots, left) -> None:
    assert Remaining(plan(units), known(a=10.0, b=20.0, c=30.0), slots).seconds([]) == left


def test_what_runs_counts_for_the_rest_of_its_time() -> None:
    remaining = Remaining(plan(), known(a=10.0, b=20.0), 1)
    remaining.begin(("s-cpu", "b"))
    assert remaining.seconds([(("s-cpu", "b"), 5.0)]) == 25.0
    assert remaining.seconds([(("s-cpu", "b"), 50.0)]) == 10.0
    remaining.begin(("s-cpu", "a"))
    assert remaining.seconds([]) == 0.0


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert Remaining(plan(("a",)), Durations(), 4).seconds([(("s-cpu", "a"), 1.0)]) is None


def test_the_units_of_another_shard_are_not_waited_for() -> None:
    remaining = Remaining(plan(shard=(1, 2), mine=("a",), others=("b",)), known(a=10.0, b=20.0), 1)
    assert remaining.seconds([]) == 10.0
    remaining.begin(("s-cpu", "a"))
    assert remaining.seconds([(("s-cpu", "a"), 4.0)]) == 6.0


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1e6), min_size=1), st.integers(1, 9))
def test_it_shrinks_with_every_unit_that_ends(seconds, slots) -> None:
    remaining = Remaining(plan(), known(**seconds), slots)
    before = remaining.seconds([])
    for unit in seconds:
        remaining.begin(("s-cpu", unit))
        assert remaining.seconds([]) <= before + 1e-6
        before = remaining.seconds([])
    assert before == 0.0
