"""YAML files that people write, read strictly into structs; each error has its file, line and key.

Fields that are text take only what YAML reads as text: ``3.10`` (a number to YAML, 3.1) or ``on`` (true) must be
quoted, so nothing is changed on the way in silence.
"""

import datetime
import difflib
import enum
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin

import msgspec
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from ci_toolkit.catalogue.yaml_nodes import STANDARD_TAGS, Place, compose, describe, elements, items
from ci_toolkit.errors import UsageError, Where

T = TypeVar("T")
Key = tuple[str | int, ...]

_CONSTRUCT = SafeConstructor()
_SCALARS: dict[type, tuple[str, str]] = {
    bool: ("bool", "true or false"),
    int: ("int", "a whole number"),
    datetime.date: ("timestamp", "a date (YYYY-MM-DD)"),
}


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """A file's value, and where each part of it stands."""

    value: T
    path: str
    places: dict[Key, Where]

    def where(self, *key: str | int) -> Where:
        """The place of a part, or of the nearest part around it that the file holds."""
        for end in range(len(key), 0, -1):
            if key[:end] in self.places:
                return self.places[key[:end]]
        return Where(self.path)


def load(path: Path, kind: type[T], *, schema: str, shown: str = "") -> Loaded[T]:
    """Reads ``path`` as ``kind``, whose ``schema`` must be the one given; ``shown`` is its name in errors.

    Raises UsageError with file, line and key.
    """
    root = compose(path, shown)
    if isinstance(root.node, MappingNode):
        named = dict(items(root)).get("schema")
        found = named.node.value if named and isinstance(named.node, ScalarNode) else None
        if found != schema:
            place = named or root
            said = f"is {found!r}" if found else "is missing"
            raise place.error(f"schema {said}", f"this version reads {schema!r}")
    reader = _Reader()
    value: T = reader.read(root, kind, ())
    return Loaded(value, root.file, reader.places)


class _Reader:
    def __init__(self) -> None:
        self.places: dict[Key, Where] = {}

    def read(self, place: Place, kind: Any, key: Key) -> Any:
        self.places[key] = place.where
        if place.node.tag not in STANDARD_TAGS:
            raise place.error(f"the tag {place.node.tag} is not supported")
        origin = get_origin(kind)
        if origin in (typing.Union, types.UnionType):
            return self._union(place, get_args(kind), key)
        if origin is dict:
            value_kind = get_args(kind)[1]
            return {name: self.read(value, value_kind, (*key, name)) for name, value in items(place)}
        if origin in (tuple, list):
            value_kind = get_args(kind)[0]
            return origin(self.read(value, value_kind, (*key, index)) for index, value in enumerate(elements(place)))
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(place, kind, key)
        return self._scalar(place, kind)

    def _struct(self, place: Place, kind: type[msgspec.Struct], key: Key) -> Any:
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        values: dict[str, Any] = {}
        for name, value in items(place):
            if name not in fields:
                raise value.error("unknown key", _nearest(name, fields))
            values[fields[name].name] = self.read(value, fields[name].type, (*key, name))
        for name, field in fields.items():
            if field.required and field.name not in values:
                raise place.error(f"the key {name!r} is missing")
        return kind(**values)

    def _union(self, place: Place, kinds: tuple[Any, ...], key: Key) -> Any:
        """The member of a union that fits the shape of the node; a union has one member for each shape."""
        node = place.node
        if node.tag == "tag:yaml.org,2002:null" and type(None) in kinds:
            return None
        fitting = [kind for kind in kinds if kind is not type(None) and _fits(node, kind)]
        if not fitting:
            raise place.error(f"must be {_words(kinds)}, found {describe(node)}", _quote_hint(node, kinds))
        return self.read(place, fitting[0], key)

    def _scalar(self, place: Place, kind: Any) -> Any:
        node = place.node
        tag = node.tag.rsplit(":", 1)[-1]
        if not isinstance(node, ScalarNode):
            raise place.error(f"must be {_words((kind,))}, found {describe(node)}")
        if kind is object:
            return node.value if tag == "str" else _construct(place)
        if kind is str:
            if tag != "str":
                raise place.error(f"must be text, YAML reads it as {describe(node)}", f'quote it: "{node.value}"')
            return node.value
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            names = [str(member.value) for member in kind]
            if tag != "str" or node.value not in names:
                raise place.error(
                    f"must be one of {', '.join(names)}, found {describe(node)}", _nearest(node.value, names)
                )
            return kind(node.value)
        if kind is float and tag in ("int", "float"):
            return float(_construct(place))
        if kind in _SCALARS and tag == _SCALARS[kind][0]:
            value = _construct(place)
            if isinstance(value, datetime.datetime):
                raise place.error("must be a date without a time (YYYY-MM-DD)")
            return value
        raise place.error(f"must be {_words((kind,))}, found {describe(node)}")


def _construct(place: Place) -> Any:
    """A scalar's value as the standard says, with what the standard can not hold named in an error."""
    try:
        return _CONSTRUCT.construct_object(place.node, deep=True)
    except (ValueError, OverflowError) as error:
        raise place.error(f"{describe(place.node)} is not valid: {error}") from error


def _fits(node: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin in (tuple, list):
        return isinstance(node, SequenceNode)
    if origin is dict or (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return isinstance(node, MappingNode)
    if not isinstance(node, ScalarNode):
        return False
    tag = node.tag.rsplit(":", 1)[-1]
    if kind is str or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return tag == "str"
    return (kind in _SCALARS and tag == _SCALARS[kind][0]) or (kind is float and tag in ("int", "float"))


def _words(kinds: tuple[Any, ...]) -> str:
    words = []
    for kind in kinds:
        if kind is type(None):
            continue
        if get_origin(kind) in (tuple, list):
            words.append("a list")
        elif kind in _SCALARS:
            words.append(_SCALARS[kind][1])
        elif kind is float:
            words.append("a number")
        elif isinstance(kind, type) and issubclass(kind, enum.Enum):
            words.append("one of " + ", ".join(str(member.value) for member in kind))
        else:
            words.append("text" if kind is str else "a mapping")
    return " or ".join(dict.fromkeys(words))


def _quote_hint(node: Any, kinds: tuple[Any, ...]) -> str:
    return f'quote it: "{node.value}"' if isinstance(node, ScalarNode) and str in kinds else ""


def _nearest(name: str, known: typing.Iterable[str]) -> str:
    names = sorted(known)
    close = difflib.get_close_matches(name, names, 1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"


def dangling(where: Where, what: str, name: str, known: typing.Iterable[str]) -> UsageError:
    """A UsageError for a name that conf does not define."""
    return UsageError(f"there is no {what} {name!r}", where, _nearest(name, known))
