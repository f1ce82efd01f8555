"""A check run with as many annotations as there are, 50 a request."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from ci_toolkit.github.rest import Rest

PER_REQUEST = 50
SUMMARY = 65_535
"""Characters that GitHub takes; we count bytes, which are never fewer."""
NEEDS = "checks: write"


@dataclass(frozen=True)
class Annotation:
    """A remark on a line. ``level`` is ``failure``, ``warning`` or ``notice``."""

    path: str
    line: int
    level: str
    title: str
    message: str


@dataclass(frozen=True)
class Check:
    """What a check run says of a commit."""

    conclusion: str
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = ()


class _Output(msgspec.Struct, frozen=True):
    annotations_count: int = 0


class _CheckRun(msgspec.Struct, frozen=True):
    id: int
    external_id: str | None = None
    output: _Output = _Output()


def put_check_run(rest: Rest, repository: str, name: str, head: str, check: Check, url: str) -> str:
    """Creates a completed check run, and adds the other annotations by updates; says in words what was done.

    Updates *add* annotations, so that one whose answer was lost is not sent again before they were counted.
    """
    path = f"/repos/{repository}/check-runs"
    mine = secrets.token_hex(16)
    pages = [check.annotations[at : at + PER_REQUEST] for at in range(0, len(check.annotations), PER_REQUEST)] or [()]

    def found() -> _CheckRun | None:
        listed = rest.pages(
            f"/repos/{repository}/commits/{head}/check-runs",
            _CheckRun,
            under="check_runs",
            needs=NEEDS,
            check_name=name,
            filter="all",
        )
        return next((run for run in listed if run.external_id == mine), None)

    body = {
        "name": name,
        "head_sha": head,
        "external_id": mine,
        "details_url": url,
        "status": "completed",
        "conclusion": check.conclusion,
        "output": _output(check, pages[0]),
    }
    created = rest.create(path, body, _CheckRun, found, needs=NEEDS)
    sent = len(pages[0])
    for page in pages[1:]:
        sent += len(page)

        def has_all(sent: int = sent) -> bool:
            return rest.get(f"{path}/{created.id}", _CheckRun, needs=NEEDS).output.annotations_count >= sent

        rest.update(f"{path}/{created.id}", {"output": _output(check, page)}, done=has_all, needs=NEEDS)
    return f"check run created: {check.conclusion}, {sent} annotations"


def _output(check: Check, annotations: Sequence[Annotation]) -> dict[str, object]:
    return {
        "title": check.title,
        "summary": check.summary,
        "annotations": [
            {
                "path": one.path,
                "start_line": one.line,
                "end_line": one.line,
                "annotation_level": one.level,
                "title": one.title,
                "message": one.message,
            }
            for one in annotations
        ],
    }
