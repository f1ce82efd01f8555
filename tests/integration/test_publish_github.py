"""``ci-toolkit publish`` through GitHub's API: the real command against a stand-in that checks each request."""

import json
from collections.abc import Iterator

import pytest
from github_api.fake import BOT, FakeGitHub, Fault

TOKEN = "ghs_thisIsASecretToken0123456789"
HEAD = "c" * 40
RED = "def test_good(): pass\ndef test_bad(): assert 41 == 42\n"
GREEN = "def test_good(): pass\ndef test_bad(): pass\n"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        yield fake
    assert fake.violations == []


@pytest.fixture
def red(project):
    """A project whose run failed."""
    project.write("tests/test_a.py", RED)
    assert project.toolkit("ci").returncode == 1
    return project


def run(project, github, event: dict, name: str = "pull_request", number: int = 7) -> dict[str, str]:
    """The environment of a step of run ``number``."""
    payload = project.write(f"event-{number}.json", json.dumps(event))
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": github.url,
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": str(number),
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(payload),
        "GITHUB_SHA": "a" * 40,
        "GITHUB_WORKSPACE": str(project.folder),
        "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/pr.yml@refs/heads/main",
        "GITHUB_TOKEN": TOKEN,
    }


PULL = {"pull_request": {"number": 5, "head": {"sha": HEAD}}}


def test_a_pull_request_gets_one_comment_and_a_check_run_at_its_head(red, github) -> None:
    wanted = ("publish", "--out", "out", "--comment", "--check-run", "hardware gate")
    ran = red.toolkit(*wanted, **run(red, github, PULL))
    assert (ran.returncode, ran.stderr) == (1, "")
    (comment,) = github.comments.values()
    assert comment["issue_url"].endswith("/issues/5")
    assert "41 == 42" in comment["body"]
    (check,) = github.checks.values()
    assert (check["head_sha"], check["conclusion"], check["name"]) == (HEAD, "failure", "hardware gate")
    assert [(note["path"], note["start_line"]) for note in github.annotations[check["id"]]] == [("tests/test_a.py", 2)]

    again = red.toolkit(*wanted, **run(red, github, PULL, number=8))
    assert again.returncode == 1
    assert len(github.comments) == 1, "the comment is edited, not doubled"
    assert "comment on #5 updated" in again.stdout
    assert TOKEN not in ran.stdout + again.stdout


def test_an_issue_is_kept_while_red_and_closed_by_what_was_tested_green(red, github) -> None:
    wanted = ("publish", "--out", "out", "--issue", "--key", "nightly")
    assert red.toolkit(*wanted, **run(red, github, {}, "schedule")).returncode == 1
    (issue,) = github.issues.values()
    assert issue["state"] == "open"

    verdict = json.loads((red.folder / "out/verdict.json").read_text())
    empty = {**verdict, "result": "passed", "exit_code": 0, "exit_codes": [], "lanes": [], "findings": []}
    red.write("empty/verdict.json", json.dumps(empty))
    left = red.toolkit("publish", "--out", "empty", *wanted[3:], **run(red, github, {}, "schedule", 8))
    assert (left.returncode, issue["state"]) == (0, "open"), "a plan without a lane proves nothing"

    red.write("tests/test_a.py", GREEN)
    assert red.toolkit("ci", "--out", "good").returncode == 0
    assert red.toolkit("publish", "--out", "good", *wanted[3:], **run(red, github, {}, "schedule", 9)).returncode == 0
    assert issue["state"] == "closed"


def test_a_refusal_is_told_after_all_that_is_local_was_written(red, github) -> None:
    github.faults.append(Fault("POST", "/check-runs$", 403, body=b'{"message": "Resource not accessible"}', times=9))
    (red.folder / "out/summary.md").unlink()
    ran = red.toolkit("publish", "--out", "out", "--comment", "--check-run", "x", **run(red, github, PULL))
    assert "checks: write" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (red.folder / "out/summary.md").is_file()
    assert len(github.comments) == 1, "what can be done is done"
    assert ran.returncode == 1, "the verdict's own code ranks higher"


def test_a_green_verdict_that_could_not_be_told_ends_with_6(project, github) -> None:
    project.write("tests/test_a.py", GREEN)
    assert project.toolkit("ci").returncode == 0
    github.faults.append(Fault("POST", "/check-runs$", 403, times=9))
    ran = project.toolkit("publish", "--out", "out", "--check-run", "x", **run(project, github, PULL))
    assert ran.returncode == 6


def test_a_forks_verdict_can_only_comment(red, github) -> None:
    github.add_pull(5, HEAD)
    tested = {"workflow_run": {"id": 6, "run_attempt": 1}}
    env = run(red, github, tested, "workflow_run")
    refused = red.toolkit("publish", "--out", "out", "--comment", "--for-head", HEAD, "--check-run", "x", **env)
    assert (refused.returncode, github.writes()) == (2, [])
    assert red.toolkit("publish", "--out", "out", "--comment", "--for-head", HEAD, **env).returncode == 1
    (comment,) = github.comments.values()
    assert comment["user"]["login"] == BOT["login"]
    assert "the fork's own code" in comment["body"]


COMMENTED = {"action": "created", "issue": {"number": 5, "pull_request": {}}, "comment": {"id": 3}}


def digest(project, out: str = "out") -> str:
    """What the job of the gate tells."""
    outputs = project.folder / "outputs"
    outputs.unlink(missing_ok=True)
    env = {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(outputs)}
    project.toolkit("publish", "--out", out, **env)
    lines = outputs.read_text(encoding="utf-8").splitlines()
    [at] = [number for number, line in enumerate(lines) if line.startswith("digest<<")]
    return lines[at + 1]


def test_a_run_of_a_comment_gives_the_approved_commit_a_check_run(project, github) -> None:
    project.write("tests/test_a.py", GREEN)
    assert project.toolkit("ci").returncode == 0
    wanted = ("publish", "--out", "out", "--comment", "--check-run", "x", "--commit", HEAD, "--digest", digest(project))
    env = run(project, github, COMMENTED, "issue_comment")
    assert project.toolkit(*wanted, **env).returncode == 0
    (check,) = github.checks.values()
    assert (check["head_sha"], check["conclusion"]) == (HEAD, "success")
    (comment,) = github.comments.values()
    assert comment["issue_url"].endswith("/issues/5")
    assert project.toolkit("publish", "--out", "out", "--check-run", "x", **env).returncode == 2
    for bad in (("--commit", HEAD), ("--check-run", "x", "--commit", HEAD[:9])):
        assert project.toolkit("publish", "--out", "out", *bad, **env).returncode == 2


@pytest.mark.parametrize("told", ["", "0" * 64])
def test_a_green_that_the_gate_did_not_write_is_a_lost_verdict(project, github, told: str) -> None:
    """Code of a fork can upload a verdict of its own; it can not set an output of the gate's job."""
    project.write("tests/test_a.py", GREEN)
    assert project.toolkit("ci").returncode == 0
    wanted = ("--comment", "--check-run", "x", "--commit", HEAD, "--digest", told)
    ran = project.toolkit("publish", "--out", "out", *wanted, **run(project, github, COMMENTED, "issue_comment"))
    assert ran.returncode == 3
    (check,) = github.checks.values()
    assert (check["head_sha"], check["conclusion"]) == (HEAD, "failure")
    assert "is not the one that the gate wrote" in check["output"]["summary"]


@pytest.mark.parametrize("left", [None, "{"])
def test_a_verdict_that_did_not_arrive_is_red_for_all_to_see(project, github, left: str | None) -> None:
    if left:
        project.write("lost/verdict.json", left)
    wanted = ("--check-run", "x", "--commit", HEAD, "--digest", "0" * 64)
    ran = project.toolkit("publish", "--out", "lost", *wanted, **run(project, github, COMMENTED, "issue_comment"))
    assert ran.returncode == 3
    (check,) = github.checks.values()
    assert check["conclusion"] == "failure"
    assert "verdict did not arrive" in check["output"]["summary"]


def test_a_red_verdict_is_told_with_its_reasons_also_without_a_digest(red, github) -> None:
    """The outputs of a job that failed may be lost; nobody gains by a red of their own."""
    wanted = ("--check-run", "x", "--commit", HEAD, "--digest", "")
    ran = red.toolkit("publish", "--out", "out", *wanted, **run(red, github, COMMENTED, "issue_comment"))
    assert ran.returncode == 1
    (check,) = github.checks.values()
    assert "41 == 42" in check["output"]["summary"]


def test_without_a_token_it_says_so(red, github) -> None:
    ran = red.toolkit("publish", "--out", "out", "--comment", **run(red, github, PULL) | {"GITHUB_TOKEN": ""})
    assert "there is no token" in ran.stderr
    assert ran.returncode == 2
