"""What a repository's workflows say: the labels of their runners, and their calls of this toolkit."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ci_toolkit.adoption.accelerators import is_self_hosted
from ci_toolkit.adoption.sources import Table, parse_yaml, read_text, table, texts
from ci_toolkit.errors import UsageError, Where

FOLDER = ".github/workflows"
_MATRIX = re.compile(r"\s*\$\{\{\s*matrix\.([\w-]+)\s*\}\}\s*")
_CALL = re.compile(r"(?P<repository>[^/@\s]+/[^/@\s]+)(?P<path>/[^@\s]+)?@(?P<ref>\S+)")


@dataclass(frozen=True)
class Runner:
    """The labels of a self-hosted runner that a job asks for."""

    file: str
    job: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A call of a reusable workflow or an action: ``path`` is the workflow's file name, empty for the root's action."""

    file: str
    job: str
    repository: str
    path: str
    ref: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Workflows:
    """All that is of interest here."""

    runners: tuple[Runner, ...] = ()
    calls: tuple[Call, ...] = ()


def read_workflows(folder: Path) -> Workflows:
    """Reads every workflow. Raises UsageError, with file and line, for one that is malformed."""
    runners: list[Runner] = []
    calls: list[Call] = []
    place = folder / FOLDER
    for path in sorted([*place.glob("*.yml"), *place.glob("*.yaml")]):
        name = f"{FOLDER}/{path.name}"
        found = parse_yaml(read_text(folder, name) or "", name)
        if not isinstance(found, dict):
            raise UsageError("is no workflow: it has no keys", Where(name))
        for key, job in table(found, "jobs").items():
            if isinstance(job, dict):
                runners += [Runner(name, str(key), labels) for labels in _label_sets(job) if is_self_hosted(labels)]
                calls += _calls(name, str(key), job)
    return Workflows(tuple(dict.fromkeys(runners)), tuple(calls))


def _label_sets(job: Table) -> Iterator[tuple[str, ...]]:
    """Each set of labels that ``runs-on`` may stand for; what only a run can tell is left out."""
    wanted = job.get("runs-on")
    if isinstance(wanted, dict):
        wanted = wanted.get("labels")
    asked = [wanted]
    varied = _MATRIX.fullmatch(wanted) if isinstance(wanted, str) else None
    if varied:
        matrix = table(job, "strategy", "matrix")
        listed, more = matrix.get(varied[1]), matrix.get("include")
        asked = [*_list(listed), *(row.get(varied[1]) for row in _list(more) if isinstance(row, dict))]
    for one in asked:
        labels = texts(one)
        if labels and not any("${{" in label for label in labels):
            yield labels


def _calls(file: str, job: str, conf: Table) -> Iterator[Call]:
    for caller in (conf, *(step for step in _list(conf.get("steps")) if isinstance(step, dict))):
        uses = caller.get("uses")
        match = _CALL.fullmatch(uses) if isinstance(uses, str) else None
        if match:
            path = (match["path"] or "").removeprefix(f"/{FOLDER}").strip("/")
            inputs = tuple(str(name) for name in table(caller, "with"))
            yield Call(file, job, match["repository"], path, match["ref"], inputs)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
