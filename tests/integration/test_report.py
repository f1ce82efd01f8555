"""The head of a lane's evidence: what ran, where, with what."""

import platform
import sys
from pathlib import Path

import pytest

from ci_toolkit.formats.evidence import read_evidence
from ci_toolkit.model.report import Strictness, WorkerEnd

HOSTILE = Path(__file__).resolve().parents[1] / "subjects/hostile"


def test_the_head_says_what_ran_where(project) -> None:
    project.write("tests/test_a.py", "def test_one(): pass\n")
    project.write(
        "conf/suites.yml",
        "schema: suites/1\nsuites: {small: {platforms: [cpu], root: {path: tests}, paths: [.], subject: [pytest]}}\n",
    )
    assert project.toolkit("ci").returncode == 0
    report = read_evidence(project.folder / "out/small-cpu/a1").report
    assert report.devices[0].module == "cpu"
    assert report.devices[0].name
    assert report.facts["python"] == platform.python_version()
    assert report.facts["package.pytest"] == pytest.__version__
    assert report.contract["package.pytest"].strictness is Strictness.STRICT
    assert report.contract["start"].value == "spawn"
    assert report.environments[0].executable == sys.executable
    assert report.environments[0].packages["pytest"] == pytest.__version__
    assert [(worker.unit, worker.end, worker.exit_code) for worker in report.workers] == [
        ("test_a.py", WorkerEnd.COMPLETED, 0)
    ]
    assert report.provenance.run.startswith("local-")
    assert report.provenance.conf_digest


def test_hostile_tests_are_accounted_for_one_by_one(project) -> None:
    """All that a file of tests can do at once: crash, hang, exit, leave orphans, print floods and forged commands."""
    import shutil

    shutil.copytree(HOSTILE, project.folder / "tests")
    project.write(
        "conf/suites.yml",
        "schema: suites/1\nsuites: {small: {platforms: [cpu], root: {path: tests}, paths: [.], limits: {case: 5s}}}\n",
    )
    ran = project.toolkit("ci", GITHUB_ACTIONS="true")
    assert ran.returncode == 1, ran.stdout[-3000:] + ran.stderr
    evidence = read_evidence(project.folder / "out/small-cpu/a1")
    found = {case.id: case for case in evidence.cases}
    culprits = {
        "test_segfault.py::test_reads_address_zero": ("crashed", "SIGSEGV"),
        "test_hang.py::test_hangs_in_native_code": ("timeout", ""),
        "test_exit_zero.py::test_ends_the_process": ("crashed", ""),
        "test_all_culprits.py::test_reads_address_zero": ("crashed", "SIGSEGV"),
        "test_all_culprits.py::test_hangs_in_native_code": ("timeout", ""),
        "test_all_culprits.py::test_ends_the_process": ("crashed", ""),
    }
    for case, (outcome, signal) in culprits.items():
        assert found[case].outcome == outcome
        failure = evidence.failures[found[case].failures[0]]
        assert failure.stage == "call"
        assert not signal or failure.signal == signal
    assert not evidence.report.errors
    assert {case.outcome for case in evidence.cases} == {"passed", "failed", "error", "crashed", "timeout"}
    assert found["test_all_culprits.py::test_passes_at_the_end"].outcome == "passed"
    orphans = [case for name, case in found.items() if name.startswith("test_orphan.py")]
    assert orphans
    assert {case.id for case in orphans if case.outcome != "passed"} == {"test_orphan.py::test_leaves_an_orphan"}
    for file in ("test_orphan.py", "test_all_culprits.py"):
        left = found[f"{file}::test_leaves_an_orphan"]
        failure = evidence.failures[left.failures[0]]
        assert (left.outcome, failure.stage, failure.cause) == ("error", "teardown", "resource")
        assert failure.message == "left a process behind that had to be killed: a fork of the worker"
    assert sum(worker.leftovers for worker in evidence.report.workers if worker.unit == "test_orphan.py") >= 1
    assert not [line for line in ran.stdout.splitlines() if line.startswith("::") and not line.startswith("::error ")]
    assert "\x1b" not in ran.stdout
    assert project.processes() == []
