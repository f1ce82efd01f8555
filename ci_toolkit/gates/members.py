"""``members/<test file>.txt``: the cases of a suite, a line each test function with its parameter ids.

A line is the function and, after tabs, its parameter ids; ids hold no tab, since controls in ids are escaped. Lines are
sorted, so that two changes of different functions merge.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ci_toolkit.errors import UsageError, Where
from ci_toolkit.formats.documents import write_atomically

FOLDER = "members"
SUFFIX = ".txt"
_PARAMETERS = re.compile(r"([^\[]+)\[(.*)\]", re.DOTALL)


def parse_members(text: str, file: str) -> tuple[str, ...]:
    """The case ids (without the test file) of one member file; ``file`` is its name in errors.

    Raises UsageError for a case that is listed twice and for a line that is empty or ends in white space.
    """
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        function, *parameters = line.split("\t")
        if not function or line != line.rstrip() or "" in parameters[:-1]:
            raise UsageError("an empty name, or white space at the end", Where(file, number))
        for case in [f"{function}[{parameter}]" for parameter in parameters] or [function]:
            if case in found:
                raise UsageError(f"{case} is listed a second time (first in line {found[case]})", Where(file, number))
            found[case] = number
    return tuple(found)


def render_members(cases: Iterable[str]) -> str:
    """The canonical text of a member file; ``parse_members`` gives the same cases back."""
    functions: dict[str, list[str]] = {}
    for case in sorted(set(cases)):
        match = _PARAMETERS.fullmatch(case)
        if match and match[2] and match[2] == match[2].strip():
            functions.setdefault(match[1], []).append(match[2])
        else:
            functions.setdefault(case, [])
    bare = {case for case in set(cases) if functions.get(case)}
    lines = [f"{name}\n" for name in bare]
    lines += ["\t".join([name, *parameters]) + "\n" for name, parameters in functions.items()]
    return "".join(sorted(lines))


def read_members(folder: Path) -> dict[str, tuple[str, ...]]:
    """Test file -> its member cases, of the suite's ratchet in ``folder``; empty when it lists none."""
    root = folder / FOLDER
    members = {}
    for path in sorted(root.rglob(f"*{SUFFIX}")):
        name = path.relative_to(root).as_posix().removesuffix(SUFFIX)
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"can not be read: {error}", Where(str(path))) from error
        members[name] = parse_members(text, str(path))
    return members


def write_members(folder: Path, members: Mapping[str, Iterable[str]]) -> None:
    """Writes the member files of ``members``, and leaves those of other test files as they are."""
    for file, cases in members.items():
        path = folder / FOLDER / f"{file}{SUFFIX}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, render_members(cases).encode())
