"""Finds an operators inventory, and the test files that belong to its operators."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ci_toolkit.adoption.sources import parse_yaml, read_text
from ci_toolkit.errors import UsageError

KEYS = ("ops", "operators")
_LISTS = re.compile(rf"^(?:{'|'.join(KEYS)}):", re.MULTILINE)
_MARK = re.compile(r"\bmark\.([A-Za-z_]\w*)")
_TEST = re.compile(r"^test_|_test$")


@dataclass(frozen=True)
class Inventory:
    """A file that lists operators, by their ids without leading underscores."""

    file: str
    ids: tuple[str, ...]


def read_inventory(folder: Path, name: str) -> Inventory | None:
    """The inventory in a YAML file; None for a file that lists no operators.

    Raises UsageError for one that looks like an inventory and is malformed.
    """
    try:
        text = read_text(folder, name) or ""
    except UsageError:  # whatever it is, no person wrote it as a list of operators
        return None
    found = parse_yaml(text, name) if _LISTS.search(text) else None
    if not isinstance(found, dict):
        return None
    listed: list[Any] = next((found[key] for key in KEYS if isinstance(found.get(key), list)), [])
    ids = tuple(dict.fromkeys(identity for row in listed if (identity := _id(row))))
    return Inventory(name, ids) if ids else None


def files_of(ids: Collection[str], tests: Iterable[str], texts: Mapping[str, str]) -> frozenset[str]:
    """The test files of the operators: those that name one, by their own name or by a mark, and what lies beside them.

    A folder in which most files name an operator belongs to the operators as a whole.
    """
    known = set(ids)
    by_folder: dict[str, list[str]] = {}
    for file in tests:
        by_folder.setdefault(PurePosixPath(file).parent.as_posix(), []).append(file)
    found: set[str] = set()
    for files in by_folder.values():
        naming = [file for file in files if _names_one(file, texts.get(file, ""), known)]
        found.update(files if 2 * len(naming) > len(files) else naming)
    return frozenset(found)


def _names_one(file: str, text: str, ids: Collection[str]) -> bool:
    words = _TEST.sub("", PurePosixPath(file).stem).split("_")
    named = {"_".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, len(words) + 1)}
    return not named.isdisjoint(ids) or not set(_MARK.findall(text)).isdisjoint(ids)


def _id(row: Any) -> str:
    value = row.get("id") if isinstance(row, dict) else row
    return value.lstrip("_") if isinstance(value, str) else ""
