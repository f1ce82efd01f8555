"""``ci-toolkit plan``: what this machine runs, what it leaves out and why, in plan.json and on the terminal."""

import json
import subprocess
import sys

import pytest

PLATFORMS = """\
schema: platforms/1
platforms:
  cpu: {device: cpu}
  gpu: {device: musa, count: 1}
  strange: {device: cpu, python: /no/such/python}
"""
SUITES = """\
schema: suites/1
suites:
  small: {platforms: [cpu, gpu], root: {path: tests}, sample: [test_a.py]}
  old: {platforms: [cpu], root: {path: tests}, requires: {python: "3.3"}}
  odd: {platforms: [strange], root: {path: tests}}
"""


@pytest.fixture
def planned(project):
    project.write("conf/platforms.yml", PLATFORMS)
    project.write("conf/suites.yml", SUITES)
    project.write("tests/test_a.py", "def test_a(): pass\n")
    return project


def document(project, folder: str = "out") -> dict:
    return json.loads((project.folder / folder / "plan.json").read_text(encoding="utf-8"))


def test_what_runs_and_what_is_left_out_with_its_reason(planned) -> None:
    ran = planned.toolkit("plan")
    assert ran.returncode == 0, ran.stderr
    here = ".".join(map(str, sys.version_info[:3]))
    assert ran.stdout.splitlines() == [
        "lane      small-cpu: 1 test files (fast tier: the suite's sample)",
        "left out  odd-strange: the interpreter /no/such/python can not be started: No such file or directory",
        f"left out  old-cpu: python is {here} (it needs 3.3)",
        "left out  small-gpu: this version has no module for device musa",
    ]
    plan = document(planned)
    assert [lane["id"] for lane in plan["lanes"]] == ["small-cpu"]
    assert {left["id"] for left in plan["left_out"]} == {"odd-strange", "old-cpu", "small-gpu"}
    assert plan["lanes"][0]["selection"]["units"] == ["test_a.py"]


def test_json_is_the_document(planned) -> None:
    ran = planned.toolkit("plan", "--full", "--out", "elsewhere", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == document(planned, "elsewhere")
    assert "units" not in json.loads(ran.stdout)["lanes"][0].get("selection", {})


@pytest.mark.parametrize(
    ("only", "code"),
    [("small-gpu", 4), ("odd-strange", 4), ("old-cpu", 4), ("*-gpu", 5), ("small-*", 0), ("small-cpuu", 5)],
)
def test_a_lane_that_was_named_must_run_and_a_glob_must_find_one(planned, only: str, code: int) -> None:
    ran = planned.toolkit("plan", "--only", only)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_expired_switch_is_an_error_at_its_line(planned) -> None:
    planned.write(
        "conf/fleet.yml", "schema: fleet/1\nswitched_off:\n  - {lanes: small-cpu, reason: hot, until: 2026-12-01}\n"
    )
    off = planned.toolkit("plan", "--today", "2026-12-01")
    assert "left out  small-cpu: switched off until 2026-12-01: hot" in off.stdout.splitlines()
    assert off.returncode == 5
    late = planned.toolkit("plan", "--today", "2026-12-02")
    assert late.returncode == 2
    said = "conf/fleet.yml:3: switched_off[0]: the switch expired on 2026-12-01; remove it, or renew it"
    assert late.stderr == f"ci-toolkit: error: {said}\n"


def test_the_runner_is_named_and_garbage_of_it_is_refused(planned) -> None:
    github = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/7/merge"}
    ran = planned.toolkit("plan", **github, GITHUB_RUN_ID="5", GITHUB_RUN_ATTEMPT="2")
    assert ran.returncode == 0, ran.stderr
    provenance = document(planned)["provenance"]
    assert (provenance["pull_request"], provenance["run"], provenance["attempt"]) == (7, "5", 2)
    ran = planned.toolkit("plan", **github, GITHUB_RUN_ATTEMPT="abc")
    assert ran.returncode == 2
    assert ran.stderr == "ci-toolkit: error: GITHUB_RUN_ATTEMPT is 'abc', not a number from 1\n"


def test_the_same_inputs_give_the_same_bytes(planned) -> None:
    github = {"GITHUB_EVENT_NAME": "push", "GITHUB_RUN_ID": "5", "RUNNER_NAME": "board"}
    assert planned.toolkit("plan", "--out", "a", **github).returncode == 0
    assert planned.toolkit("plan", "--out", "b", **github).returncode == 0
    assert (planned.folder / "a/plan.json").read_bytes() == (planned.folder / "b/plan.json").read_bytes()


def test_files_of_the_repository_do_not_stand_for_those_of_the_interpreter(planned) -> None:
    for name in ("platform.py", "json.py", "re.py", "importlib/__init__.py"):
        planned.write(name, "raise SystemExit('the wrong one')\n")
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "ci_toolkit", "plan", "--only", "small-cpu"],
        cwd=planned.folder,
        env=planned.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_planning_loads_no_heavy_library(planned) -> None:
    code = (
        "import sys; from ci_toolkit.cli.main import group;"
        "group.main(['plan'], standalone_mode=False);"
        "print(sorted({'torch', 'numpy', 'scipy', 'pytest', 'requests'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=planned.folder, env=planned.env, capture_output=True, text=True, check=False
    )
    assert ran.stdout.splitlines()[-1] == "[]", ran.stdout + ran.stderr
