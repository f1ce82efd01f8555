"""A run while it goes on, as a log shows it: each START has an END that says how, and failing cases are named."""

from pathlib import Path
from typing import Any

import pytest

from ci_toolkit.model.plan import ExpectedDevice, Lane, Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import WorkerEnd
from ci_toolkit.model.request import Limits, Request
from ci_toolkit.publish.progress import FAILURES_NAMED, Progress
from ci_toolkit.workers.jobs import Job


def job(number: int = 1) -> Job:
    request = Request(
        nonce=f"n{number}",
        lane="s-cpu",
        unit=f"test_{number}.py",
        runner="pytest",
        interpreter="python",
        env={},
        cwd="/",
        temporary="/nowhere",
        limits=Limits(unit_s=1),
    )
    return Job(number, request, Path("/nowhere"))


def told(capsys: pytest.CaptureFixture[str], *messages: dict[str, Any]) -> list[str]:
    lane = Lane(id="s-cpu", suite="s", kind="pytest", platform="cpu", timeout_s=9, device=ExpectedDevice(module="cpu"))
    plan = Plan(provenance=Provenance(toolkit="0", run="r", conf_digest="c"), conf_digest="c", lanes=(lane,))
    with Progress(plan) as progress:
        for message in messages:
            progress.observe(job(), message)
    return capsys.readouterr().out.splitlines()


def ended(end: WorkerEnd = WorkerEnd.COMPLETED, message: str = "") -> dict[str, Any]:
    return {"e": "ended", "end": end, "message": message}


def failed(case: str, outcome: str = "failed") -> dict[str, Any]:
    return {"e": "phase", "id": case, "outcome": outcome}


def test_a_worker_that_completes(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, {"e": "hello"}, {"e": "finish"}, {"e": "finish"}, {"e": "bye"}, ended())
    assert lines[0] == "START s-cpu test_1.py"
    assert lines[1].startswith("END   s-cpu test_1.py: 2 cases in 0.0 s")
    assert len(lines) == 2


@pytest.mark.parametrize("end", [end for end in WorkerEnd if end is not WorkerEnd.COMPLETED])
def test_every_other_end_is_told_with_its_reason(capsys: pytest.CaptureFixture[str], end: WorkerEnd) -> None:
    lines = told(capsys, {"e": "hello"}, ended(end, "ended by SIGSEGV"))
    assert lines[-1] == f"END   s-cpu test_1.py: 0 cases in 0.0 s; {end.value}: ended by SIGSEGV"


def test_the_case_that_a_worker_died_in_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    done = [{"e": "start", "id": "t::1"}, {"e": "finish", "id": "t::1"}]
    died = {"e": "hello"}, *done, {"e": "start", "id": "t::2"}, ended(WorkerEnd.CRASHED, "ended by SIGSEGV")
    assert told(capsys, *died)[-1].endswith("1 case in 0.0 s; crashed: ended by SIGSEGV, in case t::2")
    assert "case" not in told(capsys, {"e": "hello"}, *done, ended(WorkerEnd.CRASHED, "x"))[-1].partition(";")[2]
    late = {"e": "start", "id": "t::3"}, ended(WorkerEnd.TIMEOUT, "case t::3 ran longer than its limit")
    assert told(capsys, {"e": "hello"}, *late)[-1].count("t::3") == 1


def test_a_worker_that_never_said_anything_has_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, ended(WorkerEnd.NOT_STARTED, "no such interpreter"))
    assert lines == ["END   s-cpu test_1.py: 0 cases in no time; not_started: no such interpreter"]


def test_failing_cases_are_named_once_each_and_their_number_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [failed(f"t::{number}", kind) for number in range(50) for kind in ("failed", "error", "xpassed")]
    fine = [
        failed("t::ok", "passed"),
        failed("t::skip", "skipped"),
        failed("t::x", "xfailed"),
        failed("t::again") | {"rerun": True},
    ]
    lines = told(capsys, {"e": "hello"}, *fine, *cases, ended())
    named = [line for line in lines if line.startswith("FAIL  s-cpu t::")]
    assert named == [f"FAIL  s-cpu t::{number}" for number in range(FAILURES_NAMED)]
    assert len(lines) == FAILURES_NAMED + 3
    assert "not named here" in lines[-2]


def test_the_process_and_the_granted_devices_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    cards = [{"index": 2, "uuid": "u2", "name": "A card"}, {"index": 5, "uuid": "u5", "name": "A card"}]
    granted = {"e": "granted", "devices": cards}
    lines = told(capsys, {"e": "hello", "pid": 77}, {"e": "need_devices", "width": 2}, granted, ended())
    assert lines[:2] == ["START s-cpu test_1.py (process 77)", "GRANT s-cpu test_1.py: devices 2, 5 (A card)"]
    assert lines[2].startswith("END   s-cpu test_1.py on devices 2, 5 (A card): 0 cases in ")


@pytest.mark.parametrize("odd", [None, "cuda", [], [7], [{}], [{"index": "\n::error::" + "x" * 9000}]])
def test_a_grant_that_is_none_is_told_in_one_line(capsys: pytest.CaptureFixture[str], odd: object) -> None:
    lines = told(capsys, {"e": "hello"}, {"e": "granted", "devices": odd}, ended())
    assert [line[:6] for line in lines] == ["START ", "GRANT ", "END   "]
    assert all(len(line) < 400 for line in lines)


def test_a_message_before_the_hello_is_not_believed(capsys: pytest.CaptureFixture[str]) -> None:
    early = [{"e": "granted", "devices": []}, {"e": "need_devices"}, {"e": "finish"}, failed("t::1")]
    assert told(capsys, *early) == []


def test_hostile_ids_stay_on_their_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, {"e": "hello"}, failed("a\n::error::x\x1b[31m ##[group]" + "w" * 9000), ended())
    assert len(lines) == 3
    assert len(lines[1]) < 400
    assert "##[" not in lines[1]
    assert lines[1].isprintable()


def test_what_a_worker_left_behind_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, {"e": "hello"}, {"e": "residue", "message": "the folder can not be removed"}, ended())
    assert "LEFT  s-cpu test_1.py: the folder can not be removed" in lines
