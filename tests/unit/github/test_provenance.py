"""Where a run comes from."""

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest

from ci_toolkit.errors import EvidenceError, UsageError
from ci_toolkit.github.provenance import collect


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    # These tests may run in a hook of git, which names the hook's repository here.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", "-C", str(folder), *identity, *args], check=True, capture_output=True, env=env)


def test_a_repository_is_named_by_commit_and_tracked_edits(tmp_path: Path) -> None:
    assert collect(tmp_path, {}).commit == ""
    assert collect(tmp_path, {}).dirty is None
    (tmp_path / "a").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "first")
    (tmp_path / "untracked").write_text("x")
    clean = collect(tmp_path, {})
    assert len(clean.commit) == 40
    assert clean.dirty is False
    (tmp_path / "a").write_text("2")
    assert collect(tmp_path, {}).dirty is True


def test_a_checkout_of_another_owner_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    refused = subprocess.run(["git", "-C", str(tmp_path), "rev-parse", "HEAD"], capture_output=True, check=False)
    assert b"dubious ownership" in refused.stderr
    assert len(collect(tmp_path, {}).commit) == 40


def test_a_runner_says_which_run_and_pull_request(tmp_path: Path) -> None:
    environ = {
        "GITHUB_RUN_ID": "77",
        "GITHUB_RUN_ATTEMPT": "3",
        "GITHUB_REF": "refs/pull/12/merge",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_SHA": "f" * 40,
        "RUNNER_NAME": "board-1",
    }
    found = collect(tmp_path, environ)
    assert (found.run, found.attempt, found.pull_request, found.repository) == ("77", 3, 12, "o/r")
    assert (found.runner, found.commit) == ("board-1", "f" * 40)
    assert collect(tmp_path, {"GITHUB_REF": "refs/heads/pull/12"}).pull_request is None


def test_a_comments_run_is_of_the_pull_request_that_it_is_on(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    environ = {"GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_NAME": "issue_comment", "GITHUB_EVENT_PATH": str(event)}
    event.write_text(json.dumps({"issue": {"number": 7, "pull_request": {}}}))
    assert collect(tmp_path, environ).pull_request == 7
    assert collect(tmp_path, environ | {"GITHUB_EVENT_NAME": "issues"}).pull_request is None
    event.write_text(json.dumps({"issue": {"number": 7}}))
    assert collect(tmp_path, environ).pull_request is None


def test_the_commit_that_was_to_be_checked_out_must_be(tmp_path: Path) -> None:
    other, event = "c" * 40, {"GITHUB_SHA": "f" * 40}
    assert collect(tmp_path, event, other).commit == other, "without git it stands above the event's own"
    (tmp_path / "a").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "first")
    there = collect(tmp_path, event).commit
    assert collect(tmp_path, event, there).commit == there
    with pytest.raises(EvidenceError, match=f"{other} was to be checked out, and {there} is"):
        collect(tmp_path, event, other)


@pytest.mark.parametrize("commit", ["main", "c" * 39, "C" * 40, "c" * 40 + "\n", "--help"])
def test_what_is_no_whole_commit_can_not_be_asked_for(tmp_path: Path, commit: str) -> None:
    with pytest.raises(UsageError, match="no whole commit SHA"):
        collect(tmp_path, {}, commit)


def test_two_local_runs_are_two_runs(tmp_path: Path) -> None:
    assert collect(tmp_path, {}).run != collect(tmp_path, {}).run


@pytest.mark.parametrize("attempt", ["abc", "0", "-1", "1.5", "\u0663", " 1", "1\n", "9" * 5000])
def test_an_attempt_that_is_no_number_is_refused(tmp_path: Path, attempt: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_RUN_ATTEMPT"):
        collect(tmp_path, {"GITHUB_RUN_ATTEMPT": attempt})


@pytest.mark.parametrize(
    "ref", ["refs/pull/abc/merge", "refs/pull/0/merge", "refs/pull//merge", "refs/pull/" + "9" * 5000]
)
def test_a_reference_that_names_no_pull_request_gives_none(tmp_path: Path, ref: str) -> None:
    assert collect(tmp_path, {"GITHUB_REF": ref}).pull_request is None


def test_a_hook_of_another_repository_does_not_lend_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        folder.mkdir()
        (folder / "a").write_text(folder.name)
        git(folder, "init", "-q")
        git(folder, "add", "a")
        git(folder, "commit", "-qm", folder.name)
    alone = collect(ours, {})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    found = collect(ours, {})
    assert (found.commit, found.dirty) == (alone.commit, False)


def test_without_git_the_runners_word_stands_and_dirty_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = collect(tmp_path, {"GITHUB_SHA": "f" * 40})
    assert (found.commit, found.dirty) == ("f" * 40, None)


def test_a_repository_without_a_commit_has_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert collect(tmp_path, {}).commit == ""


def test_image_system_and_toolkit(tmp_path: Path) -> None:
    found = collect(tmp_path, {"ImageOS": "ubuntu24", "ImageVersion": "20261101.1"})
    assert found.image == "ubuntu24-20261101.1"
    assert found.system == f"{platform.system().lower()}-{platform.machine().lower()}"
    assert found.toolkit
    assert collect(tmp_path, {}).image == ""
