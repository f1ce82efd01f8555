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


FLEET = """\
schema: platforms/1
platforms:
  cpu: {device: cpu, runs_on: [ubuntu-24.04]}
  card: {device: cuda, runs_on: [self-hosted, card], boards: 1}
"""
FLEET_SUITES = """\
schema: suites/1
suites:
  ops: {platforms: [cpu, card], root: {path: tests}}
  more: {platforms: [card], root: {path: more}}
"""
TABLE = """\
schema: selection/1
paths: [{path: "src/{op}.py", suites: [ops], units: ["test_{op}.py"]}]
"""


@pytest.fixture
def fleet(project):
    project.write("conf/platforms.yml", FLEET)
    project.write("conf/suites.yml", FLEET_SUITES)
    project.write("conf/selection.yml", TABLE)
    project.write("tests/test_add.py", "def test_add(): pass\n")
    git(project, "init", "-q", "-b", "main")
    return project


def git(project, *args: str) -> None:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *own, *args], cwd=project.folder, env=project.env, check=True, capture_output=True)


def commit(project) -> None:
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "x")


def test_a_fleet_is_planned_by_what_changed_and_told_to_github(fleet) -> None:
    commit(fleet)
    fleet.write("src/add.py", "x = 1\n")
    commit(fleet)
    outputs = fleet.folder / "outputs"
    ran = fleet.toolkit(
        "plan", "--fleet", "--event", "pull_request", "--since", "HEAD~1", "--explain", GITHUB_OUTPUT=str(outputs)
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "lane      ops-card: 1 test files (changed files)",
        "lane      ops-cpu: 1 test files (changed files)",
        "left out  more-card: nothing that it tests has changed",
        "tier pr, of the event pull_request",
        "changes: 1 of 1 changed files are code",
        "why       ops-card: src/add.py fits src/{op}.py",
        "why       ops-cpu: src/add.py fits src/{op}.py",
        "job       ops-card: ops-card; on self-hosted, card, at most 70 minutes, matrix 0",
        "job       ops-cpu: ops-cpu; on ubuntu-24.04, at most 70 minutes, matrix 0",
    ]
    told = outputs.read_text(encoding="utf-8")
    assert '"job":"ops-card","runs_on":["self-hosted","card"],"timeout":70' in told
    assert "matrix_3<<" in told


def test_a_change_of_text_alone_plans_nothing_and_says_so(fleet) -> None:
    commit(fleet)
    fleet.write("README.md", "words\n")
    commit(fleet)
    args = ("plan", "--fleet", "--event", "pull_request", "--since", "HEAD~1")
    ran = fleet.toolkit(*args)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "no lane runs for this event"
    assert document(fleet)["change"]["why"] == "nothing: all 1 changed files are non-code"
    gated = fleet.toolkit("gate")
    assert gated.returncode == 0, gated.stdout + gated.stderr
    assert "nothing was tested: nothing: all 1 changed files are non-code" in gated.stdout
    assert fleet.toolkit("plan", "--fleet", "--event", "push", "--only", "none*").returncode == 5


def test_a_comment_is_planned_like_the_pull_request_that_it_is_on(fleet) -> None:
    commit(fleet)
    fleet.write("src/add.py", "x = 1\n")
    commit(fleet)
    labels = [{"name": "ci: more"}]
    issue = {"number": 5, "pull_request": {"url": "x"}, "labels": labels}
    fleet.write("conf/selection.yml", TABLE + 'labels: {"ci: more": {lanes: [more-card]}}\n')
    event = fleet.write("event.json", json.dumps({"action": "created", "issue": issue}))
    env = {"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_EVENT_PATH": str(event)}
    ran = fleet.toolkit("plan", "--fleet", "--since", "HEAD~1", **env)
    assert ran.returncode == 0, ran.stderr
    plan = document(fleet)
    assert {lane["id"] for lane in plan["lanes"]} == {"ops-card", "ops-cpu", "more-card"}
    assert (plan["tier"], plan["change"]["code"], plan["empty"]) == ("pr", 1, "pass")
    assert plan["provenance"]["pull_request"] == 5
    asked = fleet.toolkit(
        "plan", "--fleet", "--tier", "", "--since", "HEAD~1", "--only", "ops-*", "--tier", "nightly", **env
    )
    assert asked.returncode == 0, asked.stderr
    assert (document(fleet)["tier"], len(document(fleet)["lanes"])) == ("nightly", 2)


def test_a_lane_that_was_planned_for_a_fleet_runs_as_planned(fleet) -> None:
    commit(fleet)
    ran = fleet.toolkit("plan", "--fleet", "--event", "push")
    assert ran.returncode == 0, ran.stderr
    ran = fleet.toolkit("run", "--plan", "out/plan.json", "ops-cpu")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    gated = fleet.toolkit("gate")
    assert gated.returncode == 3, "the lanes of the other runners are missing"
    lanes = json.loads((fleet.folder / "out/verdict.json").read_text(encoding="utf-8"))["lanes"]
    assert {lane["lane"]: lane["result"] for lane in lanes} == {
        "ops-cpu": "passed", "ops-card": "failed", "more-card": "failed",
    }  # fmt: skip


def test_options_of_a_fleet_are_refused_without_it(fleet) -> None:
    ran = fleet.toolkit("plan", "--tier", "nightly")
    assert ran.returncode == 2
    assert "need --fleet" in ran.stderr
