"""The event as its runner tells it."""

import json
from pathlib import Path

import pytest

from ci_toolkit.errors import UsageError
from ci_toolkit.github.event import Arrived, arrived


def told(folder: Path, name: str, payload: object) -> Arrived:
    path = folder / "event.json"
    path.write_text(json.dumps(payload), encoding="utf-8")
    return arrived({"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path)})


def test_outside_github_it_is_local() -> None:
    assert arrived({}) == Arrived("local")


def test_where_each_event_starts_from(tmp_path: Path) -> None:
    pull = {"pull_request": {"base": {"sha": "abc"}, "labels": [{"name": "ci: full"}, {"name": 3}, None]}}
    assert told(tmp_path, "pull_request", pull) == Arrived("pull_request", ("ci: full",), "abc")
    assert told(tmp_path, "pull_request_target", pull).name == "pull_request"
    assert told(tmp_path, "merge_group", {"merge_group": {"base_sha": "def"}}).base == "def"
    assert told(tmp_path, "push", {"before": "123"}).base == "123"


def test_a_comment_has_the_labels_of_its_pull_request_and_no_base(tmp_path: Path) -> None:
    labels = [{"name": "ci: full"}]
    issue = {"number": 5, "pull_request": {}, "labels": labels}
    assert told(tmp_path, "issue_comment", {"issue": issue}) == Arrived("issue_comment", ("ci: full",))
    assert told(tmp_path, "issue_comment", {"issue": {"number": 5, "labels": labels}}) == Arrived("issue_comment")


@pytest.mark.parametrize("payload", [{}, [], None, {"pull_request": 3, "before": "0" * 40}, {"before": ["x"]}])
def test_a_payload_without_a_base_has_none(tmp_path: Path, payload: object) -> None:
    assert told(tmp_path, "push", payload) == Arrived("push")


def test_a_payload_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="payload can not be read"):
        arrived({"GITHUB_EVENT_PATH": str(path)})
    with pytest.raises(UsageError, match="payload can not be read"):
        arrived({"GITHUB_EVENT_PATH": str(tmp_path / "none")})
