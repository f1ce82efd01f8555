"""Whose a process is that a worker left behind."""

from pathlib import Path

import pytest

from ci_toolkit.model.report import ErrorKind, Worker, WorkerEnd
from ci_toolkit.suites.kind import Account
from ci_toolkit.suites.pytest.events import Event, Progress, Row, Story
from ci_toolkit.suites.pytest.ledger import Ledger
from ci_toolkit.suites.pytest.leftovers import find_owners
from ci_toolkit.workers.jobs import Leftover

BOOT = 1000.0


def story(*times: tuple[str, float, float], orphans: dict[str, tuple[int, ...]] | None = None) -> Story:
    cases = {
        name: Progress(Row(id=name), started=True, finished=True, began=began, ended=ended)
        for name, began, ended in times
    }
    for name, pids in (orphans or {}).items():
        cases[name].orphans = pids
    return Story(cases=cases, hello=Event(kind="hello", boot=BOOT))


def ledger(*left: Leftover, end: WorkerEnd = WorkerEnd.COMPLETED) -> Ledger:
    worker = Worker(number=1, unit="t.py", end=end)
    return Ledger("t.py", Account(worker=worker, message="", nonce="n", events=Path("events"), left=left), "/root")


def test_the_case_in_which_it_became_an_orphan_owns_it_whenever_it_was_started() -> None:
    told = story(("a", 1.0, 2.0), ("b", 2.0, 3.0), orphans={"b": (7,)})
    book = ledger(Leftover(7, "sleep 9", BOOT + 1.5, daemon=True))
    assert find_owners(told, book) == {"b": ["sleep 9"]}
    assert not book.errors


@pytest.mark.parametrize(("started", "owner"), [(1.5, "a"), (2.51, "b")])
def test_the_one_case_that_ran_when_it_was_started_owns_it(started: float, owner: str) -> None:
    book = ledger(Leftover(7, "sleep 9", BOOT + started, daemon=False))
    assert find_owners(story(("a", 1.0, 2.0), ("b", 2.5, 3.0)), book) == {owner: ["sleep 9"]}


@pytest.mark.parametrize(("started", "said"), [(0.2, "killed: sleep 9"), (2.0, "started while one of these ran: a, b")])
def test_what_no_single_case_can_have_left_is_an_error_of_the_unit(started: float, said: str) -> None:
    book = ledger(Leftover(7, "sleep 9", BOOT + started, daemon=False))
    assert find_owners(story(("a", 1.0, 2.0), ("b", 2.005, 3.0)), book) == {}
    assert [error.kind for error in book.errors] == [ErrorKind.LEFTOVERS]
    assert said in book.errors[0].message


def test_a_worker_that_died_is_not_blamed_for_what_it_could_not_end() -> None:
    told = story(("a", 1.0, 2.0))
    child = Leftover(7, "loader", BOOT + 1.5, daemon=False)
    daemon = Leftover(8, "daemon", BOOT + 1.5, daemon=True)
    book = ledger(child, daemon, end=WorkerEnd.CRASHED)
    assert find_owners(told, book) == {"a": ["daemon"]}
    assert not book.errors


def test_what_was_killed_and_could_not_be_named_is_an_error_too() -> None:
    worker = Worker(number=1, unit="t.py", end=WorkerEnd.COMPLETED, leftovers=1)
    book = Ledger("t.py", Account(worker=worker, message="", nonce="n", events=Path("events")), "/root")
    assert find_owners(story(("a", 1.0, 2.0)), book) == {}
    assert [error.kind for error in book.errors] == [ErrorKind.LEFTOVERS]
