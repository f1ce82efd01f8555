"""What the runner's environment says of the run that reports."""

import json
from pathlib import Path

import pytest

from ci_toolkit.errors import UsageError
from ci_toolkit.github.marker import RunAt
from ci_toolkit.github.run_context import run_context, token

STEP = {
    "GITHUB_REPOSITORY": "o/r",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_SHA": "f" * 40,
    "GITHUB_SERVER_URL": "https://github.example.org",
    "GITHUB_API_URL": "https://github.example.org/api/v3",
    "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/Nightly GPU.yml@refs/heads/main",
}


def event(folder: Path, name: str, payload: object) -> dict[str, str]:
    (folder / "event.json").write_text(json.dumps(payload))
    return STEP | {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(folder / "event.json")}


def test_a_push() -> None:
    found = run_context(STEP)
    assert (found.at, found.head, found.pull_request) == (RunAt(77, 2), "f" * 40, None)
    assert found.url == "https://github.example.org/o/r/actions/runs/77"
    assert found.api == "https://github.example.org/api/v3"
    assert found.key == "nightly-gpu"


def test_a_pull_request_is_judged_by_its_head_not_by_the_merge(tmp_path: Path) -> None:
    payload = {"pull_request": {"number": 12, "head": {"sha": "b" * 40}}}
    found = run_context(event(tmp_path, "pull_request", payload))
    assert (found.head, found.pull_request) == ("b" * 40, 12)


def test_a_comment_on_a_pull_request_names_it_and_no_commit(tmp_path: Path) -> None:
    found = run_context(event(tmp_path, "issue_comment", {"issue": {"number": 12, "pull_request": {}}}))
    assert (found.head, found.pull_request) == ("", 12)
    assert run_context(event(tmp_path, "issues", {"issue": {"number": 12}})).pull_request is None


def test_a_run_that_reports_for_another_counts_as_that_one(tmp_path: Path) -> None:
    payload = {"workflow_run": {"id": 55, "run_attempt": 3, "head_sha": "e" * 40, "pull_requests": [{"number": 9}]}}
    found = run_context(event(tmp_path, "workflow_run", payload))
    assert (found.at, found.head, found.pull_request) == (RunAt(55, 3), "", None)
    assert found.url.endswith("/runs/55")


@pytest.mark.parametrize(
    "change",
    [
        {"GITHUB_REPOSITORY": ""},
        {"GITHUB_REPOSITORY": "o/r/../x"},
        {"GITHUB_REPOSITORY": "o/r?x"},
        {"GITHUB_RUN_ID": ""},
        {"GITHUB_RUN_ID": "9" * 30},
        {"GITHUB_RUN_ATTEMPT": "x"},
        {"GITHUB_EVENT_PATH": "no/such/file"},
    ],
)
def test_what_can_not_be_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        run_context(STEP | change)


@pytest.mark.parametrize(
    "payload", [[], {"pull_request": 3}, {"pull_request": {"number": "1; x", "head": "x"}}, {"workflow_run": "x"}]
)
def test_an_odd_payload_names_no_pull_request(tmp_path: Path, payload: object) -> None:
    assert run_context(event(tmp_path, "pull_request", payload)).pull_request is None


def test_a_server_that_is_no_address_gives_no_link() -> None:
    assert run_context(STEP | {"GITHUB_SERVER_URL": "https://x/)[y"}).url == ""


def test_the_token() -> None:
    assert token({"GITHUB_TOKEN": " a\n", "GH_TOKEN": "b"}) == "a"
    assert token({"GITHUB_TOKEN": "", "GH_TOKEN": "b"}) == "b"
    with pytest.raises(UsageError, match="GITHUB_TOKEN"):
        token({})
