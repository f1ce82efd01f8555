"""A YAML file as its node tree: places of keys, no duplicate keys, no aliases, bounded size."""

import difflib
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ci_toolkit.errors import UsageError, Where
from ci_toolkit.model.text import one_line

MAX_DEPTH = 40
SHOWN_CHARACTERS = 60
"""How much of a value an error repeats."""
STANDARD_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq")
)

Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


Key = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """A node and how an error names it; ``line`` is that of its key, or else of the node itself."""

    node: Node
    file: str
    line: int
    key: Key = ()

    @property
    def where(self) -> Where:
        """File, line and key."""
        return Where(self.file, self.line, dotted(self.key))

    def error(self, message: str, hint: str = "") -> UsageError:
        """A UsageError at this place."""
        return UsageError(message, self.where, hint)


def dotted(key: Key) -> str:
    """A key as a person reads it, on one line: ``suites.one.paths[2]``."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{one_line(part)}" if text else one_line(part)
    return text


def compose(path: Path, shown: str, limit: int) -> Place:
    """The root node of a file of at most ``limit`` bytes; ``shown`` is the name that errors give it.

    Raises UsageError for a file that is missing, empty, too big, not UTF-8, not YAML, or holds more than one document.
    """
    raw = _bytes(path, shown, limit)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"is not UTF-8 at byte {error.start}", Where(shown, line)) from error
    _refuse_aliases_and_depth(text, shown)
    try:
        root = yaml.compose(text, Loader=Loader)
    except yaml.YAMLError as error:
        raise _syntax_error(error, shown) from error
    if root is None:
        raise UsageError("is empty", Where(shown))
    return Place(root, shown, _line(root))


def _bytes(path: Path, name: str, limit: int) -> bytes:
    """The file's bytes. Only a plain file is read: a pipe would keep the command waiting for ever."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError("is not a plain file", Where(name))
        with path.open("rb") as file:
            raw = file.read(limit + 1)
    except FileNotFoundError as error:
        raise UsageError("there is no such file", Where(name), _nearest_file(path)) from error
    except OSError as error:
        raise UsageError(f"can not be read: {error.strerror}", Where(name)) from error
    if len(raw) > limit:
        raise UsageError(f"is larger than {limit >> 20} MiB", Where(name))
    return raw


def _nearest_file(path: Path) -> str:
    if path.is_symlink():
        return f"it is a link to {str(path.readlink())!r}, which is not there"
    try:
        names = sorted(file.name for file in path.parent.iterdir())
    except OSError:
        return f"there is no folder {str(path.parent)!r} either"
    close = difflib.get_close_matches(path.name, names, 1)
    return f"did you mean {close[0]!r}?" if close else ""


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
        line = _line(key)
        here = Place(key, place.file, line, place.key)
        if not isinstance(key, ScalarNode):
            raise here.error(f"a key must be text, found {describe(key)}")
        if key.tag == "tag:yaml.org,2002:merge":
            raise here.error("merging (<<) is not supported", "write the values out")
        if key.tag != "tag:yaml.org,2002:str":
            raise here.error(f"the key {key.value!r} is read by YAML as {describe(key)}", quoted(key))
        named = Place(value, place.file, line, (*place.key, key.value))
        if key.value in first:
            raise named.error(f"the key is here a second time (first in line {first[key.value]})", "keep one of them")
        first[key.value] = line
        yield key.value, named


def elements(place: Place) -> Iterator[Place]:
    """The values of a list."""
    node = place.node
    if not isinstance(node, SequenceNode):
        hint = f"write [{node.value}]" if is_text(node) and node.value.isprintable() and node.value else ""
        raise place.error(f"must be a list, found {describe(node)}", hint)
    for index, value in enumerate(node.value):
        yield Place(value, place.file, _line(value), (*place.key, index))


def is_text(node: Node) -> bool:
    """Whether YAML reads a node as text."""
    return isinstance(node, ScalarNode) and node.tag == "tag:yaml.org,2002:str"


def quoted(node: ScalarNode) -> str:
    """The hint to quote a value that YAML reads as something else than text."""
    return f'quote it: "{node.value}"' if len(node.value) <= SHOWN_CHARACTERS else "quote it"


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
    value = str(node.value)[:SHOWN_CHARACTERS]
    return f"the text {value!r}" if kind == "str" else f"{names.get(kind, kind)} ({one_line(value)})"


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
