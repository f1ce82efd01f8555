"""Whom hygiene may end: never a stranger, never a live run, whatever the table of processes looks like."""

import dataclasses
import os

from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.workers.mark import Mark, own_mark, read_mark, run_name
from ci_toolkit.workers.processes import Process, of_run, orphans, table

ME, USER, SPACE = 50, 1000, 7
GONE = Mark("1.1", SPACE, 99, 5)


def process(pid: int, parent: int = 1, mark: Mark | None = None, **more: object) -> Process:
    return Process(**{"pid": pid, "parent": parent, "started": 100 + pid, "user": USER, "mark": mark, **more})  # type: ignore[arg-type]


def ended(*processes: Process) -> set[int]:
    return {one.pid for one in orphans([process(ME), *processes], ME, USER, SPACE)}


def test_what_a_gone_host_left_with_its_children() -> None:
    keeper, worker, bare = process(10, mark=GONE), process(11, 10, GONE), process(12, 11)
    assert ended(keeper, worker, bare, process(13), process(14, 13)) == {10, 11, 12}


def test_a_host_that_lives_keeps_all_that_is_its() -> None:
    host = process(20)
    mark = Mark("2.1", SPACE, 20, host.started)
    assert ended(host, process(21, 20, mark), process(22, 21)) == set()
    assert ended(dataclasses.replace(host, ended=True), process(21, 20, mark)) == {21}, "a zombie hosts nothing"
    assert ended(dataclasses.replace(host, started=3), process(21, 20, mark)) == {21}, "its number is another's now"


def test_a_live_run_inside_an_orphan_is_not_touched_before_its_host_is_gone() -> None:
    inner = process(30, 10, GONE)
    worker = process(31, 30, Mark("3.1", SPACE, 30, inner.started))
    assert ended(process(10, mark=GONE), inner, worker) == {10, 30}


def test_marks_of_other_containers_and_processes_of_others_tell_nothing() -> None:
    assert ended(process(10, mark=dataclasses.replace(GONE, space=8))) == set()
    assert ended(process(10, mark=GONE, user=0), process(11, 10)) == set()
    assert ended(process(10, mark=GONE), process(11, 10, user=0), process(12, 10, Mark("x", 8, 1, 1))) == {10}


def test_who_looks_and_what_it_descends_from_is_spared() -> None:
    line = [process(40, 1, GONE), process(ME, 40, GONE), process(41, 40, GONE), process(42, ME, GONE)]
    assert {one.pid for one in orphans(line, ME, USER, SPACE)} == {41, 42}


marks = st.none() | st.builds(
    Mark, st.just("r"), st.sampled_from([SPACE, SPACE, 8]), st.integers(1, 14), st.integers(101, 116)
)
processes = st.lists(
    st.builds(
        process,
        st.integers(1, 14),
        st.integers(0, 14),
        marks,
        user=st.sampled_from([USER, USER, 0]),
        ended=st.booleans(),
    ),
    max_size=14,
    unique_by=lambda one: one.pid,
)


@given(processes, st.integers(1, 14))
def test_no_stranger_and_no_live_run_is_ever_ended(found: list[Process], me: int) -> None:
    by_pid = {one.pid: one for one in found}
    alive = {(one.pid, one.started) for one in found if not one.ended}
    chosen = {one.pid for one in orphans(found, me, USER, SPACE)}
    for pid in chosen:
        one = by_pid[pid]
        assert one.user == USER
        assert not one.ended
        assert one.mark is None or (one.mark.space == SPACE and (one.mark.pid, one.mark.started) not in alive)
        assert one.mark is not None or one.parent in chosen, "without a mark only by its parent"
    line, at = set(), me
    while at in by_pid and at not in line:
        line.add(at)
        at = by_pid[at].parent
    assert not chosen & line
    for one in found:
        dead = one.mark and one.mark.space == SPACE and (one.mark.pid, one.mark.started) not in alive
        if dead and one.user == USER and not one.ended and one.pid not in line and one.pid != me:
            assert one.pid in chosen


@given(st.text(max_size=40))
def test_any_text_may_stand_in_the_variable(text: str) -> None:
    mark = read_mark(text)
    assert mark is None or str(mark) == text


def test_this_process_as_a_host() -> None:
    mark = own_mark()
    assert mark is not None
    assert read_mark(str(mark)) == mark
    (me,) = [one for one in table() if one.pid == os.getpid()]
    assert (me.started, me.user, me.ended) == (mark.started, os.geteuid(), False)
    assert me.command
    assert run_name({"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2"}) == "7.2"
    assert run_name({"GITHUB_RUN_ID": "7:8"}) == run_name({}) == "local"
    other = dataclasses.replace(me, mark=mark)
    assert of_run([me, other, dataclasses.replace(other, ended=True)], mark) == [other]
    assert of_run([me], None) == []
