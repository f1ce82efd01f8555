"""Finds the pull request that a commit is the head of."""

import msgspec

from ci_toolkit.errors import NothingSelectedError, UsageError
from ci_toolkit.github.rest import Rest
from ci_toolkit.model.ids import is_commit


class _Head(msgspec.Struct, frozen=True):
    sha: str


class _Pull(msgspec.Struct, frozen=True):
    number: int
    head: _Head


def pull_request_of(rest: Rest, repository: str, head: str) -> int:
    """The one open pull request whose head is this commit.

    The open ones are listed, since GitHub's search by commit does not know commits that lie in a fork. Raises
    NothingSelectedError where there is none (any more), UsageError where there are several.
    """
    if not is_commit(head):
        raise UsageError(f"--for-head: {head[:80]!r} is no whole commit SHA")
    pulls = rest.pages(f"/repos/{repository}/pulls", _Pull, needs="pull-requests: read", state="open")
    numbers = sorted({pull.number for pull in pulls if pull.head.sha == head})
    if not numbers:
        raise NothingSelectedError(
            f"no open pull request has the head {head[:12]}", hint="it was closed, or newer commits were pushed"
        )
    if len(numbers) > 1:
        told = ", ".join(f"#{number}" for number in numbers)
        raise UsageError(f"several open pull requests have the head {head[:12]}: {told}", hint="give --pull-request")
    return numbers[0]
