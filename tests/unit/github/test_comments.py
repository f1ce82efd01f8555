"""One comment a key: created once, then edited, only by its own account, and never by an older run."""

import pytest
from github_api.fake import BOT, PERSON, Fault

from ci_toolkit.errors import RemoteError
from ci_toolkit.github.account import Account, own_account
from ci_toolkit.github.comments import BODY, comment_room, put_comment
from ci_toolkit.github.marker import Mark, RunAt, write_mark
from ci_toolkit.github.rest import Rest

ME = Account(BOT["id"], BOT["login"])


def put(rest: Rest, text: str, run: int = 5, attempt: int = 1, key: str = "k") -> str:
    return put_comment(rest, ME, "o/r", 7, key, RunAt(run, attempt), text)


def texts(github) -> list[str]:
    return [comment["body"].partition("\n")[2] for comment in github.comments.values() if "-toolkit" in comment["body"]]


def test_the_tokens_account_is_asked_for_once(github, rest) -> None:
    assert own_account(rest) == ME


def test_it_is_created_once_and_then_edited(github, rest) -> None:
    assert put(rest, "red") == "comment on #7 created"
    assert put(rest, "green", attempt=2) == "comment on #7 updated"
    assert put(rest, "red again", run=6) == "comment on #7 updated"
    assert texts(github) == ["red again"]
    assert [request.method for request in github.writes()] == ["POST", "PATCH", "PATCH"]


def test_it_is_found_behind_230_others(github, rest) -> None:
    for number in range(230):
        github.add_comment(7, f"number {number}")
    put(rest, "first")
    put(rest, "second")
    assert texts(github) == ["second"]
    assert len(github.comments) == 231


def test_two_keys_do_not_meet(github, rest) -> None:
    put(rest, "one", key="nightly")
    put(rest, "two", key="nightly.h200")
    put(rest, "three", key="nightly")
    assert texts(github) == ["three", "two"]


@pytest.mark.parametrize("user", [PERSON, BOT | {"id": 99}, BOT | {"login": "ci[bot]", "id": 5}])
def test_what_others_wrote_is_not_touched(github, rest, user) -> None:
    forged = write_mark("comment", "k", Mark(RunAt(999, 1))) + "forged"
    github.add_comment(7, forged, user)
    put(rest, "mine")
    assert texts(github) == ["forged", "mine"]


def test_a_comment_of_a_deleted_account_is_nobodys(github, rest) -> None:
    github.add_comment(7, write_mark("comment", "k", Mark(RunAt(1, 1))))["user"] = None
    put(rest, "mine")
    assert len(github.comments) == 2


@pytest.mark.parametrize(("run", "attempt"), [(5, 1), (4, 9), (5, 2)])
def test_an_older_run_that_ends_later_changes_nothing(github, rest, run: int, attempt: int) -> None:
    put(rest, "newer", 5, 3)
    told = put(rest, "older", run, attempt)
    assert told == f"comment on #7 left as it is: run 5, attempt 3 is newer than run {run}, attempt {attempt}"
    assert texts(github) == ["newer"]


@pytest.mark.parametrize("body", ["<!-- ci-toolkit:comment:k {} -->\nold", "<!-- ci-toolkit:comment:k broken"])
def test_one_whose_marker_was_edited_is_mended(github, rest, body: str) -> None:
    github.add_comment(7, body, BOT)
    put(rest, "new")
    assert texts(github) == ["new"]
    assert len(github.comments) == 1


def test_two_that_were_created_at_once_become_one(github, rest) -> None:
    for run in (3, 4):
        github.add_comment(7, write_mark("comment", "k", Mark(RunAt(run, 1))) + "x", BOT)
    put(rest, "one")
    assert texts(github) == ["one"]


@pytest.mark.parametrize("status", [502, 0])
def test_a_lost_answer_does_not_make_two(github, rest, status: int) -> None:
    github.faults.append(Fault("POST", "/comments", status, lost=True))
    put(rest, "one")
    assert texts(github) == ["one"]


def test_the_longest_text_is_taken(github, rest) -> None:
    put(rest, "x" * comment_room("k"), (1 << 53) - 1, 10**9)
    (comment,) = github.comments.values()
    assert BODY - 30 <= len(comment["body"]) <= BODY


def test_a_token_without_the_permission_is_told(github, rest) -> None:
    github.faults.append(Fault("POST", "/comments", 403, body=b'{"message": "Resource not accessible by integration"}'))
    with pytest.raises(RemoteError, match="the token lacks pull-requests: write"):
        put(rest, "x")
