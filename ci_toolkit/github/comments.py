"""One comment on a pull request, kept up to date."""

import msgspec

from ci_toolkit.github.account import Account, Author
from ci_toolkit.github.marker import Mark, RunAt, read_mark, write_mark
from ci_toolkit.github.rest import Rest

BODY = 65_536
"""Characters that GitHub takes; we count bytes, which are never fewer."""
NEEDS = "pull-requests: write"
_KIND = "comment"


class Comment(msgspec.Struct, frozen=True):
    """A comment as GitHub answers it."""

    id: int
    body: str | None = None
    user: Author | None = None


def comment_room(key: str) -> int:
    """Bytes of UTF-8 that the text of a comment may have."""
    return BODY - len(write_mark(_KIND, key, Mark(RunAt(1 << 53, 1 << 53))))


def put_comment(rest: Rest, me: Account, repository: str, number: int, key: str, at: RunAt, text: str) -> str:
    """Writes the comment of ``key``, or leaves the one of a newer run; says in words what was done.

    GitHub has no conditional write: of two runs that write in the same second, the later one stands.
    """
    path = f"/repos/{repository}/issues/{number}/comments"

    def own() -> list[tuple[Comment, Mark]]:
        """Our comments with this key, the oldest first."""
        found = []
        for comment in rest.pages(path, Comment, needs=NEEDS):
            mark = read_mark(_KIND, key, comment.body)
            if mark and me.wrote(comment.user):
                found.append((comment, mark))
        return sorted(found, key=lambda one: one[0].id)

    def same_run() -> Comment | None:
        return next((comment for comment, mark in own() if mark.at == at), None)

    known = own()
    newest = max((mark.at for _, mark in known), default=at)
    if newest > at:
        return f"comment on #{number} left as it is: {newest} is newer than {at}"
    body = write_mark(_KIND, key, Mark(at)) + text
    if not known:
        rest.create(path, {"body": body}, Comment, same_run, needs=NEEDS)
        return f"comment on #{number} created"
    (kept, _), *others = known
    rest.update(f"/repos/{repository}/issues/comments/{kept.id}", {"body": body}, needs=NEEDS)
    for other, _ in others:  # two runs at once may both have found none
        rest.delete(f"/repos/{repository}/issues/comments/{other.id}", needs=NEEDS)
    return f"comment on #{number} updated"
