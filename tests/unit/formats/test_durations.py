"""What is known of durations orders work and nothing else: it survives any text, keeps few lines, and forgets."""

import datetime
import itertools
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import EvidenceError, UsageError
from ci_toolkit.formats.durations import (
    KEPT_DAYS,
    KEPT_RUNS,
    Duration,
    Durations,
    Observed,
    observed,
    read_durations,
    render,
    updated,
    write_durations,
)
from ci_toolkit.model.plan import ExpectedDevice, Lane
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import Purpose, Report, Worker, WorkerEnd

DAY = datetime.date(2026, 12, 1)
days = st.dates(DAY - datetime.timedelta(200), DAY)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
units = st.dictionaries(
    names,
    st.builds(
        Duration,
        seen=days,
        seconds=st.lists(st.floats(0, 1e6), min_size=1, max_size=KEPT_RUNS).map(tuple),
    ),
    min_size=1,
    max_size=5,
)
known = st.builds(Durations, lanes=st.dictionaries(names, units, max_size=4))
runs = st.lists(st.builds(Observed, names, names, st.floats(0, 1e6), days), max_size=30)


def lane(shard=None, variant=""):
    return Lane(
        id="s-cpu",
        suite="s",
        kind="pytest",
        platform="cpu",
        variant=variant,
        shard=shard,
        timeout_s=9,
        device=ExpectedDevice(module="cpu"),
    )


def report(*workers, **changed):
    fields = {
        "lane": lane(),
        "provenance": Provenance(toolkit="0"),
        "root": "/",
        "started": "2026-12-01T00:00:00+00:00",
        "ended": "2026-12-01T23:30:00-02:00",
        "units": (),
        "workers": workers,
    }
    return Report(**fields | changed)


def worker(number=1, unit="a.py", end=WorkerEnd.COMPLETED, seconds=2.0, purpose=Purpose.WHOLE):
    return Worker(number=number, unit=unit, end=end, seconds=seconds, purpose=purpose)


@given(known)
def test_what_is_written_is_read(tmp_path_factory, durations):
    path = tmp_path_factory.mktemp("conf") / "durations.json"
    write_durations(path, durations)
    assert read_durations(path) == durations
    assert path.read_bytes() == render(durations)


@given(known)
def test_one_unit_is_one_line_and_the_bytes_are_canonical(durations):
    shuffled = Durations(
        lanes={name: dict(reversed(found.items())) for name, found in reversed(durations.lanes.items())}
    )
    assert render(shuffled) == render(durations)
    lines = [line for line in render(durations).splitlines() if b'"seconds": [' in line and b'"seen": "' in line]
    assert len(lines) == sum(map(len, durations.lanes.values()))


def test_the_file_is_this(tmp_path):
    seen = [
        Observed("s-cpu", unit, seconds, DAY) for unit, seconds in (("b.py", 1.23456), ("a.py", 2.0), ("b.py", 4.0))
    ]
    write_durations(tmp_path / "conf" / "durations.json", updated(Durations(), seen, DAY))
    assert (tmp_path / "conf" / "durations.json").read_text() == (
        '{\n"schema": "durations/1",\n"min_reader": 1,\n"lanes": {\n "s-cpu": {\n'
        '  "a.py": {"seen": "2026-12-01", "seconds": [2.0]},\n'
        '  "b.py": {"seen": "2026-12-01", "seconds": [1.235, 4.0]}\n }\n}\n}\n'
    )


@given(known, runs)
def test_an_update_keeps_few_runs_and_no_old_ones(durations, seen):
    after = updated(durations, seen, DAY)
    oldest = DAY - datetime.timedelta(KEPT_DAYS)
    found = [duration for kept in after.lanes.values() for duration in kept.values()]
    assert all(1 <= len(duration.seconds) <= KEPT_RUNS and duration.seen >= oldest for duration in found)
    assert all(after.lanes.values())
    fresh = {(run.lane, run.unit) for run in seen if run.day >= oldest}
    assert fresh <= {(name, unit) for name, kept in after.lanes.items() for unit in kept}
    assert updated(after, [], DAY) == after


@given(known, runs, st.integers(0, 30))
def test_an_update_in_two_parts_is_the_update(durations, seen, at):
    whole = updated(durations, seen, DAY)
    halves = updated(updated(durations, seen[:at], datetime.date.min + datetime.timedelta(KEPT_DAYS)), seen[at:], DAY)
    assert halves == whole


def test_the_expected_time_is_the_median_of_the_last_runs_in_all_shards():
    seen = [Observed("s-cpu", "a.py", seconds, DAY) for seconds in (900, 1, 2, 3, 4, 5, 6, 7, 8, 9, 600)]
    durations = updated(Durations(), seen, DAY)
    assert durations.of(lane(shard=(2, 3))) == durations.of(lane()) == {"a.py": 5.5}
    assert durations.of(lane(variant="fast")) == {}


def test_each_completed_unit_is_seen_on_the_day_in_utc_without_its_shard():
    ran = report(worker(), worker(2, "b.py", seconds=0.0), lane=lane(shard=(1, 2), variant="v"))
    day = datetime.date(2026, 12, 2)
    assert list(observed(ran)) == [Observed("s-cpu-v", "a.py", 2.0, day), Observed("s-cpu-v", "b.py", 0.0, day)]


@pytest.mark.parametrize("end", [end for end in WorkerEnd if end is not WorkerEnd.COMPLETED])
def test_a_unit_that_did_not_complete_is_not_seen(end):
    rest = worker(2, purpose=Purpose.REST, seconds=1.0)
    assert list(observed(report(worker(end=end)))) == []
    assert list(observed(report(worker(end=end), rest))) == []


def test_workers_that_tell_more_of_a_case_are_not_the_unit():
    looks = [worker(number, purpose=purpose, seconds=9.0) for number, purpose in enumerate(Purpose, 2)]
    more = [look for look in looks if look.purpose not in {Purpose.WHOLE, Purpose.REST}]
    assert [run.seconds for run in observed(report(worker(), *more))] == [2.0]


def test_nothing_is_learnt_from_an_interrupted_run_or_a_time_that_was_not_taken():
    assert list(observed(report(worker(), interrupted="SIGTERM"))) == []
    assert list(observed(report(worker(seconds=None)))) == []


@pytest.mark.parametrize("bad", [report(ended="noon"), report(ended=""), report(worker(seconds=-1.0))])
def test_times_that_can_not_be_are_not_believed(bad):
    with pytest.raises(EvidenceError, match="s-cpu: "):
        list(observed(bad))


def test_no_file_is_no_knowledge(tmp_path):
    assert read_durations(tmp_path / "none" / "durations.json") == Durations()


GOOD = render(updated(Durations(), [Observed("l", "u", 1.0, DAY)], DAY))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", r"durations.json:1: is not JSON"),
        (GOOD[:-4], r"durations.json:\d: is not JSON"),
        (GOOD.replace(b'  "u"', b'<<<<<<< HEAD\n  "u"'), r"durations.json:6: is not JSON"),
        (b"\xff", "durations.json: is not JSON"),
        (b"[" * 100_000, "durations.json: is not JSON"),
        (b"[]", "durations.json: "),
        (GOOD.replace(b"durations/1", b"durations/2"), "this version reads 'durations/1'"),
        (GOOD.replace(b'"min_reader": 1', b'"min_reader": 9'), "needs reader 9"),
        (GOOD.replace(b"1.0", b"-1.0"), r"Expected `float` >= 0"),
        (GOOD.replace(b"1.0", b"NaN"), "durations.json: "),
        (GOOD.replace(b"1.0", b""), "length >= 1"),
        (GOOD.replace(b"2026-12-01", b"yesterday"), "durations.json: "),
        (GOOD.replace(b' "l": {', b' "l": {}, "l": {'), "names the key 'l' twice"),
    ],
)
def test_a_broken_file_is_one_clear_line(tmp_path, data, said):
    path = tmp_path / "durations.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=said) as caught:
        read_durations(path)
    assert "delete it" in str(caught.value)


def test_a_folder_in_its_place_is_one_clear_line(tmp_path):
    (tmp_path / "durations.json").mkdir()
    with pytest.raises(UsageError, match=r"durations\.json: can not be read: Is a directory"):
        read_durations(tmp_path / "durations.json")
    with pytest.raises(UsageError, match="can not be written"):
        write_durations(tmp_path / "durations.json", Durations())


def test_fields_of_a_later_version_are_ignored(tmp_path):
    path = tmp_path / "durations.json"
    path.write_bytes(GOOD.replace(b'{"seen"', b'{"device": "x", "seen"').replace(b'"lanes"', b'"more": 1, "lanes"'))
    assert msgspec.json.decode(render(read_durations(path))) == json.loads(GOOD)
    assert list(itertools.chain(*read_durations(path).lanes.values())) == ["u"]
