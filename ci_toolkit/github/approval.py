"""Whether a comment approves a commit: what it says, and what GitHub says of it now.

Nothing of the payload is believed but where to ask: it may be of an older text, and its ``author_association`` says
nothing of permissions. What is not known to be right is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec

from ci_toolkit.errors import UsageError
from ci_toolkit.github.account import Author
from ci_toolkit.github.comment_command import COMMAND, Command, NoCommand, read_command
from ci_toolkit.github.event import commented_pull
from ci_toolkit.github.rest import Rest

MAY = frozenset({"write", "maintain", "admin"})
"""Permissions on the repository with which a person may have code run."""
NEEDS = "pull-requests: read"
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")

_Sha = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{40}\Z")]


class _Writer(Author, frozen=True):
    type: str = ""


class _Comment(msgspec.Struct, frozen=True):
    id: int
    created_at: str
    updated_at: str
    issue_url: str
    body: str | None = None
    user: _Writer | None = None


class _Permission(msgspec.Struct, frozen=True):
    permission: str
    user: Author | None = None


class _End(msgspec.Struct, frozen=True):
    sha: _Sha


class _Pull(msgspec.Struct, frozen=True):
    number: int
    state: str
    head: _End
    base: _End


@dataclass(frozen=True)
class Said:
    """A comment on a pull request that is meant for us, as the event told it."""

    pull: int
    comment: int
    body: str
    command: Command | NoCommand


@dataclass(frozen=True)
class Decision:
    """Whether the commit of ``command`` is run, and ``why`` (not), in a sentence. ``base`` is the base branch's commit.

    Without ``run`` the rest is empty.
    """

    run: bool
    why: str
    command: Command | None = None
    base: str = ""


def read_said(payload: Mapping[str, object]) -> Said | str:
    """The comment of an ``issue_comment`` event, or why it is none of our business.

    Raises UsageError for a payload of another event.
    """
    comment = payload.get("comment")
    found = comment if isinstance(comment, dict) else {}
    number, body = found.get("id"), found.get("body")
    if type(number) is not int or not isinstance(payload.get("issue"), dict):
        raise UsageError("the event's payload holds no comment", hint="approve is for `on: issue_comment`")
    pull = commented_pull(payload)
    if pull is None:
        return "the comment is on an issue, not on a pull request"
    command = read_command(body) if isinstance(body, str) else None
    if command is None:
        return "the comment is no command"
    if payload.get("action") != "created":
        return "the comment is not new: a command counts once, as it was first written"
    return Said(pull, number, str(body), command)


def decide(rest: Rest, repository: str, said: Said) -> Decision:
    """Asks GitHub about the comment, its writer and the pull request, in this order; the first that is wrong refuses.

    Raises RemoteError where GitHub gives no answer.
    """
    found = rest.find(f"/repos/{repository}/issues/comments/{said.comment}", _Comment, needs=NEEDS)
    if found is None:
        return _refused("the comment is not there any more")
    if found.body != said.body or found.created_at != found.updated_at:
        return _refused("the comment was edited: write a new one")
    if found.id != said.comment or not found.issue_url.endswith(f"/issues/{said.pull}"):
        return _refused("the comment is not of this pull request")
    if not _may_approve(rest, repository, found.user):
        return _refused("this needs a person with write permission on the repository")
    pull = rest.get(f"/repos/{repository}/pulls/{said.pull}", _Pull, needs=NEEDS)
    if pull.state != "open" or pull.number != said.pull:
        return _refused("the pull request is not open")
    return judged(said.command, pull.head.sha, pull.base.sha)


def judged(command: Command | NoCommand, head: str, base: str) -> Decision:
    """The decision about a command of a person who may give it, for an open pull request with this head and base."""
    look = f"look at it, and then comment `{COMMAND} {head}`"
    if isinstance(command, NoCommand):
        return _refused(f"{command.why}. The head of this pull request is now {head}: {look}")
    if command.commit != head:
        return _refused(f"{command.commit} was named, and the head of this pull request is now {head}: {look}")
    return Decision(True, f"the lanes run on {head}", command, base)


def _may_approve(rest: Rest, repository: str, writer: _Writer | None) -> bool:
    """Whether the writer is a person with the permission; a bot repeats what others tell it to."""
    if writer is None or writer.type != "User" or not _LOGIN.fullmatch(writer.login):
        return False
    path = f"/repos/{repository}/collaborators/{writer.login}/permission"
    answer = rest.find(path, _Permission, needs="metadata: read")
    same = answer is not None and answer.user is not None and answer.user.id == writer.id
    return answer is not None and same and answer.permission in MAY


def _refused(why: str) -> Decision:
    return Decision(False, why)
