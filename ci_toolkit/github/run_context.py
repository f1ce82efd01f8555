"""The run that reports: where to, in which order, and for which commit and pull request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ci_toolkit.errors import UsageError
from ci_toolkit.github.event import commented_pull, read_payload
from ci_toolkit.github.marker import LARGEST, RunAt
from ci_toolkit.github.session import API

_REPOSITORY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
_NUMBER = re.compile(r"[1-9][0-9]{0,14}")
_SERVER = re.compile(r"https?://[A-Za-z0-9.:-]+")
_WORKFLOW = re.compile(r"/([^/@]+)\.ya?ml@")


@dataclass(frozen=True)
class RunContext:
    """What the runner tells. ``head`` is the commit that a check run belongs to, empty where it has none to judge.

    In a ``workflow_run`` event ``at`` and ``url`` are those of the run that was tested, not of the one that reports.
    """

    api: str
    repository: str
    at: RunAt
    url: str
    head: str
    pull_request: int | None
    key: str


def run_context(environ: Mapping[str, str]) -> RunContext:
    """Raises UsageError where this is no run of GitHub's, or its environment holds what can not be."""
    repository = environ.get("GITHUB_REPOSITORY", "")
    if not _REPOSITORY.fullmatch(repository):
        raise UsageError(f"GITHUB_REPOSITORY is {repository[:80]!r}, no OWNER/NAME", hint="set it as in a workflow")
    payload = read_payload(environ.get("GITHUB_EVENT_PATH", ""))
    tested = payload.get("workflow_run") if environ.get("GITHUB_EVENT_NAME") == "workflow_run" else None
    pull, issue = payload.get("pull_request"), payload.get("issue")
    head, number = environ.get("GITHUB_SHA", ""), None
    if isinstance(tested, dict):
        at = RunAt(_number(tested.get("id"), "its id"), _number(tested.get("run_attempt"), "its attempt"))
        head = ""
    else:
        at = RunAt(
            _number(environ.get("GITHUB_RUN_ID"), "GITHUB_RUN_ID"),
            _number(environ.get("GITHUB_RUN_ATTEMPT", "1"), "GITHUB_RUN_ATTEMPT"),
        )
        if isinstance(pull, dict):
            number = pull.get("number")
            head = pull["head"].get("sha", "") if isinstance(pull.get("head"), dict) else ""
        elif isinstance(issue, dict) and "pull_request" in issue:
            number, head = commented_pull(payload), ""
    server = environ.get("GITHUB_SERVER_URL", "https://github.com")
    url = f"{server}/{repository}/actions/runs/{at.run}" if _SERVER.fullmatch(server) else ""
    workflow = _WORKFLOW.search(environ.get("GITHUB_WORKFLOW_REF", ""))
    return RunContext(
        api=environ.get("GITHUB_API_URL") or API,
        repository=repository,
        at=at,
        url=url,
        head=head if isinstance(head, str) else "",
        pull_request=number if type(number) is int and number > 0 else None,
        key=re.sub(r"[^a-z0-9]+", "-", workflow[1].lower()).strip("-")[:60] if workflow else "",
    )


def token(environ: Mapping[str, str]) -> str:
    """The token that the environment holds. Raises UsageError where there is none."""
    found = (environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or "").strip()
    if not found:
        raise UsageError("there is no token", hint="set GITHUB_TOKEN (in a workflow: ${{ github.token }})")
    return found


def _number(value: object, name: str) -> int:
    text = str(value) if type(value) in (int, str) else ""
    if not _NUMBER.fullmatch(text) or int(text) >= LARGEST:
        raise UsageError(f"{name} is {text[:60]!r}, not a number from 1")
    return int(text)
