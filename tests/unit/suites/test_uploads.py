"""Which upload counts for a lane: by its job's name and its attempt, and never by what is there beside it."""

from pathlib import Path

import pytest

from ci_toolkit.model.plan import ExpectedDevice, Job, Lane, Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.uploads import evidence_upload, is_plan_name
from ci_toolkit.suites.uploads import Place, in_folder, in_uploads, strangers


def plan(attempt: int = 1) -> Plan:
    lanes = tuple(
        Lane(
            id=name, suite=name, kind="pytest", platform="cpu", timeout_s=1, device=ExpectedDevice(module="cpu")
        ) for name in ("a", "b", "c")
    )  # fmt: skip
    jobs = (
        Job(id="a", lanes=("a",), platform="cpu", runs_on=("x",), timeout_minutes=1),
        Job(id="cpu-batch-1of1", lanes=("b", "c"), platform="cpu", runs_on=("x",), timeout_minutes=1),
    )
    return Plan(provenance=Provenance(toolkit="0", attempt=attempt), conf_digest="", lanes=lanes, jobs=jobs)


def uploaded(folder: Path, job: str, attempt: int, lane: str, inside: int | None = None) -> Path:
    made = folder / evidence_upload("hardware", job, attempt) / lane / f"a{inside or attempt}"
    made.mkdir(parents=True)
    return made


def place(folder: Path, lane: str, attempt: int = 1, planned: int = 1) -> Place:
    return in_uploads(plan(planned), folder, "hardware", attempt)[lane]


def fault(found: Place) -> str:
    return found.fault[0].value if found.fault else ""


def test_each_lane_is_found_in_the_upload_of_its_job(tmp_path: Path) -> None:
    folders = {"a": uploaded(tmp_path, "a", 1, "a"), "b": uploaded(tmp_path, "cpu-batch-1of1", 1, "b")}
    for lane, folder in folders.items():
        assert place(tmp_path, lane) == Place(folder, 1)
    assert fault(place(tmp_path, "c")) == "lane_missing"


def test_the_newest_attempt_counts_alone(tmp_path: Path) -> None:
    uploaded(tmp_path, "cpu-batch-1of1", 1, "b")
    uploaded(tmp_path, "cpu-batch-1of1", 1, "c")
    newer = uploaded(tmp_path, "cpu-batch-1of1", 2, "b")
    assert place(tmp_path, "b", 2) == Place(newer, 2)
    assert fault(place(tmp_path, "c", 2)) == "lane_missing", "what the first attempt showed is over"
    assert place(tmp_path, "b", 1).attempt == 1, "an attempt after this one is not this one's"


def test_an_attempt_before_the_plans_own_does_not_count(tmp_path: Path) -> None:
    uploaded(tmp_path, "a", 1, "a")
    assert fault(place(tmp_path, "a", 2, planned=2)) == "older_attempt"


def test_nothing_and_what_is_of_another(tmp_path: Path) -> None:
    assert fault(place(tmp_path / "none", "a")) == "no_upload"
    uploaded(tmp_path, "a", 1, "b")
    assert fault(place(tmp_path, "a")) == "another_lane"
    uploaded(tmp_path, "cpu-batch-1of1", 2, "b", inside=1)
    assert fault(place(tmp_path, "b", 2)) == "older_attempt"


def test_uploads_of_no_job_are_told(tmp_path: Path) -> None:
    uploaded(tmp_path, "a", 1, "a")
    uploaded(tmp_path, "z", 1, "a")
    (tmp_path / "evidence.hardware-2.z.a1").mkdir()
    (tmp_path / "wheels").mkdir()
    assert strangers(plan(), tmp_path, "hardware") == ["evidence.hardware.z.a1"]
    assert strangers(plan(), tmp_path / "none", "hardware") == []


def test_on_one_machine_the_newest_attempt_from_the_plans_own_on(tmp_path: Path) -> None:
    for attempt in (1, 2, 3):
        (tmp_path / "a" / f"a{attempt}").mkdir(parents=True)
    assert in_folder(plan(1), tmp_path, 2)["a"] == Place(tmp_path / "a/a2", 2)
    assert fault(in_folder(plan(4), tmp_path, 4)["a"]) == "older_attempt"
    assert in_folder(plan(1), tmp_path, 1)["b"].fault is None, "that it is missing is told by who reads it"


@pytest.mark.parametrize(
    ("name", "good"), [("hardware", True), ("gpu-2", True), ("a.b", False), ("", False), ("A", False)]
)
def test_names_of_plans(name: str, good: bool) -> None:
    assert is_plan_name(name) is good
