"""The first red is named while its lane still runs, and only where no ratchet expects it."""

import os

import pytest

RATCHET = """
schema: ratchet/1
membership: grows
groups:
  old: {{outcome: {outcome}, match: any, reason: known, expires: 2199-01-01, cases: {{test_a.py: [test_old]}}}}
"""
SUITES = "schema: suites/1\nsuites: {small: {platforms: [cpu], root: {path: tests}, ratchet: ratchets/small}}\n"
OLD = {
    "failed": "def test_old(): assert 1 == 2\n",
    "crashed": "import os, signal\ndef test_old(): os.kill(os.getpid(), signal.SIGSEGV)\n",
}
NEW = {
    "failed": "def test_new(): assert 6 * 7 == 41\n",
    "crashed": "import os, signal\ndef test_new(): os.kill(os.getpid(), signal.SIGABRT)\n",
}
WAITS = """
def test_waits():
    "Ends when somebody has read of the first red."
    with open({gate!r}) as gate:
        assert gate.read() == "read"
"""


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("::error")]


@pytest.fixture
def small(project):
    project.write("conf/suites.yml", SUITES)
    return project


@pytest.mark.parametrize("old", OLD)
def test_what_the_ratchet_expects_is_no_news(small, old: str) -> None:
    small.write("conf/ratchets/small/cpu.yml", RATCHET.format(outcome=old))
    small.write("tests/test_a.py", OLD[old])
    ran = small.toolkit("ci", GITHUB_ACTIONS="true")
    assert ran.returncode == 0, ran.stdout
    assert errors(ran.stdout) == []
    assert "FAIL" not in ran.stdout


@pytest.mark.parametrize("new", NEW)
def test_one_red_of_a_run_is_told_before_the_verdict(small, new: str) -> None:
    small.write("conf/ratchets/small/cpu.yml", RATCHET.format(outcome="failed"))
    small.write("tests/test_a.py", OLD["failed"] + NEW[new] + "def test_more(): raise ValueError\n")
    ran = small.toolkit("ci", GITHUB_ACTIONS="true")
    assert ran.returncode in (1, 3)
    told = [line for line in errors(ran.stdout) if "first red" in line]
    assert len(told) == 1
    assert told[0].startswith("::error title=first red · small-cpu::test_a.py::test_new ")
    assert ran.stdout.index(told[0]) < ran.stdout.index("END   small-cpu")
    assert errors(small.toolkit("ci").stdout) == [], "nobody reads them outside GitHub"


def test_it_is_told_while_the_lane_still_runs(small) -> None:
    gate = small.folder / "gate"
    os.mkfifo(gate)
    small.write("conf/ratchets/small/cpu.yml", RATCHET.format(outcome="failed"))
    small.write("tests/test_a.py", OLD["failed"] + NEW["failed"] + WAITS.format(gate=str(gate)))
    with small.start("ci", GITHUB_ACTIONS="true") as run:
        assert run.stdout
        for line in run.stdout:
            if "first red" in line:
                break
        else:
            pytest.fail("the lane ended, and no red was told")
        gate.write_text("read")
        rest = run.stdout.read()
    assert run.returncode == 1
    assert "1 passed, 2 failed" in rest
