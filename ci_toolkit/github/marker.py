"""The hidden first line of what we keep up to date on GitHub: whose it is, and which run wrote it last.

People may edit it. What can not be is ignored, part by part, and never believed.
"""

import datetime
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ci_toolkit.errors import UsageError

_KEY = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")
_CAUSE = re.compile(r"[0-9a-f]{16}")
KEY_LENGTH = 80
LARGEST = 1 << 53


@dataclass(frozen=True, order=True)
class RunAt:
    """A workflow's run and its attempt; the greater is the newer."""

    run: int
    attempt: int

    def __str__(self) -> str:
        return f"run {self.run}, attempt {self.attempt}"


@dataclass(frozen=True)
class Mark:
    """What a marker says: the run, and on which day each cause was first seen."""

    at: RunAt
    first: Mapping[str, datetime.date] = field(default_factory=dict)


def check_key(key: str) -> str:
    """A key that can stand in a marker. Raises UsageError for another."""
    if not _KEY.fullmatch(key) or len(key) > KEY_LENGTH:
        raise UsageError(f"{key[:80]!r} is no key", hint="letters a-z and digits, with single . _ - between them")
    return key


def write_mark(kind: str, key: str, mark: Mark) -> str:
    """The marker as the first line of a body; its reader sees nothing of it."""
    data: dict[str, object] = {"run": mark.at.run, "attempt": mark.at.attempt}
    if mark.first:
        data["first"] = {cause: day.isoformat() for cause, day in mark.first.items()}
    return f"<!-- ci-toolkit:{kind}:{key} {json.dumps(data, separators=(',', ':'))} -->\n"


def read_mark(kind: str, key: str, body: str | None) -> Mark | None:
    """The marker of a body; None for a body that is not ours. One that was spoilt is as old as can be."""
    prefix = f"<!-- ci-toolkit:{kind}:{key} "
    if not body or not body.startswith(prefix):
        return None
    line = body.splitlines()[0].removeprefix(prefix).removesuffix("-->")
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        data = None
    found = data if isinstance(data, dict) else {}
    first = found.get("first")
    days = {cause: _day(day) for cause, day in first.items()} if isinstance(first, dict) else {}
    return Mark(
        RunAt(_number(found.get("run")), _number(found.get("attempt"))),
        {cause: day for cause, day in days.items() if day and _CAUSE.fullmatch(cause)},
    )


def _number(value: object) -> int:
    return value if type(value) is int and 0 < value < LARGEST else 0


def _day(value: object) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
