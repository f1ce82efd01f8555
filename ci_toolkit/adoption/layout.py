"""Where a repository's pytest looks for tests, and which files it finds there."""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from ci_toolkit.adoption.sources import read_ini, read_toml, table, texts
from ci_toolkit.model.ids import matches
from ci_toolkit.suites.pytest.files import NO_TESTS, TEST_FILES

FOREIGN = ("third_party", "3rdparty", "thirdparty", "vendor", "external", "extern")
"""Folders that hold what others wrote, with tests of their own."""
_MARKER = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:[(:]|$)")
_UNPICKABLE = re.compile(r"\[|::")
Options = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """What pytest's own conf declares: where tests lie (empty: anywhere), the markers, ``closed`` folders (globs) that
    it does not search, and ``others``, the globs of test files that the toolkit does not look for.
    """

    testpaths: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def read_layout(folder: Path) -> Layout:
    """Reads the file that pytest itself would take, in its order. Raises UsageError for one that is malformed."""
    options = _options(folder)
    paths, files, closed = (_words(options.get(key, ())) for key in ("testpaths", "python_files", "norecursedirs"))
    lines = options.get("markers", ())
    markers = (_MARKER.match(line) for line in (lines.splitlines() if isinstance(lines, str) else texts(lines)))
    inside = [path for path in paths if not Path(path).is_absolute() and ".." not in Path(path).parts]
    return Layout(
        tuple(inside),
        tuple(dict.fromkeys(match[1] for match in markers if match)),
        closed,
        tuple(name for name in files if name not in TEST_FILES),
    )


def find_tests(folder: Path, layout: Layout) -> tuple[str, ...]:
    """What looks like a test file, relative to the repository and sorted; only under ``testpaths`` if any lies there.

    A file whose name is no text is none.
    """
    found = tuple(sorted(path.relative_to(folder).as_posix() for path in _walk(folder, TEST_FILES)))
    declared = tuple(name for name in found if any(inside(name, place) for place in roots(folder, layout)))
    return declared or found


def roots(folder: Path, layout: Layout) -> tuple[str, ...]:
    """The files and folders that ``testpaths`` stand for, relative to the repository."""
    names: list[str] = []
    for path in layout.testpaths:
        literal = (folder / path).exists()
        places = [folder / path] if literal else sorted(folder.glob(path)) if any(c in path for c in "*?[") else []
        names += [place.relative_to(folder).as_posix() for place in places]
    return tuple(dict.fromkeys(names))


def find_yaml(folder: Path) -> tuple[str, ...]:
    """The YAML files of the repository outside hidden folders."""
    return tuple(sorted(path.relative_to(folder).as_posix() for path in _walk(folder, ("*.yml", "*.yaml"))))


def inside(name: str, place: str) -> bool:
    """Whether a file is ``place`` or lies under it."""
    return place == "." or name == place or name.startswith(f"{place}/")


def is_open(file: str, layout: Layout) -> bool:
    """Whether pytest would search the folders that a file lies in."""
    folders = [folder.as_posix() for folder in PurePosixPath(file).parents][:-1]
    return not any(
        fnmatch(folder if "/" in glob else PurePosixPath(folder).name, glob)
        for folder in folders
        for glob in layout.closed
    )


def can_be_given(file: str) -> bool:
    """Whether pytest can be given a file by its name."""
    return not _UNPICKABLE.search(file)


def _walk(folder: Path, globs: tuple[str, ...]) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if not any(matches(glob, name) for glob in (*NO_TESTS, *FOREIGN))
            and not (here / name / "pyvenv.cfg").exists()
        )
        for name in files:
            if any(matches(glob, name) for glob in globs) and (here / name).is_file() and _is_utf8(here / name):
                yield here / name


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _options(folder: Path) -> Options:
    for name in ("pytest.ini", ".pytest.ini"):
        sections = read_ini(folder, name)
        if sections is not None:
            return dict(sections.get("pytest", {}))
    declared = table(read_toml(folder, "pyproject.toml"), "tool", "pytest")
    if declared:
        return dict(table(declared, "ini_options") or declared)
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        sections = read_ini(folder, name) or {}
        if section in sections:
            return dict(sections[section])
    return {}


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, str):
        return texts(value)
    try:
        return tuple(shlex.split(value))
    except ValueError:  # a quote without its other half
        return tuple(value.split())
