"""Lanes of the kind ``pytest``, run through real workers into real evidence."""

import shutil
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import msgspec
import pytest

from ci_toolkit.catalogue.lanes import LaneConf, Platform
from ci_toolkit.errors import UsageError
from ci_toolkit.formats.evidence import Evidence, read_evidence
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import ExpectedDevice, Lane, Selection
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import ErrorKind, Strictness, WorkerEnd
from ci_toolkit.model.request import Limits
from ci_toolkit.suites.lane import run_lane
from ci_toolkit.workers.stop import Stop

SUBJECTS = Path(__file__).parents[1] / "subjects" / "pytest"
RunLane = Callable[..., Evidence]


def conf_of(base: Path, **changes: object) -> LaneConf:
    lane = Lane(
        id="own-cpu", suite="own", kind="pytest", platform="cpu", timeout_s=600, device=ExpectedDevice(module="cpu")
    )
    values = {
        "lane": lane,
        "platform": Platform("cpu", "cpu", "*", 0, "", (), ()),
        "base": str(base),
        "conf": str(base / "conf"),
        "root_path": "tests",
        "root_distribution": "",
        "paths": (),
        "exclude": (),
        "sample": (),
        "marker": "",
        "keyword": "",
        "args": (),
        "env": {},
        "env_allow": (),
        "requires": {},
        "subject": (),
        "limits": Limits(unit_s=60),
        "start": "spawn",
        "preload": (),
        "width": 1,
        "budget": 10,
        "confirm": 0,
        "flaky_passes": False,
        "ratchet": "",
        "owner": "",
        "digest": "d",
    }
    return LaneConf(**{**values, **changes})  # type: ignore[arg-type]


@pytest.fixture
def lane(tmp_path: Path) -> RunLane:
    """Writes test files under ``repo/tests`` and runs a lane on them."""
    runs = iter(range(1, 100))

    def lane(files: dict[str, str], **options: object) -> Evidence:
        base = tmp_path / "repo"
        for name, text in {"pytest.ini": "[pytest]\n", **files}.items():
            place = base / "tests" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(dedent(text))
        run = {
            "provenance": Provenance(toolkit="0"),
            "attempt": next(runs),
            "slots": 2,
            "stop": options.pop("stop", Stop()),
            "observe": options.pop("observe", lambda job, message: None),
            "withheld": options.pop("withheld", {}),
        }
        return read_evidence(run_lane(conf_of(base, **options), tmp_path / "out", **run))  # type: ignore[arg-type]

    return lane


def ids(evidence: Evidence) -> dict[str, str]:
    return {case.id: str(case.outcome) for case in evidence.cases}


def test_cases_of_several_files_are_recorded_in_their_order(lane: RunLane) -> None:
    evidence = lane(
        {
            "test_b.py": "def test_1(): pass\ndef test_2(): assert 1 == 2\n",
            "sub/test_a.py": "import time\ndef test_0(): time.sleep(0.3)\n",
            "test_c.py": "import pytest\ndef test_3(): pytest.skip('no card')\n",
        },
        paths=("sub", "test_b.py", "test_c.py"),
    )
    assert list(ids(evidence).items()) == [
        ("sub/test_a.py::test_0", "passed"),
        ("test_b.py::test_1", "passed"),
        ("test_b.py::test_2", "failed"),
        ("test_c.py::test_3", "skipped"),
    ]
    report = evidence.report
    assert report.units == ("sub/test_a.py", "test_b.py", "test_c.py")
    assert not report.errors
    assert [worker.end for worker in report.workers] == [WorkerEnd.COMPLETED] * 3
    assert report.counts == {Outcome.PASSED: 2, Outcome.FAILED: 1, Outcome.SKIPPED: 1}
    (row,) = evidence.cases[2].failures
    assert evidence.failures[row].signature == "AssertionError call test_b:test_2: assert 1 == 2"
    assert evidence.cases[3].reason == "no card"
    assert report.contract["python"].strictness is Strictness.STRICT
    assert report.contract["start.observed"].strictness is Strictness.TRACKED
    assert report.facts["package.pytest"] == pytest.__version__
    assert report.environments[0].python == report.facts["python"]


def test_signatures_of_two_runs_are_equal(lane: RunLane) -> None:
    text = """
        import os, tempfile
        def test_a(tmp_path):
            raise OSError(f"{tmp_path} {tempfile.mkstemp()[1]} {object()} pid={os.getpid()} {__file__}")
    """
    one, two = lane({"test_a.py": text}), lane({"test_a.py": "# moved\n" + dedent(text)})
    assert one.failures[0].message != two.failures[0].message
    assert one.failures[0].signature == two.failures[0].signature
    assert "<tmp>/" in one.failures[0].signature
    assert "<root>/test_a.py" in one.failures[0].signature


def test_the_same_inputs_give_the_same_cases_whatever_the_timing(lane: RunLane) -> None:
    files = {f"test_{n}.py": f"import time\ndef test_a(): time.sleep({(5 - n) / 10})\n" for n in range(5)}
    canonical = [
        [msgspec.structs.replace(case, seconds=None, worker=None) for case in lane(files).cases] for _ in range(2)
    ]
    assert canonical[0] == canonical[1]


def test_a_file_that_crashes_costs_one_case_and_no_other_file(lane: RunLane) -> None:
    evidence = lane({"C25_test.py": (SUBJECTS / "C25_test.py").read_text(), "test_z.py": "def test_z(): pass\n"})
    assert list(ids(evidence).values()) == ["passed", "failed", "crashed", "passed", "failed", "passed"]
    assert not evidence.report.errors
    crash = evidence.failures[evidence.cases[2].failures[0]]
    assert crash.signature_class == "SIGSEGV call C25_test:test_c_crash"
    assert "Fatal Python error: Segmentation fault" in crash.excerpt
    assert (evidence.cases[2].alone, evidence.cases[2].after) == ("crashed", None)


def test_a_hang_is_ended_by_the_limit_and_keeps_what_was_known(lane: RunLane) -> None:
    limits = Limits(unit_s=60, case_s=2, grace_s=0.5)
    evidence = lane({"C27_test.py": (SUBJECTS / "C27_test.py").read_text()}, limits=limits)
    assert list(ids(evidence).values()) == ["timeout", "timeout", "passed"]
    assert [evidence.failures[row].exception for row in evidence.cases[0].failures] == ["ValueError", ""]
    assert not evidence.report.errors


def test_withheld_and_deselected_cases_are_accounted_for(lane: RunLane) -> None:
    evidence = lane(
        {"test_a.py": "import os\ndef test_1(): os.abort()\ndef test_2(): pass\ndef test_slow(): pass\n"},
        withheld={"test_a.py::test_1": "hangs the card"},
        keyword="not slow",
    )
    assert ids(evidence) == {"test_a.py::test_1": "not_run", "test_a.py::test_2": "passed"}
    assert evidence.cases[0].reason == "hangs the card"
    assert evidence.report.deselected == 1
    assert not evidence.report.errors


def test_an_interrupt_leaves_evidence_that_names_every_unit(lane: RunLane) -> None:
    stop, hanging = Stop(), []

    def observe(job: object, message: dict[str, object]) -> None:
        if message["e"] == "phase" and str(message["id"]).endswith("test_hang"):
            hanging.append(str(message["id"]))
            stop.request("SIGTERM")

    hang = "import time\ndef test_ok(): pass\ndef test_hang(): time.sleep(600)\n"
    with stop.install():
        evidence = lane({f"test_{n}.py": hang for n in range(4)}, stop=stop, observe=observe)
    assert evidence.report.interrupted == "SIGTERM"
    assert {error.kind for error in evidence.report.errors} == {ErrorKind.INTERRUPTED}
    assert {error.unit for error in evidence.report.errors} == set(evidence.report.units)
    assert ids(evidence)[hanging[0].replace("test_hang", "test_ok")] == "passed"
    assert set(ids(evidence).values()) == {"passed", "not_run"}


def test_a_selection_narrows_the_lane_to_its_files(lane: RunLane, tmp_path: Path) -> None:
    files = {"test_a.py": "def test_1(): pass\n", "test_b.py": "def test_2(): pass\n"}
    chosen = msgspec.structs.replace(conf_of(tmp_path).lane, selection=Selection(units=("test_b.py",)))
    assert list(ids(lane(files, lane=chosen))) == ["test_b.py::test_2"]
    wrong = msgspec.structs.replace(chosen, selection=Selection(units=("test_c.py",)))
    with pytest.raises(UsageError, match=r"'test_c\.py' is none of its 2 test files"):
        lane(files, lane=wrong)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"paths": ("sub",)}, ErrorKind.EMPTY_SELECTION, "holds no test file"),
        ({"marker": "nothing"}, ErrorKind.EMPTY_SELECTION, "no case of the suite was selected"),
        ({"subject": ("no-such-library",)}, ErrorKind.SETUP, "no-such-library is not installed"),
    ],
)
def test_a_lane_without_cases_is_red(lane: RunLane, options: dict[str, object], kind: ErrorKind, said: str) -> None:
    ini = "[pytest]\nmarkers = nothing\n"
    evidence = lane({"test_a.py": "def test_1(): pass\n", "sub/readme.txt": "", "pytest.ini": ini}, **options)
    assert [error.kind for error in evidence.report.errors] == [kind]
    assert said in evidence.report.errors[0].message


def test_a_missing_interpreter_is_a_mistake_in_conf(lane: RunLane) -> None:
    with pytest.raises(UsageError, match="/nowhere/python can not be started"):
        lane({"test_a.py": ""}, platform=Platform("cpu", "cpu", "*", 0, "/nowhere/python", (), ()))


def test_a_broken_interpreter_is_one_finding(lane: RunLane, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'driver not loaded' >&2\nexit 9\n")
    python.chmod(0o755)
    evidence = lane({"test_a.py": ""}, platform=Platform("cpu", "cpu", "*", 0, str(python), (), ()))
    (error,) = evidence.report.errors
    assert error.kind is ErrorKind.SETUP
    assert "driver not loaded" in error.message


def test_a_fault_of_ours_costs_one_unit(lane: RunLane, monkeypatch: pytest.MonkeyPatch) -> None:
    from ci_toolkit.suites.pytest import kind

    decode = kind.decode

    def broken(unit: str, account: object, root: str) -> object:
        if unit == "test_a.py":
            raise LookupError("a bug")
        return decode(unit, account, root)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "decode", broken)
    evidence = lane({"test_a.py": "def test_1(): pass\n", "test_b.py": "def test_2(): pass\n"})
    assert ids(evidence) == {"test_b.py::test_2": "passed"}
    (error,) = evidence.report.errors
    assert (error.kind, error.unit) == (ErrorKind.INFRA, "test_a.py")
    assert "LookupError: a bug" in error.message


def test_an_installed_distribution_can_be_the_root(lane: RunLane) -> None:
    evidence = lane(
        {},
        root_path="",
        root_distribution="numpy",
        subject=("numpy",),
        paths=("numpy/_core/tests/test_abc.py",),
        args=("--import-mode=importlib", "-c", "/dev/null"),
    )
    assert set(ids(evidence).values()) == {"passed"}
    assert all(case.startswith("numpy/_core/tests/test_abc.py::") for case in ids(evidence))
    assert not evidence.report.errors
    assert "package.numpy" in evidence.report.contract


def test_a_disk_that_is_nearly_full_ends_the_lane_before_it_is(lane: RunLane, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of the disk is put in; all the rest is real."""
    free = iter([1 << 40, 1 << 20])
    usage = shutil.disk_usage("/")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage._replace(free=next(free, 1 << 20)))
    files = {f"test_{name}.py": "def test_1(): pass\n" for name in "abc"}
    evidence = lane(files)
    assert ids(evidence) == {"test_a.py::test_1": "passed"}
    assert {(error.kind, error.unit) for error in evidence.report.errors} == {
        (ErrorKind.RUNNER, "test_b.py"),
        (ErrorKind.RUNNER, "test_c.py"),
    }
    assert "only 1 MiB are free on the disk of the evidence" in evidence.report.errors[0].message
