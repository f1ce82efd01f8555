"""Expands a suite's selection into test files and node ids under its root."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ci_toolkit.errors import UsageError
from ci_toolkit.model.ids import matches

TEST_FILES = ("test_*.py", "*_test.py")
NO_TESTS = (".*", "__pycache__", "build", "dist", "node_modules", "venv", "*.egg")
"""Folders that are not searched, as pytest does by default."""


@dataclass(frozen=True)
class Selected:
    """One file relative to the root, and the node ids of it that were asked for, or none for the whole of it."""

    file: str
    nodes: tuple[str, ...] = ()


def select(root: Path, paths: Iterable[str], exclude: Iterable[str]) -> tuple[Selected, ...]:
    """The files to run, in the order of ``paths`` and sorted within each; empty ``paths`` mean all of the root.

    Nothing at all comes back when no path holds a test file. Raises UsageError for a path that is missing, lies outside
    the root or is the only one without a test file, for what is selected twice, and for an exclusion that fits nothing.
    """
    if not root.is_dir():
        raise UsageError(f"the suite's root {root} is no folder")
    by_file: dict[str, list[str]] = {}
    source: dict[str, str] = {}
    barren: list[str] = []
    for path in tuple(paths) or (".",):
        file, _, node = path.partition("::")
        names = _expand(root, file)
        if not names:
            barren.append(path)
        for name in names:
            if node:
                _add_node(by_file, source, name, f"{name}::{node}", path)
            elif name in by_file:
                raise UsageError(f"{name} is selected twice, by {source[name]!r} and by {path!r}")
            else:
                by_file[name], source[name] = [], path
    if by_file and barren:
        raise UsageError(f"{barren[0]!r} holds no test file ({', '.join(TEST_FILES)}), under {root}")
    for glob in exclude if by_file else ():
        excluded = [name for name in by_file if matches(glob, name)]
        if not excluded:
            raise UsageError(f"exclude {glob!r} fits none of the selected files")
        for name in excluded:
            del by_file[name]
    for name in by_file:
        if "[" in name or "::" in name:
            raise UsageError(f"pytest can not be given the file {name}: its path holds '[' or '::'", hint="exclude it")
    return tuple(Selected(name, tuple(nodes)) for name, nodes in by_file.items())


def _add_node(by_file: dict[str, list[str]], source: dict[str, str], name: str, node: str, path: str) -> None:
    nodes = by_file.get(name)
    if nodes is None:
        by_file[name], source[name] = [node], path
        return
    if not nodes:
        raise UsageError(f"{path!r} is selected twice, it is a part of {source[name]!r}")
    for other in nodes:
        outer, inner = sorted((node, other), key=len)
        if inner == outer or inner.startswith((f"{outer}::", f"{outer}[")):
            raise UsageError(f"{inner!r} is selected twice, it is a part of {outer!r}")
    nodes.append(node)


def _expand(root: Path, path: str) -> list[str]:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise UsageError(f"{path!r} is outside the suite's root {root}", hint="paths are relative to the root")
    literal = root / path
    if literal.exists() or literal.is_symlink():
        found = [literal]
    elif any(mark in path for mark in "*?["):
        found = sorted(root.glob(path))
        if not found:
            raise UsageError(f"{path!r} fits nothing under {root}")
    else:
        raise UsageError(f"{path!r} is not there, under {root}")
    names = []
    for place in found:
        files = list(_walk(place)) if place.is_dir() else [place]
        names += [_name(root, file, path) for file in files]
    return names


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if not any(matches(glob, name) for glob in NO_TESTS) and not (here / name / "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            if any(matches(glob, name) for glob in TEST_FILES):
                yield here / name


def _name(root: Path, file: Path, path: str) -> str:
    if not file.exists():
        raise UsageError(f"{file} is a link to nothing")
    if not file.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{path!r} is outside the suite's root: {file} is a link to {file.resolve()}")
    return file.relative_to(root).as_posix()
