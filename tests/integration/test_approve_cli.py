"""``ci-toolkit approve``: the real command against a stand-in of GitHub that checks each request."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from github_api.fake import BASE, PERSON, STRANGER, FakeGitHub, Fault

TOKEN = "ghs_thisIsASecretToken0123456789"
HEAD = "c" * 40
NOTHING = {"run": "false", "commit": "", "pull": "", "plan-args": "", "check-run": ""}


@dataclass
class Step:
    """How a step ended: its outputs as a runner reads them."""

    exit_code: int
    out: str
    err: str
    outputs: dict[str, str]


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.permissions[PERSON["login"]] = "write"
        fake.add_pull(5, HEAD)
        yield fake
    assert fake.violations == []


def read_outputs(path: Path) -> dict[str, str]:
    found, lines = {}, iter(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])
    for line in lines:
        name, _, mark = line.partition("<<")
        value = list(iter(lambda mark=mark: next(lines), mark))
        found[name] = "\n".join(value)
    return found


@pytest.fixture
def comment(project, github):
    """Comments on pull request 5, and runs the step that the comment starts."""

    def comment(body: str, user: dict = PERSON, event: str = "issue_comment", **env: str) -> Step:
        made = github.add_comment(5, body, user)
        payload = {"action": "created", "issue": {"number": 5, "pull_request": {}}, "comment": dict(made)}
        outputs = project.folder / f"outputs-{made['id']}"
        given = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": github.url,
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_RUN_ID": str(made["id"]),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(project.write(f"event-{made['id']}.json", json.dumps(payload))),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_TOKEN": TOKEN,
        }
        ran = project.toolkit("approve", **given | env)
        assert TOKEN not in ran.stdout + ran.stderr
        assert "Traceback" not in ran.stderr
        return Step(ran.returncode, ran.stdout, ran.stderr, read_outputs(outputs))

    return comment


def answers(github: FakeGitHub) -> list[str]:
    return [one["body"] for one in github.comments.values() if one["user"]["login"].endswith("[bot]")]


def test_the_head_that_a_person_with_write_permission_names_is_run(comment, github) -> None:
    ran = comment(f"/ci run {HEAD}\r\nthe kernels are fine")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.outputs == {
        "run": "true",
        "commit": HEAD,
        "pull": "5",
        "plan-args": f"--since {BASE}",
        "check-run": "hardware verdict",
    }
    [answer] = answers(github)
    assert f"**Approved**: the lanes run on {HEAD}." in answer
    assert "/o/r/actions/runs/" in answer


def test_what_is_narrowed_is_planned_so_and_gets_a_check_run_of_another_name(comment, github) -> None:
    ran = comment(f"/ci run {HEAD} --only ops-* --tier nightly")
    assert ran.outputs["plan-args"] == f"--since {BASE} --only 'ops-*' --tier nightly"
    assert ran.outputs["check-run"] == "hardware verdict --only ops-* --tier nightly"
    assert "Planned with `--only 'ops-*' --tier nightly`" in answers(github)[0]


def test_a_refusal_is_an_answer_and_no_red(comment, github) -> None:
    """One comment, whoever asks and how often."""
    refused = {**NOTHING, "pull": "5"}
    short = comment(f"/ci run {HEAD[:7]}")
    assert (short.exit_code, short.outputs) == (0, refused)
    assert f"comment `/ci run {HEAD}`" in answers(github)[0]

    stranger = comment(f"/ci run {HEAD}", STRANGER)
    assert (stranger.exit_code, stranger.outputs) == (0, refused)
    assert "Nothing was run: this needs a person with write permission" in stranger.out

    github.add_pull(5, "d" * 40)
    moved = comment(f"/ci run {HEAD}")
    assert (moved.exit_code, moved.outputs) == (0, refused)
    [answer] = answers(github)
    assert HEAD in answer
    assert "d" * 40 in answer


def test_other_comments_are_left_alone(comment, github) -> None:
    ran = comment("::error::looks good\n/ci run")
    assert (ran.exit_code, ran.outputs) == (0, NOTHING)
    assert ran.out == "nothing to do: the comment is no command\n"
    assert github.requests == []


def test_nothing_of_a_hostile_comment_is_repeated(comment, github) -> None:
    hostile = f"/ci run {HEAD} <img src=x> @everyone ::set-output name=run::true \u202e`"
    for user in (PERSON, STRANGER):
        ran = comment(hostile, user)
        assert (ran.exit_code, ran.outputs["run"]) == (0, "false")
        for text in (ran.out, *answers(github)):
            assert not any(word in text for word in ("img", "everyone", "set-output", "\u202e"))


@pytest.mark.parametrize(("method", "path"), [("GET", "/collaborators/"), ("GET", "/pulls/5"), ("POST", "/comments$")])
def test_without_an_answer_of_github_nothing_is_run(comment, github, method: str, path: str) -> None:
    github.faults.append(Fault(method, path, 403, times=99))
    ran = comment(f"/ci run {HEAD}")
    assert (ran.exit_code, ran.outputs) == (6, NOTHING)
    assert "GitHub refused" in ran.err


def test_another_event_and_a_missing_token_are_wrong_usage(comment, github) -> None:
    assert "approve is for" in comment(f"/ci run {HEAD}", event="pull_request_target").err
    ran = comment(f"/ci run {HEAD}", GITHUB_TOKEN="")
    assert (ran.exit_code, ran.outputs) == (2, NOTHING)
    assert github.requests == []
