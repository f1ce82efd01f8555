"""One issue kept for a branch that stays red: opened, updated in place, closed when green again."""

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ci_toolkit.github.account import Account, Author
from ci_toolkit.github.comments import BODY, Comment
from ci_toolkit.github.marker import Mark, RunAt, read_mark, write_mark
from ci_toolkit.github.rest import Rest

LABEL = "ci-toolkit"
NEEDS = "issues: write"
CAUSES = 200
"""A marker holds the days of at most so many causes, the most important ones."""
_KIND = "issue"
_GREEN = "issue-green"


class _Label(msgspec.Struct, frozen=True):
    name: str = ""


class _Issue(msgspec.Struct, frozen=True):
    number: int
    title: str
    created_at: str
    body: str | None = None
    user: Author | None = None
    labels: tuple[_Label | str, ...] = ()
    pull_request: dict[str, Any] | None = None


@dataclass(frozen=True)
class Known:
    """What the issue says so far: since when it is open, and on which day each cause was first seen."""

    opened: datetime.date
    first: Mapping[str, datetime.date]


@dataclass(frozen=True)
class Place:
    """Which issue: of a repository, with a key, written by an account."""

    repository: str
    key: str
    me: Account

    @property
    def title(self) -> str:
        """Its title, by which it is found too when its marker was edited away."""
        return f"Hardware CI is red: {self.key}"

    @property
    def path(self) -> str:
        """Where the repository's issues are."""
        return f"/repos/{self.repository}/issues"


def issue_room() -> int:
    """Bytes of UTF-8 that the text of an issue may have."""
    return BODY - 1024 - CAUSES * len('"0123456789abcdef":"2026-12-01",')


def keep_red(
    rest: Rest, place: Place, at: RunAt, today: datetime.date, causes: Iterable[str], text: Callable[[Known], str]
) -> str:
    """Opens the issue, or writes the current causes into it; says in words what was done.

    A cause keeps the day on which it was first seen as long as it stays.
    """
    known = _open(rest, place)
    newest = max((mark.at for _, mark in known), default=at)
    if newest > at:
        return f"issue #{known[0][0].number} left as it is: {newest} is newer than {at}"
    before = {cause: day for _, mark in known for cause, day in mark.first.items() if day <= today}
    first = {cause: before.get(cause, today) for cause, _ in zip(causes, range(CAUSES), strict=False)}
    opened = min((_day(issue.created_at, today) for issue, _ in known), default=today)
    body = write_mark(_KIND, place.key, Mark(at, first)) + text(Known(opened, first))
    if not known:
        wanted = {"title": place.title, "body": body, "labels": [LABEL]}
        made = rest.create(
            place.path, wanted, _Issue, lambda: next((issue for issue, _ in _open(rest, place)), None), needs=NEEDS
        )
        return f"issue #{made.number} opened"
    (kept, _), *others = known
    change: dict[str, object] = {"body": body}
    if kept.title != place.title:
        change["title"] = place.title
    labels = [label if isinstance(label, str) else label.name for label in kept.labels]
    if LABEL not in labels:
        change["labels"] = [*labels, LABEL]
    rest.update(f"{place.path}/{kept.number}", change, needs=NEEDS)
    for other, _ in others:  # two runs at once may both have found none
        rest.update(f"{place.path}/{other.number}", {"state": "closed", "state_reason": "not_planned"}, needs=NEEDS)
    return f"issue #{kept.number} updated"


def close_green(rest: Rest, place: Place, at: RunAt, text: str) -> str:
    """Closes the issue with a comment, where it is open and no newer run wrote it; says in words what was done."""
    known = _open(rest, place)
    newest = max((mark.at for _, mark in known), default=at)
    if newest > at:
        return f"issue #{known[0][0].number} left as it is: {newest} is newer than {at}"
    for issue, _ in known:
        comments = f"{place.path}/{issue.number}/comments"

        def said(comments: str = comments) -> Comment | None:
            return next(
                (
                    comment
                    for comment in rest.pages(comments, Comment, needs=NEEDS)
                    if place.me.wrote(comment.user)
                    and (mark := read_mark(_GREEN, place.key, comment.body))
                    and mark.at == at
                ),
                None,
            )

        if said() is None:  # an earlier try may have ended between the comment and the closing
            rest.create(comments, {"body": write_mark(_GREEN, place.key, Mark(at)) + text}, Comment, said, needs=NEEDS)
        rest.update(f"{place.path}/{issue.number}", {"state": "closed", "state_reason": "completed"}, needs=NEEDS)
    numbers = ", ".join(f"#{issue.number}" for issue, _ in known)
    return f"issue {numbers} closed" if known else "no issue is open"


def _open(rest: Rest, place: Place) -> list[tuple[_Issue, Mark]]:
    """Our open issues with this key, the oldest first.

    All open ones of the account are read, not only those with the label, which people may take off.
    """
    found = []
    for issue in rest.pages(place.path, _Issue, needs=NEEDS, state="open", creator=place.me.login):
        if issue.pull_request is not None or not place.me.wrote(issue.user):
            continue
        mark = read_mark(_KIND, place.key, issue.body)
        if mark or issue.title == place.title:
            found.append((issue, mark or Mark(RunAt(0, 0))))
    return sorted(found, key=lambda one: one[0].number)


def _day(text: str, latest: datetime.date) -> datetime.date:
    try:
        return min(datetime.datetime.fromisoformat(text).date(), latest)
    except ValueError:
        return latest
