"""A comment approves a commit: each thing that GitHub must say, and what is refused when it says another."""

import pytest
from github_api.fake import BASE, BOT, PERSON, STRANGER, Fault

from ci_toolkit.errors import RemoteError, UsageError
from ci_toolkit.github.approval import Decision, Said, decide, judged, read_said
from ci_toolkit.github.comment_command import Command, NoCommand

HEAD = "c" * 40
OTHER = "d" * 40


def payload(body: str, **more: object) -> dict:
    issue = {"number": 5, "pull_request": {"url": "x"}}
    return {"action": "created", "issue": issue, "comment": {"id": 1001, "body": body}, **more}


@pytest.fixture
def say(github, rest):
    """A comment on pull request 5, as the event tells it and as GitHub has it; then the decision."""
    github.permissions[PERSON["login"]] = "write"

    def say(text: str = f"/ci run {HEAD}", user: dict = PERSON, **now: object) -> Decision:
        if 5 not in github.pulls:
            github.add_pull(5, HEAD)
        made = github.add_comment(5, text, user)
        said = read_said(payload(text, comment={"id": made["id"], "body": text, "author_association": "OWNER"}))
        made.update(now)
        assert isinstance(said, Said)
        return decide(rest, "o/r", said)

    return say


@pytest.mark.parametrize("role", ["write", "maintain", "admin"])
def test_a_person_who_may_write_approves_the_head(github, say, role: str) -> None:
    github.permissions[PERSON["login"]] = role
    assert say() == Decision(True, f"the lanes run on {HEAD}", Command(HEAD), BASE)
    assert github.writes() == []


@pytest.mark.parametrize("role", ["read", "triage", "none", "", "writer", "Write"])
def test_nobody_else_does(github, say, role: str) -> None:
    """The payload calls each an owner, which it is not asked about."""
    github.permissions[PERSON["login"]] = role
    assert say() == Decision(False, "this needs a person with write permission on the repository")
    assert not any("/pulls/" in request.path for request in github.requests), "a stranger is told no head"


def test_a_person_whom_github_does_not_know_any_more_does_not(github, say) -> None:
    github.faults.append(Fault("GET", "/collaborators/", 404))
    assert "write permission" in say().why
    assert "write permission" in say(user={**PERSON, "login": "../octocat"}).why
    assert "write permission" in say(user={**PERSON, "login": ""}).why


def test_a_login_that_changed_hands_does_not(github, say) -> None:
    """Between the two questions another account took the name."""

    def renamed(request) -> None:
        if "/collaborators/" in request.path:
            for comment in github.comments.values():
                comment["user"]["id"] = 999

    github.before = renamed
    assert "write permission" in say().why


@pytest.mark.parametrize("login", ["dependabot", BOT["login"]])
def test_a_bot_that_repeats_what_it_is_told_does_not(github, say, login: str) -> None:
    github.permissions[login] = "admin"
    assert "needs a person" in say(user={"login": login, "id": 4, "type": "Bot"}).why


def test_a_comment_that_was_changed_or_is_gone_does_not(github, say) -> None:
    """Whoever may write may edit the comments of others, and an old event can be run again."""
    edited = "the comment was edited: write a new one"
    assert say(updated_at="2026-11-20T02:00:01Z").why == edited
    assert say(f"/ci run {OTHER}", body=f"/ci run {HEAD}").why == edited
    assert say(f"/ci run {HEAD}", body="never mind").why == edited
    github.faults.append(Fault("GET", "/issues/comments/", 404))
    assert say().why == "the comment is not there any more"


def test_a_comment_of_another_pull_request_does_not(say) -> None:
    assert "not of this pull request" in say(issue_url="https://api.github.com/repos/o/r/issues/15").why


def test_a_pull_request_that_is_closed_is_not_run(github, say) -> None:
    github.add_pull(5, HEAD, state="closed")
    assert say() == Decision(False, "the pull request is not open")


def test_a_push_after_the_look_is_refused_with_both_commits(github, say) -> None:
    github.add_pull(5, OTHER)
    refused = say()
    assert not refused.run
    assert refused.why.startswith(f"{HEAD} was named, and the head of this pull request is now {OTHER}")
    assert refused.why.endswith(f"comment `/ci run {OTHER}`")


@pytest.mark.parametrize("body", ["/ci run", f"/ci run {HEAD[:12]}"])
def test_a_commit_that_is_not_whole_is_refused_with_the_head(say, body: str) -> None:
    refused = say(body)
    assert not refused.run
    assert f"is now {HEAD}: look at it, and then comment `/ci run {HEAD}`" in refused.why


def test_a_strangers_malformed_command_is_told_nothing_more(say) -> None:
    assert say("/ci run", STRANGER).why == "this needs a person with write permission on the repository"


@pytest.mark.parametrize("path", ["/issues/comments/", "/collaborators/", "/pulls/"])
@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 403}, {"status": 200, "body": b"{}"}, {}])
def test_no_answer_is_no_approval(github, say, path: str, fault: dict) -> None:
    github.faults.append(Fault("GET", path, times=99, **fault))
    with pytest.raises(RemoteError):
        say()


@pytest.mark.parametrize("head", ["", "main", HEAD[:39], HEAD.upper(), HEAD + "\n"])
def test_a_head_that_is_no_commit_is_no_answer(github, say, head: str) -> None:
    github.add_pull(5, head)
    with pytest.raises(RemoteError):
        say()


def test_only_the_very_head_is_approved() -> None:
    assert judged(Command(HEAD), HEAD, BASE).run
    assert not judged(Command(HEAD), OTHER, BASE).run
    assert judged(NoCommand("no"), HEAD, BASE) == Decision(False, judged(NoCommand("no"), HEAD, BASE).why)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (payload("looks good"), "no command"),
        (payload(f"/ci run {HEAD}", issue={"number": 5}), "not on a pull request"),
        (payload(f"/ci run {HEAD}", issue={"number": 5, "pull_request": None}), "not on a pull request"),
        (payload(f"/ci run {HEAD}", issue={"number": "5", "pull_request": {}}), "not on a pull request"),
        (payload(f"/ci run {HEAD}", action="edited"), "not new"),
        (payload(f"/ci run {HEAD}", action=None), "not new"),
        (payload("x", comment={"id": 1, "body": None}), "no command"),
    ],
)
def test_what_is_none_of_our_business(found: dict, why: str) -> None:
    said = read_said(found)
    assert isinstance(said, str)
    assert why in said


@pytest.mark.parametrize("found", [{}, {"comment": 3}, payload("x", comment={}), payload("x", comment={"id": True})])
def test_another_event_is_wrong_usage(found: dict) -> None:
    with pytest.raises(UsageError, match="issue_comment"):
        read_said(found)
