"""``/ci run SHA`` under act: comment.yml as a consumer calls it, against a stand-in of GitHub's API."""

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from github_api.fake import PERSON, STRANGER, FakeGitHub
from workflows.act import Ended
from workflows.consumer import TESTS, Consumer

pytestmark = pytest.mark.xdist_group("act")

CALL = """
on: {{issue_comment: {{types: [created]}}}}
jobs:
  comment:
    uses: owner/toolkit/.github/workflows/{workflow}.yml@v1
    with: {{wheelhouse: "{wheels}", python: "{python}", {more}}}
"""


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.permissions[PERSON["login"]] = "maintain"
        yield fake
    assert fake.violations == []


def call(consumer: Consumer, workflow: str, more: str = "") -> None:
    given = {"wheels": consumer.toolkit.wheels, "python": consumer.toolkit.python}
    consumer.write(".github/workflows/use.yml", CALL.format(workflow=workflow, more=more, **given))
    consumer.commit()
    consumer.git("remote", "add", "origin", "https://github.com/o/r")


def commits(consumer: Consumer) -> tuple[str, str]:
    """(base, head): a change of a pull request, which no branch of the repository holds."""

    def head() -> str:
        told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=consumer.folder, capture_output=True, check=True)
        return told.stdout.decode().strip()

    base = head()
    consumer.git("checkout", "-q", "--detach")
    consumer.write("tests/test_small.py", TESTS.replace("range(3)", "range(4)"))
    consumer.commit()
    change = head()
    consumer.git("checkout", "-q", "main")
    return base, change


def comment(consumer: Consumer, github: FakeGitHub, body: str, user: dict[str, Any] = PERSON) -> Ended:
    made = github.add_comment(5, body, user)
    issue = {"number": 5, "pull_request": {"url": "x"}, "labels": []}
    payload = {"action": "created", "issue": issue, "comment": dict(made)}
    # The tree is that of the default branch, as in GitHub's runs of comments.
    return consumer.run("use.yml", event="issue_comment", payload=payload, GITHUB_API_URL=github.url)


def ran(ended: Ended) -> set[str]:
    return {name.rpartition("/")[2].strip() for name, job in ended.jobs.items() if job.result != "skipped"}


def test_the_commit_that_a_maintainer_names_is_run_and_its_pull_request_told(
    consumer: Consumer, github: FakeGitHub
) -> None:
    call(consumer, "comment")
    base, head = commits(consumer)
    github.add_pull(5, head, base=base)
    ended = comment(consumer, github, f"/ci run {head}\r\nlooks good")
    assert ended.exit_code == 0, ended.log
    passed = {lane["lane"]: lane["counts"]["passed"] for lane in ended.verdict["lanes"]}
    four = {"small-alpha": 4, "small-beta": 4, "small-gamma": 4}
    assert passed == four, "the change of the pull request has four cases, the default branch three"
    plan = ended.file("plan.hardware.a1", "plan.json")
    assert (plan["event"], plan["tier"]) == ("issue_comment", "pr")
    assert (plan["change"]["base"], plan["change"]["files"]) == (base, 1)
    for document in (plan, ended.file("evidence.hardware.small-alpha.a1", "small-alpha/a1/report.json")):
        assert (document["provenance"]["commit"], document["provenance"]["pull_request"]) == (head, 5)
    _, answer, verdict = github.comments.values()
    assert f"**Approved**: the lanes run on {head}" in answer["body"]
    assert "PASSED: 3 lanes, 12 passed" in verdict["body"]
    [check] = github.checks.values()
    assert (check["name"], check["conclusion"], check["head_sha"]) == ("hardware verdict", "success", head)


def test_nothing_is_run_for_a_stranger_a_short_sha_or_a_moved_head(consumer: Consumer, github: FakeGitHub) -> None:
    call(consumer, "comment")
    base, head = commits(consumer)
    github.add_pull(5, head, base=base)
    asked = [(f"/ci run {head}", STRANGER), (f"/ci run {head[:12]}", PERSON), (f"/ci run {base}", PERSON)]
    for body, user in asked:
        ended = comment(consumer, github, body, user)
        assert ended.exit_code == 0, ended.log
        assert ran(ended) == {"approve"}, body
        assert ended.artifacts == []
        [answer] = [one["body"] for one in github.comments.values() if one["user"]["login"].endswith("[bot]")]
        assert "**Nothing was run**" in answer
        assert (head in answer) == (user is PERSON)
    ended = comment(consumer, github, "thank you")
    assert (ended.exit_code, ran(ended) & {"plan", "report"}) == (0, set())
    assert github.checks == {}


def test_a_commit_that_the_comment_does_not_name_waits_for_an_approval(consumer: Consumer, github: FakeGitHub) -> None:
    """A workflow that calls the matrix with a head that it looked up by itself."""
    consumer.commit()
    _, head = commits(consumer)
    call(consumer, "hardware-matrix", f"commit: {head}")
    ended = comment(consumer, github, "/ci run please")
    assert ended.job("approval").errors == ["this code needs an approval: name an environment with required reviewers"]
    assert not [name for name in ended.jobs if "small" in name]
    assert {kind for kind, _ in ended.findings} == {"lane_skipped"}
