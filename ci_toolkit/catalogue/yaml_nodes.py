"""A YAML file as its node tree: places of keys, no duplicate keys, no aliases, bounded size."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ci_toolkit.errors import UsageError, Where

MAX_BYTES = 32 << 20
MAX_DEPTH = 40
STANDARD_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq")
)

Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Place:
    """A node and how an error names it; ``line`` is that of its key, where it has one."""

    node: Node
    file: str
    key: str = ""
    line: int | None = None

    @property
    def where(self) -> Where:
        """File, line and key."""
        return Where(self.file, self.line or self.node.start_mark.line + 1, self.key)

    def error(self, message: str, hint: str = "") -> UsageError:
        """A UsageError at this place."""
        return UsageError(message, self.where, hint)

    def under(self, node: Node, key: str | int, line: int | None = None) -> "Place":
        """The place of a value in this mapping or list."""
        text = f"[{key}]" if isinstance(key, int) else key
        joint = "." if self.key and isinstance(key, str) else ""
        return Place(node, self.file, f"{self.key}{joint}{text}", line)


def compose(path: Path, shown: str = "") -> Place:
    """The root node of a file; ``shown`` is the name that errors give it.

    Raises UsageError for a file that is missing, empty, too big, not UTF-8, not YAML, or holds more than one document.
    """
    name = shown or str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can not be read: {error.strerror}", Where(name)) from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"is larger than {MAX_BYTES >> 20} MiB", Where(name))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"is not UTF-8 at byte {error.start}", Where(name, line)) from error
    _refuse_aliases_and_depth(text, name)
    try:
        root = yaml.compose(text, Loader=Loader)
    except yaml.YAMLError as error:
        raise _syntax_error(error, name) from error
    if root is None:
        raise UsageError("is empty", Where(name))
    return Place(root, name)


def _refuse_aliases_and_depth(text: str, name: str) -> None:
    depth = 0
    try:
        for event in yaml.parse(text, Loader=Loader):
            line = event.start_mark.line + 1 if event.start_mark else None
            if isinstance(event, yaml.AliasEvent):
                raise UsageError(
                    f"aliases (*{event.anchor}) are not supported", Where(name, line), "write the value out"
                )
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    raise UsageError(f"is nested deeper than {MAX_DEPTH} levels", Where(name, line))
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError as error:
        raise _syntax_error(error, name) from error


def _syntax_error(error: yaml.YAMLError, name: str) -> UsageError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return UsageError(f"is not valid YAML: {problem}", Where(name, mark.line + 1 if mark else None))


def items(place: Place) -> Iterator[tuple[str, Place]]:
    """Keys and values of a mapping. Raises UsageError on a key twice, or one that YAML does not read as text."""
    node = place.node
    if not isinstance(node, MappingNode):
        raise place.error(f"must be a mapping of keys to values, found {describe(node)}")
    first: dict[str, int] = {}
    for key, value in node.value:
        here = Place(key, place.file, place.key)
        if not isinstance(key, ScalarNode):
            raise here.error(f"a key must be text, found {describe(key)}")
        if key.tag != "tag:yaml.org,2002:str":
            raise here.error(f"the key {key.value!r} is read by YAML as {describe(key)}", f'quote it: "{key.value}"')
        line = key.start_mark.line + 1
        named = Place(key, place.file, place.under(value, key.value).key)
        if key.value in first:
            raise named.error(f"the key is here a second time (first in line {first[key.value]})", "keep one of them")
        first[key.value] = line
        yield key.value, place.under(value, key.value, line)


def elements(place: Place) -> Iterator[Place]:
    """The values of a list."""
    node = place.node
    if not isinstance(node, SequenceNode):
        raise place.error(f"must be a list, found {describe(node)}", f"write [{node.value}]" if is_text(node) else "")
    for index, value in enumerate(node.value):
        yield place.under(value, index)


def is_text(node: Node) -> bool:
    """Whether a node is a scalar of any type."""
    return isinstance(node, ScalarNode)


def describe(node: Node) -> str:
    """What a node is, in words for an error."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    kind = node.tag.rsplit(":", 1)[-1]
    names = {"int": "a whole number", "float": "a number", "bool": "true or false", "timestamp": "a date"}
    if kind == "null":
        return "nothing"
    return f"the text {str(node.value)[:60]!r}" if kind == "str" else f"{names.get(kind, kind)} ({node.value})"
