"""What a repository's conf should say at first. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ci_toolkit.adoption.accelerators import Accelerator, accelerator
from ci_toolkit.adoption.cover import cover
from ci_toolkit.adoption.layout import can_be_given, inside, is_open
from ci_toolkit.adoption.repository import Repository
from ci_toolkit.adoption.scenes import FOLDER
from ci_toolkit.model.text import one_line

NAME_LENGTH = 60
TOP = ""
"""Stands for the folder of the repository where it is no root of its own: each test file there is named."""
_UNTEMPLATED = re.compile(r"[{}*\\]")


@dataclass(frozen=True)
class Platform:
    """A platform, and where its labels were found."""

    name: str
    device: str
    arch: str
    runs_on: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Suite:
    """A suite of ``files`` test files, and what they are."""

    name: str
    what: str
    paths: tuple[str, ...]
    exclude: tuple[str, ...]
    files: int


@dataclass(frozen=True)
class Row:
    """A path template, and globs of the suites that a change there selects."""

    path: str
    suites: tuple[str, ...]


@dataclass(frozen=True)
class Draft:
    """The conf to write. ``notes`` say what was left out, and why."""

    platforms: tuple[Platform, ...]
    suites: tuple[Suite, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


CPU = Platform("cpu", "cpu", "*", ("ubuntu-24.04",))


def draft(found: Repository, devices: Collection[str]) -> Draft:
    """The first conf for what was found; ``devices`` are those that this version knows."""
    platforms, notes = _platforms(found, devices)
    tests = tuple(file for file in found.tests if can_be_given(file) and is_open(file, found.layout))
    lost = [f"{file}: pytest can not be given this name, left out" for file in found.tests if not can_be_given(file)]
    suites = _suites(found, tests)
    return Draft(platforms, suites, _rows(found, suites), (*found.notes, *notes, *lost))


def _platforms(found: Repository, devices: Collection[str]) -> tuple[tuple[Platform, ...], list[str]]:
    platforms = [CPU]
    unknown: dict[Accelerator, list[str]] = {}
    for runner in found.workflows.runners:
        card = accelerator(runner.labels)
        where = one_line(f"{runner.file}, job {runner.job}")
        if card is None or any(platform.runs_on == runner.labels for platform in platforms):
            continue
        if card.device not in devices:
            unknown.setdefault(card, []).append(where)
            continue
        name = _free(card.platform, [platform.name for platform in platforms], "_")
        platforms.append(Platform(name, card.device, card.arch, runner.labels, where))
    notes = [
        f"{card.label}: device {card.device} is not known yet, left out ({jobs[0]}{_more(len(jobs) - 1)})"
        for card, jobs in unknown.items()
    ]
    return tuple(platforms), notes


def _more(jobs: int) -> str:
    return "" if not jobs else " and one more job" if jobs == 1 else f" and {jobs} more jobs"


def _suites(found: Repository, tests: Sequence[str]) -> tuple[Suite, ...]:
    """One suite for each root of ordinary tests, one for the operators' tests, one for the scenes."""
    special = [("operators", "accuracy tests of operators", found.operators), ("scenes", "scene tests", found.scenes)]
    taken = found.scenes | found.operators
    roots = {root for file in tests if PurePosixPath(root := _root(file, found)).name != FOLDER}
    by_root: dict[str, list[str]] = {}
    for file in tests:
        if file not in taken:
            by_root.setdefault(_root(file, found), []).append(file)
    groups = [(_slug(root), "", tuple(files) if root == TOP else (root,), files) for root, files in by_root.items()]
    for name, what, named in special:
        own = sorted(named & set(tests))
        groups += [(name, what, cover(own, found.tests, roots), own)] if own else []
    suites: list[Suite] = []
    for wanted, what, paths, files in groups:
        name = _free(wanted, [suite.name for suite in suites], "-")
        within = [file for file in found.tests if any(inside(file, path) for path in paths)]
        foreign = sorted(set(within) - set(files))
        exclude = tuple(path if path in foreign else f"{path}/*" for path in cover(foreign, found.tests, roots))
        suites.append(Suite(name, what, paths, exclude, len(files)))
    return tuple(suites)


def _root(file: str, found: Repository) -> str:
    """The folder whose tests a file belongs to: one that pytest's conf names, a package, or the first of its path."""
    for root in (*found.roots, *found.project.packages.values()):
        if inside(file, root):
            return root
    first, _, rest = file.partition("/")
    return first if rest else TOP


def _rows(found: Repository, suites: Sequence[Suite]) -> tuple[Row, ...]:
    sources = [folder for folder in found.project.packages.values() if not _UNTEMPLATED.search(folder)]
    paths = [path for suite in suites for path in suite.paths if path != "." and not _UNTEMPLATED.search(path)]
    outer = [
        path
        for path in dict.fromkeys(paths)
        if not any(inside(path, other) and path != other for other in paths)
        and not any(inside(path, source) for source in sources)
    ]
    rows = [Row(f"{source}/**", ("*",)) for source in sources]
    for path in outer:
        names = tuple(suite.name for suite in suites if any(inside(own, path) for own in suite.paths))
        rows.append(Row(path if path in found.tests else f"{path}/**", names))
    return tuple(rows)


def _slug(root: str) -> str:
    if root == TOP:
        return "top-level"
    plain = re.sub(r"[^a-z0-9_.-]+", "-", root.removesuffix(".py").lower()).strip("-.")
    return plain[:NAME_LENGTH].rstrip("-.") or "tests"


def _free(name: str, taken: Collection[str], joint: str) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}{joint}{number}" in taken:
        number += 1
    return f"{name}{joint}{number}"
