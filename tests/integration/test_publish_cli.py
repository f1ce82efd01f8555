"""``ci-toolkit publish`` and what people see of a run: on GitHub, in a log, on a terminal."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

RED = "import pytest\ndef test_good(): pass\ndef test_bad(): assert 41 == 42, '::error::forged'\n"
CRASH = "import os, signal\ndef test_ends(): os.kill(os.getpid(), signal.SIGSEGV)\n"


def github(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a step, with files of its own."""
    names = {"GITHUB_STEP_SUMMARY": "step_summary", "GITHUB_OUTPUT": "step_output"}
    files = {variable: str(folder / name) for variable, name in names.items()}
    return {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(folder), **files, **more}


def commands(text: str) -> list[str]:
    """The lines that a runner would carry out."""
    return [line for line in re.split(r"[\r\n]", text) if line.lstrip().startswith("::") or "##[" in line]


@pytest.fixture
def red(project):
    """A project whose run failed."""
    project.write("tests/test_a.py", RED)
    ran = project.toolkit("ci")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return project


def test_a_step_gets_summary_annotations_and_outputs_and_ends_with_the_verdict(red) -> None:
    ran = red.toolkit("publish", "--out", "out", **github(red.folder))
    assert ran.returncode == 1
    assert ran.stderr == ""
    (annotation,) = commands(ran.stdout)
    assert annotation.startswith("::error file=tests/test_a.py,line=3,title=regression")
    assert ran.stdout.splitlines()[-1] == "FAILED: 1 finding; a gate failed (exit 1)"
    summary = (red.folder / "step_summary").read_text(encoding="utf-8")
    assert summary.splitlines()[0].startswith("## FAILED")
    assert summary == (red.folder / "out/summary.md").read_text(encoding="utf-8")
    outputs = (red.folder / "step_output").read_text(encoding="utf-8")
    assert re.search(r"^result<<(end-[0-9a-f]{32})\nfailed\n\1$", outputs, re.MULTILINE)


def test_outside_github_nothing_speaks_its_language(red) -> None:
    ran = red.toolkit("publish", "--out", "out")
    assert ran.returncode == 1
    assert commands(ran.stdout) == []
    assert "\x1b" not in ran.stdout


def test_a_summary_that_is_nearly_full_keeps_within_the_limit(red) -> None:
    (red.folder / "step_summary").write_bytes(b"x" * ((900 << 10) - 500))
    assert red.toolkit("publish", "--out", "out", **github(red.folder)).returncode == 1
    written = (red.folder / "step_summary").read_bytes()
    assert len(written) <= 900 << 10
    assert b"FAILED" in written


@pytest.mark.parametrize("variable", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
def test_a_file_of_github_that_can_not_be_written_is_one_line_and_costs_nothing_else(red, variable: str) -> None:
    for name in ("verdict.json", "summary.md"):
        if name == "summary.md":
            (red.folder / "out" / name).unlink()
    ran = red.toolkit("publish", "--out", "out", **github(red.folder, **{variable: str(red.folder / "no/such")}))
    assert ran.returncode == 2
    (line,) = ran.stderr.splitlines()
    assert variable in line
    assert (red.folder / "out/summary.md").is_file()
    assert len(commands(ran.stdout)) == 1
    other = {"GITHUB_STEP_SUMMARY": "step_output", "GITHUB_OUTPUT": "step_summary"}[variable]
    assert (red.folder / other).stat().st_size
    assert "FAILED" in ran.stdout


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema": "verdict/2"}, "schema is 'verdict/2'"),
        ({"min_reader": 99}, "needs reader 99"),
        ({"exit_code": 0}, "contradicts itself"),
        ({"result": "passed"}, "contradicts itself"),
        ({"result": "passed", "exit_code": 0}, "holds a finding that blocks"),
        ({"result": "passed", "exit_code": 0, "findings": []}, "a lane did not"),
        ({"result": "green", "exit_code": 0}, "neither passed nor failed"),
        ({"exit_code": 256}, "exit code 256 has no meaning"),
        ({"lanes": "x"}, "lanes"),
    ],
)
def test_a_verdict_that_can_not_be_believed_is_never_green(red, change: dict[str, object], told: str) -> None:
    path = red.folder / "out/verdict.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    ran = red.toolkit("publish", "--out", "out", **github(red.folder))
    assert ran.returncode == 3
    (line,) = ran.stderr.splitlines()
    assert told in line
    assert "verdict.json" in line
    assert "PASSED" not in ran.stdout
    assert not (red.folder / "step_output").exists()


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_verdict_that_is_cut_is_one_line(red, keep: int) -> None:
    path = red.folder / "out/verdict.json"
    path.write_bytes(path.read_bytes().rstrip()[:keep])
    ran = red.toolkit("publish", "--verdict", "out/verdict.json")
    assert ran.returncode == 3
    assert len(ran.stderr.splitlines()) == 1


def test_no_verdict_is_one_line(project) -> None:
    ran = project.toolkit("publish", "--out", "out")
    assert ran.returncode == 3
    (line,) = ran.stderr.splitlines()
    assert "verdict.json" in line


def test_a_log_in_a_narrow_encoding_still_gets_the_verdict(red) -> None:
    ran = red.toolkit("publish", "--out", "out", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("FAILED")


def test_an_attempt_that_is_no_number_is_wrong_usage(project) -> None:
    project.write("tests/test_a.py", RED)
    ran = project.toolkit("ci", GITHUB_RUN_ATTEMPT="first")
    assert ran.returncode == 2
    (line,) = ran.stderr.splitlines()
    assert "GITHUB_RUN_ATTEMPT" in line


def test_a_log_tells_each_unit_and_each_failing_case_while_the_lane_runs(project) -> None:
    project.write("tests/test_a.py", RED)
    project.write("tests/test_b.py", CRASH)
    ran = project.toolkit("ci", FORCE_COLOR="")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    for unit in ("test_a.py", "test_b.py"):
        start = next(at for at, line in enumerate(lines) if line.startswith("START small-cpu") and unit in line)
        end = next(at for at, line in enumerate(lines) if line.startswith("END   small-cpu") and unit in line)
        assert start < end
        if unit == "test_b.py":
            assert "crashed" in lines[end]
            assert "SIGSEGV" in lines[end]
        else:
            assert any("test_a.py::test_bad" in line for line in lines[start:end] if line.startswith("FAIL "))
    assert "\x1b" not in ran.stdout
    assert commands(ran.stdout) == []


def watched(project, *args: str, **env: str) -> str:
    """What the command shows on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ci_toolkit", *args],
        cwd=project.folder,
        env=project.env | {"TERM": "xterm", "CI": ""} | env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 1.0)
        try:
            part = os.read(ours, 65536) if ready else b""
        except OSError:  # the last process has closed it
            break
        shown += part
    process.wait(timeout=10)
    os.close(ours)
    return shown.decode("utf-8", "replace")


def test_a_terminal_shows_a_line_that_lives_and_the_verdict_last(project) -> None:
    project.write("tests/test_a.py", RED)
    shown = watched(project, "ci")
    assert re.search(r"1 unit running, \d cases? finished, \d failed", shown)
    lines = [line for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).splitlines() if line.strip()]
    assert any(re.fullmatch(r"small-cpu test_a\.py .* \d\.\d s", line) for line in lines), "a line for the worker"
    assert not any("START" in line for line in lines)
    last = lines[-1]
    assert last.startswith("FAILED: 1 finding")
    assert shown.rstrip().endswith("\x1b[0m"), "the colours end"
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h"), "the cursor is shown again"


def test_a_dumb_terminal_gets_plain_lines(project) -> None:
    project.write("tests/test_a.py", RED)
    shown = watched(project, "ci", TERM="dumb")
    assert "\x1b" not in shown
    assert "START small-cpu" in shown
