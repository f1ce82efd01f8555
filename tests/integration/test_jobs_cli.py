"""One job plans, others run lanes, a last one gates: the commands of a workflow, each in an environment of its own."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

PLATFORMS = """\
schema: platforms/1
platforms:
  cpu: {device: cpu, runs_on: [ubuntu-24.04], env_allow: [CI_TOOLKIT_TEST_MARKER]}
  card: {device: toy, count: 2, runs_on: [self-hosted, toy], env_allow: [CI_TOOLKIT_TEST_MARKER]}
"""
SUITES = """\
schema: suites/1
suites:
  small: {platforms: [cpu, card], root: {path: tests}}
"""


def git(folder: Path, *args: str) -> None:
    done = subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-C", str(folder), *args], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def head(folder: Path) -> str:
    told = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, check=True)
    return told.stdout.decode().strip()


class Run:
    """A workflow run; jobs have the checkout and what was uploaded before them."""

    def __init__(self, project) -> None:
        self.project = project
        self.uploads = project.folder / "uploads"
        self.needs: dict[str, dict] = {}

    def job(self, *args: str, attempt: int = 1, **env: str) -> subprocess.CompletedProcess[str]:
        outputs = self.project.folder / "step_output"
        outputs.unlink(missing_ok=True)
        github = {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": str(attempt)}
        return self.project.toolkit(*args, **github | {"GITHUB_OUTPUT": str(outputs)} | env)

    def plan(self) -> None:
        ran = self.job("plan", "--fleet", "--event", "schedule", "--out", "plan")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        pairs = {}
        lines = (self.project.folder / "step_output").read_text().splitlines()
        for first, value in zip(lines[::3], lines[1::3], strict=True):
            pairs[first.partition("<<")[0]] = value
        self.needs["plan"] = {"result": "success", "outputs": pairs}
        self.matrix = json.loads(pairs["matrix_0"])["include"]

    def lane(self, lane: str, attempt: int = 1, commit: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        upload = self.uploads / f"evidence.hardware.{lane}.a{attempt}"
        planned = ("--plan", "plan/plan.json", "--job", lane, "--commit", commit)
        return self.job("ci", *planned, "--out", str(upload), attempt=attempt, **env)

    def gate(self, lanes: str = "success", attempt: int = 1) -> subprocess.CompletedProcess[str]:
        needs = json.dumps(self.needs | {"lanes_0": {"result": lanes}})
        return self.job("gate", "--plan", "plan/plan.json", "--uploads", "uploads", "--needs", needs, attempt=attempt)

    def kinds(self) -> set[str]:
        verdict = json.loads((self.project.folder / "out/verdict.json").read_text())
        return {finding["kind"] for finding in verdict.get("findings", []) if finding.get("blocks", True)}


@pytest.fixture
def planned(project) -> Run:
    project.write("conf/platforms.yml", PLATFORMS)
    project.write("conf/suites.yml", SUITES)
    project.write("tests/test_a.py", "def test_a(): pass\n")
    git(project.folder, "init", "-q")
    git(project.folder, "add", ".")
    git(project.folder, "commit", "-qm", "c")
    run = Run(project)
    run.plan()
    assert [entry["job"] for entry in run.matrix] == ["small-card", "small-cpu"]
    return run


def test_jobs_that_are_well_are_green_together(planned) -> None:
    card = planned.project.register_cards(2)
    for lane in ("small-cpu", "small-card"):
        ran = planned.lane(lane, **card)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    gated = planned.gate()
    assert gated.returncode == 0, gated.stdout + gated.stderr
    assert "2 lanes, 2 passed" in gated.stdout


def test_a_runner_with_other_cards_than_its_label_says_leaves_evidence_of_that(planned) -> None:
    assert planned.lane("small-cpu").returncode == 0
    ran = planned.lane("small-card", **planned.project.register_cards(1))
    assert ran.returncode == 4
    assert "asks for 2 devices toy, this machine has 1" in ran.stdout
    assert planned.gate("failure").returncode == 4
    assert planned.kinds() == {"wrong_device", "lane_empty"}


def test_a_job_that_was_run_again_counts_by_its_last_attempt(planned) -> None:
    card = planned.project.register_cards(2)
    assert planned.lane("small-card", **card).returncode == 0
    planned.project.write("tests/test_a.py", "import pathlib\ndef test_a(): assert pathlib.Path('fixed').exists()\n")
    assert planned.lane("small-cpu").returncode == 1
    assert planned.gate("failure").returncode == 1
    planned.project.write("tests/fixed", "")
    assert planned.lane("small-cpu", attempt=2).returncode == 0
    gated = planned.gate(attempt=2)
    assert gated.returncode == 0, gated.stdout + gated.stderr
    assert planned.gate("failure", attempt=2).returncode == 3, "a job's failure needs a reason in the last attempt"
    assert planned.kinds() == {"job_disagrees"}


def test_what_does_not_arrive_is_red(planned) -> None:
    assert planned.lane("small-cpu").returncode == 0
    assert planned.gate().returncode == 3
    assert planned.kinds() == {"no_upload"}
    shutil.rmtree(planned.project.folder / "plan")
    assert planned.gate().returncode == 3
    assert planned.kinds() == {"plan_lost"}


def test_evidence_of_another_commit_is_red_and_none_is_made_where_one_was_asked_for(planned) -> None:
    folder = planned.project.folder
    asked = head(folder)
    git(folder, "commit", "-q", "--allow-empty", "-m", "pushed later")
    refused = planned.lane("small-cpu", commit=asked)
    assert refused.returncode == 3
    assert f"{asked} was to be checked out, and {head(folder)} is" in refused.stderr
    assert not planned.uploads.exists()
    assert planned.job("plan", "--fleet", "--event", "push", "--commit", asked, "--out", "again").returncode == 3
    assert planned.job("plan", "--fleet", "--event", "push", "--commit", asked[:9], "--out", "again").returncode == 2

    card = planned.project.register_cards(2)
    for lane in ("small-cpu", "small-card"):
        planned.lane(lane, **card)
    gated = planned.gate()
    assert gated.returncode == 3
    assert f"the evidence is of another commit: {head(folder)}, planned was {asked}" in gated.stdout
    assert planned.kinds() == {"foreign_evidence"}


def test_a_job_that_is_not_planned_is_refused(planned) -> None:
    ran = planned.lane("small-other")
    assert ran.returncode == 5
    assert "there is no job 'small-other'" in ran.stderr
    assert planned.job("ci", "--plan", "plan/plan.json").returncode == 2
    assert planned.job("run", "--job", "small-cpu").returncode == 2
