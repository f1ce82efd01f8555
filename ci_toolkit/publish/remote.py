"""Publishes a verdict through GitHub's API: a comment, a check run, an issue. Each is tried, whatever the others do."""

import datetime
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ci_toolkit.errors import EvidenceError, ToolkitError, UsageError
from ci_toolkit.github.account import own_account
from ci_toolkit.github.check_runs import put_check_run
from ci_toolkit.github.comments import comment_room, put_comment
from ci_toolkit.github.issues import Place, close_green, issue_room, keep_red
from ci_toolkit.github.marker import check_key
from ci_toolkit.github.pulls import pull_request_of
from ci_toolkit.github.rest import Rest
from ci_toolkit.github.run_context import RunContext, run_context, token
from ci_toolkit.github.waiting import Clock
from ci_toolkit.model.ids import is_commit
from ci_toolkit.model.verdict import Verdict
from ci_toolkit.publish.check_run import conclusion, render_check
from ci_toolkit.publish.comment import render_comment
from ci_toolkit.publish.issue import cause, render_issue
from ci_toolkit.publish.words import blocking

KEY = "ci-toolkit"


@dataclass(frozen=True)
class Wishes:
    """What shall be published remotely. ``for_head`` says that the verdict was written by a fork's run.

    ``commit`` is what a check run belongs to, where the event has none of its own.
    """

    comment: bool = False
    check_run: str = ""
    issue: bool = False
    pull_request: int | None = None
    for_head: str = ""
    key: str = ""
    commit: str = ""

    def check(self) -> None:
        """Raises UsageError for wishes that do not go together."""
        if self.for_head and (self.check_run or self.issue):
            raise UsageError(
                "--for-head goes with --comment alone",
                hint="what a fork's run says of itself must not become a green check or close an issue",
            )
        if self.for_head and self.pull_request:
            raise UsageError("--for-head and --pull-request both name the pull request", hint="give one of them")
        if (self.for_head or self.pull_request) and not self.comment:
            raise UsageError("--for-head and --pull-request say where --comment goes", hint="add --comment")
        if self.commit and not self.check_run:
            raise UsageError("--commit says where --check-run goes", hint="add --check-run NAME")
        if self.commit and not is_commit(self.commit):
            raise UsageError(f"--commit: {self.commit[:80]!r} is no whole commit SHA")
        if self.key:
            check_key(self.key)

    def __bool__(self) -> bool:
        return bool(self.comment or self.check_run or self.issue)


@dataclass
class Outbox:
    """Tells what was done, and keeps what failed."""

    tell: Callable[[str], None]
    errors: list[ToolkitError] = field(default_factory=list)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keeps the error that ends the block."""
        try:
            yield
        except ToolkitError as error:
            self.errors.append(error)


def publish_remotely(
    verdict: Verdict,
    wishes: Wishes,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
    clock: Clock | None = None,
) -> list[ToolkitError]:
    """Carries out the wishes in the words of this run's environment; returns what failed."""
    box = Outbox(tell)
    with box.kept():
        run = run_context(environ)
        with Rest(run.api, token(environ), clock, tell) as rest:
            if wishes.check_run:
                with box.kept():
                    tell(_check_run(rest, verdict, wishes, run, environ))
            if wishes.comment:
                with box.kept():
                    tell(_comment(rest, verdict, wishes, run))
            if wishes.issue:
                with box.kept():
                    tell(_issue(rest, verdict, wishes, run))
    return box.errors


def _comment(rest: Rest, verdict: Verdict, wishes: Wishes, run: RunContext) -> str:
    number = wishes.pull_request or run.pull_request
    if wishes.for_head:
        number = pull_request_of(rest, run.repository, wishes.for_head)
    if number is None:
        raise UsageError("--comment: this event has no pull request", hint="give --pull-request N or --for-head SHA")
    key = wishes.key or run.key or KEY
    text = render_comment(verdict, comment_room(key), _line(run), from_fork=bool(wishes.for_head))
    return put_comment(rest, own_account(rest), run.repository, number, key, run.at, text)


def _check_run(rest: Rest, verdict: Verdict, wishes: Wishes, run: RunContext, environ: Mapping[str, str]) -> str:
    head = wishes.commit or run.head
    if not head:
        raise UsageError(
            "--check-run: this event has no commit of its own to judge", hint="use it in the run that tests"
        )
    check = render_check(verdict, environ.get("GITHUB_WORKSPACE") or "/")
    return put_check_run(rest, run.repository, wishes.check_run, head, check, run.url)


def _issue(rest: Rest, verdict: Verdict, wishes: Wishes, run: RunContext) -> str:
    place = Place(run.repository, wishes.key or run.key or KEY, own_account(rest))
    line = _line(run)
    if conclusion(verdict) == "success":
        return close_green(rest, place, run.at, f"Green again.\n\n{line}\n")
    if conclusion(verdict) == "neutral":
        return "issue left as it is: nothing was tested"
    try:
        today = datetime.date.fromisoformat(verdict.today)
    except ValueError:
        raise EvidenceError(f"the verdict's day is {verdict.today[:40]!r}, which is none", hint="gate again") from None
    causes = list(dict.fromkeys(map(cause, blocking(verdict.findings))))
    return keep_red(
        rest,
        place,
        run.at,
        today,
        causes,
        lambda known: render_issue(verdict, known.opened, known.first, issue_room(), line),
    )


def _line(run: RunContext) -> str:
    """Which run tells this, with a link to it."""
    return f"[Run {run.at.run}]({run.url}), attempt {run.at.attempt}" if run.url else str(run.at)
