"""Every unit starts once, never on more devices than are free, in a fixed order; a wide one waits a bounded time."""

import heapq
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.workers.queue import PASSES_PER_DEVICE, Entry, Queue, assign, quantile

seconds = st.floats(0, 1000, allow_nan=False)
pools = st.integers(1, 9)


def entries(devices, narrowest=0, least=0):
    one = st.tuples(st.integers(narrowest, devices), st.none() | seconds)
    many = st.lists(one, min_size=least, max_size=60)
    return many.map(lambda drawn: [Entry(key, *rest) for key, rest in enumerate(drawn)])


def simulate(queue, devices, slots, actual, arrivals=None):
    """Runs all of ``queue``; gives the started entries in order, and when the last one ends."""
    now, free, running, started = 0.0, devices, [], []
    while True:
        while (entry := queue.peek(free, slots - len(running))) is not None:
            assert queue.take(free, slots - len(running)) == entry
            assert entry.width <= free
            assert len(running) < slots
            free -= entry.width
            started.append(entry)
            heapq.heappush(running, (now + actual(entry), len(started), entry.width))
            if arrivals:
                queue.add(arrivals(started))
        if not running:
            return started, now
        now, _, width = heapq.heappop(running)
        free += width


@given(st.data(), pools, st.integers(1, 9))
def test_every_entry_starts_once_and_within_what_is_free(data, devices, slots):
    drawn = data.draw(entries(devices))
    actual = {entry.key: data.draw(seconds) for entry in drawn}
    queue = Queue(devices, drawn)
    started, _ = simulate(queue, devices, slots, lambda entry: actual[entry.key])
    assert sorted(entry.key for entry in started) == [entry.key for entry in drawn]
    assert len(queue) == 0


@given(st.data(), pools)
def test_the_order_is_the_same_each_time(data, devices):
    drawn = data.draw(entries(devices))
    both = [simulate(Queue(devices, drawn), devices, 4, lambda entry: entry.width + 1) for _ in range(2)]
    assert both[0] == both[1]


@given(st.data(), pools)
def test_narrow_units_end_within_twice_the_bound_whatever_was_expected(data, devices):
    drawn = [Entry(entry.key, 1, entry.seconds) for entry in data.draw(entries(devices, least=1))]
    actual = [data.draw(seconds) for _ in drawn]
    _, makespan = simulate(Queue(devices, drawn), devices, devices, lambda entry: actual[entry.key])
    assert makespan <= 2 * max(sum(actual) / devices, *actual, 0.0) + 1e-6


@given(st.data(), pools)
def test_with_exact_expectations_narrow_units_end_within_one_and_a_half_of_the_bound(data, devices):
    """No order is better than the mean, the longest unit, or the two that must share a device."""
    drawn = [Entry(key, 1, data.draw(seconds)) for key in range(data.draw(st.integers(1, 40)))]
    _, makespan = simulate(Queue(devices, drawn), devices, devices, lambda entry: entry.seconds)
    spent = sorted((entry.seconds for entry in drawn), reverse=True)
    shared = sum(spent[devices - 1 : devices + 1]) if len(spent) > devices else 0.0
    assert makespan <= 1.5 * max(sum(spent) / devices, spent[0], shared) + 1e-6


@given(st.data(), st.integers(2, 9))
def test_the_first_in_the_order_is_passed_a_bounded_number_of_times(data, devices):
    drawn = data.draw(entries(devices, narrowest=1, least=1))
    queue = Queue(devices, drawn)
    first = queue.waiting[0]
    started, _ = simulate(queue, devices, devices, lambda entry: 1 + hash(entry.key) % 7)
    assert started.index(first) <= PASSES_PER_DEVICE * devices


def test_a_wide_unit_does_not_starve_when_long_narrow_ones_keep_coming():
    """Two of the four devices are always busy, and each start brings another unit that is longer than the wide one."""
    devices, limit = 4, PASSES_PER_DEVICE * 4
    queue = Queue(devices, [Entry("wide", 2, 1.0), *(Entry(f"first {number}", 1, 9.0) for number in range(4))])

    def arrivals(started):
        return [Entry(f"late {len(started)}", 1, 50.0 + len(started))] if len(started) < 500 else []

    started, _ = simulate(queue, devices, devices, lambda entry: 5.0 + len(str(entry.key)) % 3, arrivals)
    at = [entry.key for entry in started].index("wide")
    assert len(started) > 500
    assert at <= limit + 4


def test_a_short_unit_does_not_starve_when_longer_ones_keep_coming():
    queue = Queue(1, [Entry("short", 1, 0.1)])
    queue.add([Entry("late", 1, 5.0)])
    taken = []
    while (entry := queue.take(1, 1)) and entry.key != "short":
        taken.append(entry)
        queue.add([Entry(f"late {len(taken)}", 1, 5.0)])
    assert len(taken) == PASSES_PER_DEVICE


def test_a_unit_that_needs_the_host_only_goes_on_while_a_wide_one_waits():
    queue = Queue(2, [Entry("wide", 2, 9.0), *(Entry(f"narrow {number}", 1, 1.0) for number in range(20))])
    passed = [queue.take(1, 1) for _ in range(PASSES_PER_DEVICE * 2)]
    assert {entry.width for entry in passed} == {1}
    assert queue.take(1, 1) is None
    queue.add([Entry("host", 0)])
    assert queue.take(1, 0) is None
    assert queue.take(1, 1).key == "host"
    assert queue.take(1, 1) is None
    assert queue.take(2, 1).key == "wide"
    assert queue.take(1, 1).key == "narrow 8"


def test_longest_device_time_first_and_equals_as_declared():
    drawn = [Entry("a", 1, 2.0), Entry("b", 2, 4.0), Entry("c", 4, 2.0), Entry("d", 1, 9.0), Entry("e", 0, 8.5)]
    assert [entry.key for entry in Queue(8, drawn).waiting] == ["d", "e", "b", "c", "a"]


def test_units_of_which_no_two_fit_come_first_and_the_widest_of_them():
    drawn = [Entry("long", 1, 900.0), Entry("half", 4, 90.0), Entry("more", 5, 3.0), Entry("all", 8, 2.0)]
    assert [entry.key for entry in Queue(8, drawn).waiting] == ["all", "more", "long", "half"]


def test_unknown_durations_count_as_long_ones():
    known = [Entry(number, 1, float(number)) for number in range(100)]
    order = [entry.key for entry in Queue(8, [Entry("new", 1), *known]).waiting]
    assert order[:4] == [99, "new", 98, 97]


def test_without_any_knowledge_the_order_is_the_declared_one():
    drawn = [Entry("c", 1), Entry("a", 3), Entry("b", 2), Entry("h", 0)]
    assert [entry.key for entry in Queue(8, drawn).waiting] == ["c", "a", "b", "h"]


def test_a_pool_that_loses_devices_gives_out_what_never_fits():
    queue = Queue(4, [Entry("all", 4), Entry("two", 2, 3.0), Entry("one", 1, 9.0)])
    assert [entry.key for entry in queue.shrink(2)] == ["all"]
    assert [entry.key for entry in queue.waiting] == ["two", "one"]


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        ([Entry("x", 3)], "x needs 3 devices, there are 2"),
        ([Entry("x", 1), Entry("x", 1)], "x waits already"),
    ],
)
def test_what_can_not_wait_is_refused(drawn, said):
    with pytest.raises(ValueError, match=said):
        Queue(2, drawn)


@pytest.mark.parametrize("wrong", [{"width": -1}, {"seconds": math.nan}, {"seconds": math.inf}, {"seconds": -1.0}])
def test_an_entry_that_means_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="x can not"):
        Entry(**{"key": "x", "width": 1} | wrong)


@given(st.lists(seconds, min_size=1), st.floats(0, 1))
def test_a_quantile_is_a_value_that_the_share_does_not_exceed(values, share):
    found = quantile(sorted(values), share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


@given(st.sets(st.integers(0, 63)), st.integers(0, 8))
def test_the_lowest_free_devices_are_assigned(free, width):
    if width > len(free):
        with pytest.raises(ValueError, match="are needed"):
            assign(free, width)
    else:
        assert assign(free, width) == tuple(sorted(free)[:width])
