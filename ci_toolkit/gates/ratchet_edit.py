"""Edits the text of a ratchet file in place: comments and layout stay, only what is meant changes.

Each edit is read back; one that would change anything else is refused.
"""

from collections.abc import Iterable, Mapping, Set
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from ci_toolkit.errors import UsageError, Where
from ci_toolkit.model.ids import matches, split_case


def render(data: object) -> str:
    """Plain data as YAML, in the order it has."""
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10**6)


def add_groups(text: str, groups: Mapping[str, object]) -> str:
    """``text`` with groups added after those that it has. Raises UsageError for a name that is taken."""
    section = _value(_root(text), "groups")
    taken = {key.value for key, _ in section.value} if isinstance(section, MappingNode) else set()
    for name in groups:
        if name in taken:
            raise UsageError(f"there is a group {name!r} already", hint="rename it in the proposal")
    return _append(text, "groups", section, render(dict(groups)))


def add_skips(text: str, rules: Iterable[object]) -> str:
    """``text`` with skip rules added after those that it has."""
    return _append(text, "skips", _value(_root(text), "skips"), render(list(rules)))


def remove_cases(text: str, cases: Set[str]) -> tuple[str, list[str]]:
    """``text`` without the entries of groups that name only ``cases``, and what was removed, a line each.

    A group without an entry left is removed whole. An entry that names other cases too must be edited by hand: raises
    UsageError with its line.
    """
    groups = _value(_root(text), "groups")
    if not isinstance(groups, MappingNode):
        return text, []
    edits: list[tuple[int, int, str]] = []
    told: list[str] = []
    for key, group in groups.value:
        entries = _value(group, "cases")
        if not isinstance(entries, MappingNode):
            continue
        left, changed = 0, []
        for file, listed in entries.value:
            kept = [node for node in listed.value if not _removable(file.value, node, cases)]
            left += len(kept)
            if len(kept) != len(listed.value):
                told += [f"{key.value}: {file.value}::{_label(node)}" for node in listed.value if node not in kept]
                changed.append((file, listed, kept))
        if changed and not left:
            edits.append((_line_start(text, key.start_mark.index), _end(group), ""))
        else:
            edits += [_list_edit(text, file, listed, kept) for file, listed, kept in changed]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:].removeprefix("\n" if not new else "")
    return text, told


def _removable(file: str, node: Node, cases: Set[str]) -> bool:
    here = {rest for name, rest in map(split_case, cases) if name == file}
    parts = {key.value: value.value for key, value in node.value} if isinstance(node, MappingNode) else {}
    if not parts.get("glob"):
        return (parts.get("exact") or node.value) in here
    fitting = [rest for rest in here if matches(parts["glob"], rest)]
    if fitting and len(fitting) != int(parts.get("count", "0")):
        raise UsageError(
            f"the glob {parts['glob']!r} names {parts.get('count')} cases, {len(fitting)} of them change",
            Where("the ratchet", node.start_mark.line + 1),
            "split it by hand",
        )
    return bool(fitting)


def _list_edit(text: str, file: Node, listed: SequenceNode, kept: list[Node]) -> tuple[int, int, str]:
    if not kept:
        return _line_start(text, file.start_mark.index), _end(listed), ""
    items = ", ".join(text[node.start_mark.index : node.end_mark.index] for node in kept)
    return listed.start_mark.index, _end(listed), f"[{items}]"


def _label(node: Node) -> str:
    return " ".join(str(value.value) for _, value in node.value) if isinstance(node, MappingNode) else str(node.value)


def _append(text: str, name: str, section: Node | None, block: str) -> str:
    if section is None or not section.value:
        if section is not None:
            raise UsageError(f"{name} is empty", hint=f"remove the line {name!r} first")
        return text.rstrip("\n") + f"\n\n{name}:\n" + _indented(block, 2)
    if not isinstance(section, MappingNode | SequenceNode) or section.flow_style:
        raise UsageError(f"{name} is written on one line", hint="write it as a block first")
    end = _end(section)
    line = text.find("\n", end)
    end = len(text) if line < 0 else line + 1
    return text[:end].rstrip("\n") + "\n" + _indented(block, section.start_mark.column) + text[end:]


def _indented(block: str, columns: int) -> str:
    return "".join(" " * columns + line if line.strip() else line for line in block.splitlines(keepends=True))


def _root(text: str) -> Node:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, MappingNode):
        raise UsageError("the ratchet is no mapping")
    return root


def _value(node: Node, name: str) -> Node | None:
    pairs = node.value if isinstance(node, MappingNode) else []
    return next((value for key, value in pairs if key.value == name), None)


def _end(node: Node) -> int:
    """Where a node's text ends; a block's own end mark stands behind the comments that follow it."""
    if isinstance(node, MappingNode) and not node.flow_style and node.value:
        return _end(node.value[-1][1])
    if isinstance(node, SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return int(node.end_mark.index)


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def read_text(path: Path) -> str:
    """A ratchet file's text; raises UsageError when it can not be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can not be read: {error}", Where(str(path))) from error
