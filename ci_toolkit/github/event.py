"""The event that started a workflow's run, as its runner tells it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ci_toolkit.errors import UsageError, Where

NAMES = {"pull_request_target": "pull_request"}
"""Events that mean the same to a plan."""


@dataclass(frozen=True)
class Arrived:
    """An event's name, the labels of its pull request, and the commit that it starts from (empty where it has none)."""

    name: str
    labels: tuple[str, ...] = ()
    base: str = ""


def arrived(environ: Mapping[str, str]) -> Arrived:
    """The event of this run, ``local`` outside GitHub. Raises UsageError for a payload that is none."""
    name = environ.get("GITHUB_EVENT_NAME") or "local"
    payload = read_payload(environ.get("GITHUB_EVENT_PATH", ""))
    pull = _table(payload.get("pull_request"))
    queue = _table(payload.get("merge_group"))
    issue = _table(payload.get("issue")) if commented_pull(payload) else {}
    labels = (pull or issue).get("labels")
    found = [label.get("name") for label in labels if isinstance(label, dict)] if isinstance(labels, list) else []
    base = _table(pull.get("base")).get("sha") or queue.get("base_sha") or payload.get("before")
    return Arrived(
        NAMES.get(name, name),
        tuple(label for label in found if isinstance(label, str)),
        base if isinstance(base, str) and set(base) != {"0"} else "",
    )


def commented_pull(payload: Mapping[str, object]) -> int | None:
    """The number of the pull request that the event's comment is on; None where there is none."""
    issue = _table(payload.get("issue"))
    number = issue.get("number")
    on_pull = isinstance(issue.get("pull_request"), dict)
    return number if on_pull and type(number) is int and number > 0 else None


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def read_payload(path: str) -> dict[str, object]:
    """The payload in the file that GITHUB_EVENT_PATH names; empty where it names none."""
    if not path:
        return {}
    try:
        return _table(json.loads(Path(path).read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError("the event's payload can not be read", Where(path)) from error
