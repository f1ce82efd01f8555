"""YAML files that people write, read strictly into structs; each error has its file, line and key.

Fields that are text take only what YAML reads as text: ``3.10`` (a number to YAML, 3.1) or ``on`` (true) must be
quoted, so nothing is changed on the way in silence.
"""

import datetime
import difflib
import enum
import math
import re
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin

import msgspec
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ci_toolkit.catalogue.yaml_nodes import (
    STANDARD_TAGS,
    Key,
    Place,
    compose,
    describe,
    dotted,
    elements,
    is_text,
    items,
    quoted,
)
from ci_toolkit.errors import UsageError, Where

T = TypeVar("T")
MAX_BYTES = 32 << 20
COMPARED_CHARACTERS = 200
"""How much of a wrong name is compared with the known ones; the time grows with its square."""


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[+-]?(0|[1-9][0-9]{0,17})", text) else None


def _number(text: str) -> float | None:
    found = re.fullmatch(r"[+-]?([0-9]{1,99}(\.[0-9]{0,99})?|\.[0-9]{1,99})([eE][+-]?[0-9]{1,3})?", text)
    return value if found and math.isfinite(value := float(text)) else None


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        return None


# YAML 1.1 reads 012 as ten, 1:30 as ninety and 1_0 as ten; what people mean by them is not known.
_SCALARS: dict[type, tuple[frozenset[str], str, Callable[[str], object]]] = {
    bool: (frozenset({"bool"}), "true or false", lambda text: {"true": True, "false": False}.get(text.lower())),
    int: (frozenset({"int"}), "a whole number in plain digits", _whole),
    float: (frozenset({"int", "float"}), "a number in plain digits", _number),
    datetime.date: (frozenset({"timestamp"}), "a date (YYYY-MM-DD, not quoted)", _date),
}


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """A file's value, and the line of each part that the file holds."""

    value: T
    path: str
    lines: dict[Key, int]

    def where(self, *key: str | int) -> Where:
        """The place of a part, or of the nearest part around it that the file holds."""
        for end in range(len(key), 0, -1):
            if key[:end] in self.lines:
                return Where(self.path, self.lines[key[:end]], dotted(key[:end]))
        return Where(self.path)

    def origin(self, *key: str | int) -> str:
        """``FILE:LINE`` of a part, or ``default`` for one that the file does not hold."""
        return f"{self.path}:{self.lines[key]}" if key in self.lines else "default"


def load(path: Path, kind: type[T], *, schema: str, shown: str = "", limit: int = MAX_BYTES) -> Loaded[T]:
    """Reads ``path``, of at most ``limit`` bytes, as ``kind``, whose ``schema`` must be the one given.

    ``shown`` is the file's name in errors. Raises UsageError with file, line and key.
    """
    root = compose(path, shown or str(path), limit)
    if isinstance(root.node, MappingNode):
        named = dict(items(root)).get("schema")
        found = named.node.value if named and is_text(named.node) else None
        if found != schema:
            said = f"is {found!r}" if found else "is missing" if named is None else "is no text"
            raise (named or root).error(f"schema {said}", f"this version reads {schema!r}")
    reader = _Reader()
    value: T = reader.read(root, kind)
    return Loaded(value, root.file, reader.lines)


class _Reader:
    def __init__(self) -> None:
        self.lines: dict[Key, int] = {}

    def read(self, place: Place, kind: Any) -> Any:
        self.lines[place.key] = place.line
        if place.node.tag not in STANDARD_TAGS:
            raise place.error(f"the tag {place.node.tag} is not supported")
        origin = get_origin(kind)
        if origin in (typing.Union, types.UnionType):
            return self._union(place, get_args(kind))
        if origin is dict:
            value_kind = get_args(kind)[1]
            return {name: self.read(value, value_kind) for name, value in items(place)}
        if origin in (tuple, list):
            value_kind = get_args(kind)[0]
            return origin(self.read(value, value_kind) for value in elements(place))
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(place, kind)
        return _scalar(place, kind)

    def _struct(self, place: Place, kind: type[msgspec.Struct]) -> Any:
        fields = _fields(kind)
        values: dict[str, Any] = {}
        for name, value in items(place):
            if name not in fields:
                raise value.error("unknown key", _nearest(name, fields))
            values[fields[name].name] = self.read(value, fields[name].type)
        for name, field in fields.items():
            if field.required and field.name not in values:
                raise place.error(f"the key {name!r} is missing")
        return kind(**values)

    def _union(self, place: Place, kinds: tuple[Any, ...]) -> Any:
        """The member of a union that fits the shape of the node; a union has one member for each shape."""
        node = place.node
        if node.tag == "tag:yaml.org,2002:null" and type(None) in kinds:
            return None
        fitting = [kind for kind in kinds if kind is not type(None) and _fits(node, kind)]
        if not fitting:
            hint = quoted(node) if isinstance(node, ScalarNode) and str in kinds else ""
            raise place.error(f"must be {_words(kinds)}, found {describe(node)}", hint)
        return self.read(place, fitting[0])


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _scalar(place: Place, kind: Any) -> Any:
    node = place.node
    if not isinstance(node, ScalarNode):
        raise place.error(f"must be {_words((kind,))}, found {describe(node)}")
    if kind is str:
        if not is_text(node):
            raise place.error(f"must be text, YAML reads it as {describe(node)}", quoted(node))
        if "\0" in node.value:
            raise place.error("holds a NUL character")
        return node.value
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        names = [str(member.value) for member in kind]
        if not is_text(node) or node.value not in names:
            close = _close(node.value, names)
            raise place.error(f"must be {_words((kind,))}, found {describe(node)}", close)
        return kind(node.value)
    # 1e-3 is text to YAML 1.1, and a number to people.
    fits = _fits(node, kind) or (kind is float and is_text(node) and not node.style)
    value = _SCALARS[kind][2](node.value) if fits else None
    if value is None:
        raise place.error(f"must be {_words((kind,))}, found {describe(node)}")
    return value


def _fits(node: Node, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin in (tuple, list):
        return isinstance(node, SequenceNode)
    if origin is dict or (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return isinstance(node, MappingNode)
    if not isinstance(node, ScalarNode):
        return False
    if kind is str or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return is_text(node)
    return node.tag.rsplit(":", 1)[-1] in _SCALARS[kind][0]


def _words(kinds: tuple[Any, ...]) -> str:
    words = []
    for kind in kinds:
        if kind is type(None):
            continue
        if get_origin(kind) in (tuple, list):
            words.append("a list")
        elif kind in _SCALARS:
            words.append(_SCALARS[kind][1])
        elif isinstance(kind, type) and issubclass(kind, enum.Enum):
            words.append("one of " + ", ".join(str(member.value) for member in kind))
        else:
            words.append("text" if kind is str else "a mapping")
    return " or ".join(dict.fromkeys(words))


def _close(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name[:COMPARED_CHARACTERS], list(names), 1)
    return f"did you mean {close[0]!r}?" if close else ""


def _nearest(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    return _close(name, names) or f"known: {', '.join(names) or 'none'}"


def dangling(where: Where, what: str, name: str, known: Iterable[str]) -> UsageError:
    """A UsageError for a name that conf does not define."""
    return UsageError(f"there is no {what} {name!r}", where, _nearest(name, known))
