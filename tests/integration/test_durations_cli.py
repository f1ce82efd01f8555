"""``ci-toolkit durations update`` after real runs, and with evidence that must not be learnt from."""

import json

import pytest

from ci_toolkit.formats.evidence import EvidenceWriter
from ci_toolkit.model.plan import ExpectedDevice, Lane
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import Report, Worker, WorkerEnd

CRASHES = """
import os

def test_fine(): pass
def test_dies(): os.abort()
def test_rest(): pass
"""


def write_evidence(
    project, name: str = "out/small-cpu/a1", interrupted: str = "", day: str = "2026-12-01", **worker
) -> None:
    lane = Lane(
        id="small-cpu",
        suite="small",
        kind="pytest",
        platform="cpu",
        timeout_s=9,
        device=ExpectedDevice(module="cpu"),
    )
    ran = {"number": 1, "unit": "test_a.py", "end": WorkerEnd.COMPLETED, "seconds": 2.5} | worker
    EvidenceWriter(project.folder / name).close(
        Report(
            lane=lane,
            provenance=Provenance(toolkit="0"),
            root="/",
            started=f"{day}T00:00:00+00:00",
            ended=f"{day}T00:10:00+00:00",
            units=("test_a.py",),
            workers=(Worker(**ran),),
            interrupted=interrupted,
        )
    )


def update(project, *args: str):
    done = project.toolkit("durations", "update", "--today", "2026-12-02", *args)
    assert "Traceback" not in done.stderr
    return done


def lanes(project) -> dict[str, dict[str, dict[str, object]]]:
    return json.loads((project.folder / "conf/durations.json").read_text(encoding="utf-8"))["lanes"]


def test_units_that_completed_in_a_run_are_timed_and_no_others(project) -> None:
    project.write("tests/test_a.py", "def test_one(): pass\ndef test_bad(): assert 0\n")
    project.write("tests/test_dies.py", CRASHES)
    assert project.toolkit("run", "small-cpu").returncode == 0
    done = update(project, "--evidence", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "conf/durations.json: 1 unit timed, 1 of them for the first time, 0 dropped\n"
    assert list(lanes(project)["small-cpu"]) == ["test_a.py"]
    report = json.loads((project.folder / "out/small-cpu/a1/report.json").read_text(encoding="utf-8"))
    spent = next(worker["seconds"] for worker in report["workers"] if worker["unit"] == "test_a.py")
    assert lanes(project)["small-cpu"]["test_a.py"]["seconds"] == [round(spent, 3)]


def test_runs_add_up_and_what_is_not_seen_any_more_is_dropped(project) -> None:
    write_evidence(project)
    write_evidence(project, "out/small-cpu/a2", seconds=3.5)
    write_evidence(project, "late/small-cpu/a1", day="2027-04-01", unit="test_b.py")
    assert update(project, "--evidence", "out/small-cpu/a1", "--evidence", "out").returncode == 0
    assert lanes(project)["small-cpu"] == {"test_a.py": {"seen": "2026-12-01", "seconds": [2.5, 3.5]}}
    done = update(project, "--evidence", "late", "--today", "2027-04-02", "--json")
    assert done.returncode == 0
    counts = {"units": 1, "added": 1, "dropped": 1}
    assert json.loads(done.stdout) == {"file": "conf/durations.json", **counts, "left_out": {}}
    assert lanes(project)["small-cpu"] == {"test_b.py": {"seen": "2027-04-01", "seconds": [2.5]}}


def test_an_interrupted_lane_is_left_out_and_said(project) -> None:
    write_evidence(project)
    write_evidence(project, "out/small-cpu/a2", interrupted="SIGTERM")
    done = update(project, "--evidence", "out")
    assert done.returncode == 0
    assert "left out  small-cpu: the run was interrupted (SIGTERM)\n" in done.stdout
    assert lanes(project)["small-cpu"]["test_a.py"]["seconds"] == [2.5]


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        ({"interrupted": "SIGINT"}, 5, "no unit completed in this evidence"),
        ({"end": WorkerEnd.TIMEOUT}, 5, "no unit completed in this evidence"),
        ({"seconds": -1.0}, 3, "worker 1 ran for -1.0 s"),
    ],
)
def test_where_nothing_is_learnt_the_file_stays(project, spoil, code, said) -> None:
    kept = project.write("conf/durations.json", '{"schema": "durations/1", "lanes": {}}\n')
    write_evidence(project, **spoil)
    done = update(project, "--evidence", "out")
    assert done.returncode == code
    assert said in done.stderr
    assert kept.read_text() == '{"schema": "durations/1", "lanes": {}}\n'


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("report.json", 3, "out/small-cpu/a1"), ("manifest.json", 3, "has no manifest"), ("", 2, "holds no evidence")],
)
def test_evidence_that_can_not_be_believed_is_refused(project, name, code, said) -> None:
    write_evidence(project)
    if name == "report.json":
        (project.folder / "out/small-cpu/a1/report.json").write_bytes(b"{}")
    elif name:
        (project.folder / "out/small-cpu/a1" / name).unlink()
    else:
        (project.folder / "empty").mkdir()
    done = update(project, "--evidence", "out" if name else "empty")
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (project.folder / "conf/durations.json").exists()


def test_a_broken_file_is_one_line_and_stays(project) -> None:
    broken = project.write("conf/durations.json", '{"schema": "durations/1",\n<<<<<<< HEAD\n')
    write_evidence(project)
    done = update(project, "--evidence", "out")
    assert done.returncode == 2
    assert done.stderr.startswith("ci-toolkit: error: conf/durations.json:2: is not JSON")
    assert "<<<<" in broken.read_text()


@pytest.mark.parametrize("command", [("ci",), ("run", "small-cpu")])
def test_a_broken_file_ends_a_run_before_it_starts(project, command: tuple[str, ...]) -> None:
    project.write("conf/durations.json", "{}")
    project.write("tests/test_a.py", "def test_one(): pass\n")
    ran = project.toolkit(*command)
    assert ran.returncode == 2
    assert ran.stderr.startswith("ci-toolkit: error: conf/durations.json: ")
    assert "delete it" in ran.stderr
    assert not (project.folder / "out").exists()
