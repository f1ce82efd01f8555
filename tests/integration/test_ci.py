"""``ci-toolkit ci`` on a small repository: the whole job, and the ways it must not be green."""

import json
import re
import signal
import sys
from pathlib import Path

import pytest

from ci_toolkit.formats.evidence import read_evidence
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.report import ErrorKind

LANE = "small-cpu"
GREEN = "def test_one(): pass\ndef test_two(): assert 1 + 1 == 2\n"


def verdict(project) -> dict:
    return json.loads((project.folder / "out/verdict.json").read_text(encoding="utf-8"))


def outcomes(project, attempt: int = 1) -> dict[str, Outcome]:
    evidence = read_evidence(project.folder / f"out/{LANE}/a{attempt}")
    return {case.id: case.outcome for case in evidence.cases}


def test_green_ends_with_a_verdict_a_summary_and_evidence(project) -> None:
    project.write("tests/test_a.py", GREEN)
    ran = project.toolkit("ci")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "PASSED" in ran.stdout.splitlines()[-1]
    assert verdict(project)["result"] == "passed"
    assert (project.folder / "out/summary.md").read_text(encoding="utf-8").count(LANE)
    assert set(outcomes(project).values()) == {Outcome.PASSED}
    assert project.processes() == []


def test_a_second_run_keeps_the_evidence_of_the_first(project) -> None:
    test = project.write("tests/test_a.py", GREEN)
    assert project.toolkit("ci").returncode == 0
    test.write_text("def test_one(): assert False\n", encoding="utf-8")
    assert project.toolkit("ci").returncode == 1
    assert set(outcomes(project, 1).values()) == {Outcome.PASSED}
    assert set(outcomes(project, 2).values()) == {Outcome.FAILED}


def test_red_names_the_case_the_place_and_the_command_that_reproduces_it(project) -> None:
    project.write("tests/test_a.py", GREEN + "def test_bad():\n    value = 41\n    assert value == 42\n")
    ran = project.toolkit("ci")
    assert ran.returncode == 1
    assert "test_a.py::test_bad" in ran.stdout
    assert "assert 41 == 42" in ran.stdout
    finding = verdict(project)["findings"][0]
    assert (finding["kind"], finding["file"], finding["line"]) == ("regression", "tests/test_a.py", 5)
    command = finding["reproduce"]
    assert command["argv"][0] == sys.executable
    assert any("test_bad" in part for part in command["argv"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import pytest\n@pytest.mark.skip(reason='no card')\ndef test_one(): pass\n", "unreviewed_skip"),
        ("import no_such_module_here\n", "execution_error"),
        ("import pytest\npytest.skip('not today', allow_module_level=True)\n", "execution_error"),
        ("def helper(): pass\n", "execution_error"),
        ("import os\ndef test_one(): os._exit(0)\n", "regression"),
        ("import os\nos._exit(0)\n", "execution_error"),
        ("import atexit, os\natexit.register(os._exit, 3)\ndef test_one(): pass\n", "execution_error"),
        ("import pytest\n@pytest.fixture\ndef f(): 1 / 0\ndef test_one(f): pass\n", "regression"),
        ("import pytest\n@pytest.fixture\ndef f():\n    yield\n    1 / 0\ndef test_one(f): pass\n", "regression"),
        ("import sys\ndef test_one(): sys.exit(0)\n", "regression"),
        ("import pytest\ndef test_one(): pytest.exit('enough', 0)\ndef test_two(): pass\n", "execution_error"),
    ],
)
def test_what_did_not_really_pass_is_red(project, text: str, kind: str) -> None:
    project.write("tests/test_good.py", GREEN)
    project.write("tests/test_odd.py", text)
    ran = project.toolkit("ci")
    assert ran.returncode in {1, 3}, ran.stdout + ran.stderr
    assert kind in {finding["kind"] for finding in verdict(project)["findings"] if finding.get("blocks", True)}
    passed = {case for case, outcome in outcomes(project).items() if outcome is Outcome.PASSED}
    assert {"test_good.py::test_one", "test_good.py::test_two"} <= passed


def test_a_plan_without_lanes_is_said_and_is_not_green(project) -> None:
    project.write("conf/suites.yml", "schema: suites/1\nsuites: {}\n")
    ran = project.toolkit("ci")
    assert ran.returncode == 5
    assert "Traceback" not in ran.stderr


def test_a_named_lane_that_can_not_run_is_infrastructure(project) -> None:
    project.write("tests/test_a.py", GREEN)
    project.write(
        "conf/platforms.yml", "schema: platforms/1\nplatforms: {cpu: {device: cpu}, cuda: {device: cuda, count: 1}}\n"
    )
    project.write(
        "conf/suites.yml",
        "schema: suites/1\nsuites: {small: {platforms: [cpu, cuda], root: {path: tests}, paths: [.]}}\n",
    )
    everything = project.toolkit("ci")
    assert everything.returncode == 0, everything.stdout + everything.stderr
    assert "small-cuda" in everything.stdout
    named = project.toolkit("ci", "--only", "small-cuda")
    assert named.returncode == 4, named.stdout + named.stderr


CULPRITS = {
    "segfault": ("import ctypes; ctypes.string_at(0)", Outcome.CRASHED),
    "hang": ("import ctypes\n    while True: ctypes.PyDLL(None).pause()", Outcome.TIMEOUT),
    "exit": ("import os; os._exit(0)", Outcome.CRASHED),
}


@pytest.mark.parametrize("culprit", CULPRITS)
def test_a_culprit_costs_no_other_outcome_and_is_named(project, culprit: str) -> None:
    statement, outcome = CULPRITS[culprit]
    project.write(
        "tests/test_a.py",
        f"def test_before(): pass\ndef test_culprit():\n    {statement}\ndef test_after(): pass\n",
    )
    project.write(
        "conf/suites.yml",
        "schema: suites/1\nsuites: {small: {platforms: [cpu], root: {path: tests}, paths: [.], limits: {case: 3s}}}\n",
    )
    ran = project.toolkit("ci")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "test_culprit" in ran.stdout
    found = outcomes(project)
    assert found["test_a.py::test_before"] is Outcome.PASSED
    assert found["test_a.py::test_culprit"] is outcome
    assert found["test_a.py::test_after"] is Outcome.PASSED
    assert project.processes() == []


def test_a_case_that_comes_to_an_end_while_it_is_ended_ran_too_long_all_the_same(project) -> None:
    project.write("tests/test_a.py", "import ctypes\ndef test_culprit(): ctypes.PyDLL(None).pause()\n")
    project.write(
        "conf/suites.yml",
        "schema: suites/1\nsuites: {small: {platforms: [cpu], root: {path: tests}, paths: [.], limits: {case: 2s}}}\n",
    )
    assert project.toolkit("ci").returncode == 1
    assert outcomes(project) == {"test_a.py::test_culprit": Outcome.TIMEOUT}


def test_an_orphan_that_ignores_sigterm_and_holds_stdout_ends_with_its_worker_and_its_case_is_named(project) -> None:
    project.write(
        "tests/test_a.py",
        """
        import os, signal, time

        def test_leaves_an_orphan():
            child = os.fork()
            if child == 0:
                os.setsid()
                if os.fork() == 0:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    time.sleep(3600)
                os._exit(0)
            os.waitpid(child, 0)

        def test_after(): pass
        """,
    )
    ran = project.toolkit("ci")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert outcomes(project) == {
        "test_a.py::test_leaves_an_orphan": Outcome.ERROR,
        "test_a.py::test_after": Outcome.PASSED,
    }
    assert "left a process behind that had to be killed" in ran.stdout
    assert project.processes() == []


def test_a_process_of_nobody_in_particular_is_an_error_of_the_unit(project) -> None:
    """A child that the session left, not one case, is no orphan before the end."""
    project.write("tests/conftest.py", "import subprocess\nsubprocess.Popen(['sleep', '300'])\n")
    project.write("tests/test_a.py", GREEN)
    ran = project.toolkit("ci")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "was left behind and had to be killed: sleep 300" in ran.stdout
    assert project.processes() == []


def test_a_flood_of_output_stays_out_of_memory(project) -> None:
    """pytest's own capture would hold it all at the end of the case."""
    project.write(
        "tests/test_a.py",
        """
        import os, resource

        def test_flood():
            for _ in range(400):
                os.write(1, b"x" * (1 << 20))

        def test_peak():
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 200 << 10
        """,
    )
    assert project.toolkit("ci").returncode == 0
    log = project.folder / f"out/{LANE}/a1/workers/001/stdout.log"
    assert log.stat().st_size < 66 << 20
    assert b"bytes left out" in log.read_bytes()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda s: s.name)
def test_a_cancelled_run_leaves_a_valid_partial_report(project, sent: signal.Signals) -> None:
    ready = project.folder / "ready"
    import os

    os.mkfifo(ready)
    project.write(
        "tests/test_a.py",
        f"""
        import time

        def test_before(): pass

        def test_long():
            with open({str(ready)!r}, "w") as file:
                file.write("in it")
            time.sleep(3600)
        """,
    )
    project.write("tests/test_b.py", GREEN)
    process = project.start("ci", "--jobs", "1")
    assert ready.read_text() == "in it"
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    evidence = read_evidence(project.folder / f"out/{LANE}/a1")
    found = {case.id: case.outcome for case in evidence.cases}
    assert found["test_a.py::test_before"] is Outcome.PASSED
    assert found["test_a.py::test_long"] is Outcome.NOT_RUN
    assert ErrorKind.INTERRUPTED in {error.kind for error in evidence.report.errors}
    assert verdict(project)["exit_code"] == 130
    assert project.processes() == []


def test_what_a_test_prints_reaches_no_surface_raw(project) -> None:
    hostile = "::error file=x.py::forged\\n\\x1b[31m##[error]old\\x1b]0;title\\x07 \\u202e <b>|`"
    project.write("tests/test_a.py", f"def test_bad():\n    print('{hostile}')\n    assert False, '{hostile}'\n")
    summary = project.folder / "step.md"
    ran = project.toolkit("ci", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert ran.returncode == 1
    assert not re.search(r"^\s*::error file=x\.py", ran.stdout, re.MULTILINE)
    assert "##[error]" not in ran.stdout
    for text in (ran.stdout, summary.read_text(encoding="utf-8")):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert [line for line in ran.stdout.splitlines() if line.startswith("::error ")]


def test_an_unexpected_file_argument_gives_one_line(project, tmp_path: Path) -> None:
    ran = project.toolkit("ci", "--conf", str(tmp_path / "nowhere"))
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert "nowhere" in ran.stderr
