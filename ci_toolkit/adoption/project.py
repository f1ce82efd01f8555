"""What a repository packages: its name, what it lets tests install, and the folders that are imported."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ci_toolkit.adoption.sources import Table, read_ini, read_text, read_toml, table, texts
from ci_toolkit.errors import UsageError, Where

TEST_EXTRAS = ("test", "tests", "testing", "dev")
"""What projects call what their tests need; the first that is declared is installed."""
REQUIREMENTS = (
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements_test.txt",
    "requirements-dev.txt",
    "requirements/test.txt",
    "tests/requirements.txt",
    "test/requirements.txt",
)
_NO_SOURCE = re.compile(r"(\w+_)?tests?(_\w+)?|testing|docs?|examples?|benchmarks?|scripts|tools")
"""Folders that are packages at times, and not what is tested."""
_DECLARING = frozenset({"packages", "py-modules", "py_modules", "ext_modules"})
"""What tells setuptools what to package, so that it looks for nothing by itself."""
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class Project:
    """A repository as a package.

    ``name`` is empty where it declares none (or one that is no name), ``packages`` maps import names to their folders
    or files, ``extra``, ``group`` and ``requirements`` are what its tests need besides, and ``installable`` is whether
    pip can install it. ``guessed``: setuptools takes every folder for a package here, as none is declared.
    """

    name: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    extra: str = ""
    group: str = ""
    requirements: str = ""
    installable: bool = False
    guessed: bool = False


def read_project(folder: Path) -> Project:
    """Reads ``pyproject.toml``, ``setup.cfg`` and ``setup.py``, the first that says something standing.

    Raises UsageError for one that is malformed.
    """
    pyproject = read_toml(folder, "pyproject.toml")
    config = read_ini(folder, "setup.cfg") or {}
    script = _setup_call(folder)
    names = [
        table(pyproject, "project").get("name"),
        table(pyproject, "tool", "poetry").get("name"),
        config.get("metadata", {}).get("name"),
        script.get("name"),
    ]
    extras = [
        *table(pyproject, "project", "optional-dependencies"),
        *table(pyproject, "tool", "poetry", "extras"),
        *config.get("options.extras_require", {}),
        *table(script, "extras_require"),
    ]
    where = texts(table(pyproject, "tool", "setuptools", "packages", "find").get("where"))
    named = [name for name in names if isinstance(name, str)]
    extra = _first(extras)
    group = "" if extra else _first(table(pyproject, "dependency-groups"))
    packages = _packages(folder, (*where, "src", "python", "."))
    installable = bool(named or "build-system" in pyproject or script)
    return Project(
        name=named[0] if named and _NAME.fullmatch(named[0]) else "",
        packages=packages,
        extra=extra,
        group=group,
        requirements="" if extra or group else next((name for name in REQUIREMENTS if (folder / name).is_file()), ""),
        installable=installable,
        guessed=installable
        and any("/" not in place for place in packages.values())
        and _uses_setuptools(pyproject)
        and _DECLARING.isdisjoint((*table(pyproject, "tool", "setuptools"), *config.get("options", {}), *script)),
    )


def _uses_setuptools(pyproject: Table) -> bool:
    return str(table(pyproject, "build-system").get("build-backend", "setuptools")).startswith("setuptools")


def _first(declared: Iterable[str]) -> str:
    known = set(declared)
    return next((name for name in TEST_EXTRAS if name in known), "")


def _packages(folder: Path, places: Iterable[str]) -> dict[str, str]:
    """The packages and modules of the first place that has some."""
    for place in (PurePosixPath(place).as_posix() for place in places):
        if ".." in place or not (folder / place).resolve().is_relative_to(folder.resolve()):
            continue
        prefix = "" if place == "." else f"{place}/"
        found = {
            path.parent.name: f"{prefix}{path.parent.name}"
            for path in sorted((folder / place).glob("*/__init__.py"))
            if path.parent.name.isidentifier() and not _NO_SOURCE.fullmatch(path.parent.name)
        }
        if found:
            return found
    return {}


def _setup_call(folder: Path) -> dict[str, Any]:
    """The literal arguments of the call of ``setup`` in ``setup.py``, which is never run."""
    text = read_text(folder, "setup.py")
    if text is None:
        return {}
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UsageError(f"is not valid Python: {error.msg}", Where("setup.py", error.lineno)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"is not valid Python: {error}", Where("setup.py")) from error
    known = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and "setup" in (getattr(called, "id", ""), getattr(called, "attr", "")):
            return {"": "setup.py"} | {word.arg: _literal(word.value, known) for word in node.keywords if word.arg}
    return {}


def _literal(node: ast.expr, known: Mapping[str, ast.expr]) -> Any:
    node = known.get(node.id, node) if isinstance(node, ast.Name) else node
    if isinstance(node, ast.Dict):  # the keys count, whatever the values are made of
        return {key.value: None for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    return node.value if isinstance(node, ast.Constant) else None
