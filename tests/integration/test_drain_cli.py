"""A runner whose device is sick: few workers are tried on it, and the verdict of all jobs names it with its card."""

import json
from pathlib import Path

import pytest

PLATFORMS = """
schema: platforms/1
platforms:
  toy: {{device: toy, boards: 1, runs_on: [self-hosted, toy], lease: {{folder: {leases}}},
        env_allow: [CI_TOOLKIT_TEST_MARKER]}}
  cpu: {{device: cpu, runs_on: [self-hosted], env_allow: [CI_TOOLKIT_TEST_MARKER]}}
"""
SUITES = """
schema: suites/1
suites:
  a: {platforms: [toy, cpu], root: {path: tests}}
  b: {platforms: [toy], root: {path: tests}}
  c: {platforms: [toy], root: {path: tests}}
  d: {platforms: [toy], root: {path: tests}}
"""
SICK = """
def ailment(device, since):
    return "it fell off the bus" if device.uuid == "TOY-1" else ""
"""


@pytest.fixture
def cards(project) -> dict[str, str]:
    project.write("conf/platforms.yml", PLATFORMS.format(leases=project.folder / "leases"))
    project.write("conf/suites.yml", SUITES)
    for number in range(6):
        project.write(f"tests/test_{number}.py", "def test(): pass\n")
    return {**project.register_cards(1), "RUNNER_NAME": "box-7"}


def sick(project) -> None:
    card = project.folder / "plugins/toy_card.py"
    text = card.read_text(encoding="utf-8").replace('uuid=f"TOY-{n}"', 'uuid=f"TOY-{n + 1}", arch="t1"')
    card.write_text(text + SICK, encoding="utf-8")


def report(folder: Path, lane: str) -> dict:
    return json.loads((folder / lane / "a1/report.json").read_text(encoding="utf-8"))


def test_a_sick_card_costs_few_workers_and_few_lanes_and_its_runner_is_named(project, cards) -> None:
    sick(project)
    ran = project.toolkit("ci", "--jobs", "1", **cards)
    assert ran.returncode == 4, ran.stdout + ran.stderr
    out = project.folder / "out"
    tried = {lane: len(report(out, f"{lane}-toy").get("workers", ())) for lane in "abcd"}
    assert tried == {"a": 3, "b": 3, "c": 0, "d": 0}
    assert report(out, "a-cpu")["counts"] == {"passed": 6}
    kinds = [error["kind"] for error in report(out, "a-toy")["errors"]]
    assert kinds == ["runner"] * 6
    assert "the runner failed 3 workers in a row" in report(out, "a-toy")["errors"][-1]["message"]
    (error,) = report(out, "d-toy")["errors"]
    assert error["message"].startswith("not tried, as the runner failed the lanes a-toy, b-toy before it: ")
    verdict = json.loads((out / "verdict.json").read_text(encoding="utf-8"))
    (blamed,) = verdict["drain"]
    assert (blamed["runner"], blamed["lanes"]) == ("box-7", ["a-toy", "b-toy", "c-toy", "d-toy"])
    assert blamed["devices"] == ["Toy t1 (toy 0, TOY-1)"]
    assert "TOY-1 is sick: it fell off the bus" in blamed["reasons"][0]
    found = [one for one in verdict["findings"] if one.get("runner") and one.get("device")]
    assert {(one["expected"], one["observed"]) for one in found} == {("toy", "Toy t1 (toy 0, TOY-1)")}
    summary = (out / "summary.md").read_text(encoding="utf-8")
    assert "**Runners to drain**\n\n- <code>box-7</code>: a\\-toy, b\\-toy, c\\-toy, d\\-toy; Toy t1" in summary
    assert "drain     box-7: a-toy, b-toy, c-toy, d-toy; Toy t1 (toy 0, TOY-1); " in ran.stdout


def test_a_lane_that_passes_after_one_that_failed_spends_nothing(project, cards) -> None:
    """The card is sick for the first lane only, and for the third: the fourth is still tried."""
    sick(project)
    card = project.folder / "plugins/toy_card.py"
    seen = project.folder / "out/b-toy", project.folder / "out/c-toy"
    now = f"import pathlib\nB, C = [pathlib.Path(p) for p in {[str(one) for one in seen]!r}]\n"
    text = card.read_text(encoding="utf-8").replace('if device.uuid == "TOY-1"', "if C.exists() or not B.exists()")
    card.write_text(now + text, encoding="utf-8")
    assert project.toolkit("ci", "--only", "*-toy", "--jobs", "1", **cards).returncode == 4
    out = project.folder / "out"
    tried = {lane: len(report(out, f"{lane}-toy").get("workers", ())) for lane in "abcd"}
    assert tried == {"a": 3, "b": 6, "c": 3, "d": 3}


def test_the_gate_of_many_jobs_tells_sick_runners_from_sound_ones(project, cards) -> None:
    github = {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7"}
    planned = project.toolkit("plan", "--fleet", "--event", "schedule", "--out", "plan", **github, **cards)
    assert planned.returncode == 0, planned.stdout + planned.stderr
    jobs = json.loads((project.folder / "plan/plan.json").read_text(encoding="utf-8"))["jobs"]
    for job in jobs:
        if job["platform"] == "toy":
            sick(project)
        upload = f"uploads/evidence.hardware.{job['id']}.a1"
        env = github | cards | {"RUNNER_NAME": f"box-of-{job['platform']}"}
        ran = project.toolkit("ci", "--plan", "plan/plan.json", "--job", job["id"], "--out", upload, **env)
        assert ran.returncode == (4 if job["platform"] == "toy" else 0), ran.stdout + ran.stderr
    gated = project.toolkit("gate", "--plan", "plan/plan.json", "--uploads", "uploads", **github)
    assert gated.returncode == 4
    verdict = json.loads((project.folder / "out/verdict.json").read_text(encoding="utf-8"))
    assert [one["runner"] for one in verdict["drain"]] == ["box-of-toy"]
    published = project.toolkit("publish", "--verdict", "out/verdict.json")
    assert "drain     box-of-toy: " in published.stdout
