"""Reads the stack that ``faulthandler`` wrote when a worker crashed or hung."""

import re
from pathlib import PurePosixPath

from ci_toolkit.model.case import Frame
from ci_toolkit.model.text import one_line

_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):$|^Stack \(most recent", re.M)
_CURRENT = re.compile(r"^(?:Current thread 0x[0-9a-f]+.*|Stack) \(most recent call first\):$", re.M)
_FATAL = re.compile(r"^Fatal Python error: ", re.M)
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
_LIBRARY = re.compile(r".*/(?:site|dist)-packages/")
_MACHINERY = re.compile(r"(?:^|/)(?:_pytest|pluggy|pytest)/")
FRAMES = 40


def frames(text: str, root: str) -> tuple[Frame, ...]:
    """The frames of the thread that failed, outermost first, in the last dump of ``text``; none where there is no dump.

    Frames of pytest itself are left out.
    """
    starts = [match.end() for match in _CURRENT.finditer(text)] or [match.end() for match in _THREAD.finditer(text)]
    if not starts:
        return ()
    found = []
    for line in text[starts[-1] :].lstrip("\n").splitlines():
        match = _FRAME.match(line)
        if not match:
            break
        found.append(_frame(match.group(1), int(match.group(2)), match.group(3), root))
    kept = [frame for frame in found if not _MACHINERY.search(frame.file)] or found
    return tuple(reversed(kept[:FRAMES]))


def last_dump(text: str) -> str:
    """The last dump in ``text`` with its head line and what follows it; empty where there is none."""
    starts = [match.start() for match in _FATAL.finditer(text)] or [match.start() for match in _THREAD.finditer(text)]
    return text[starts[-1] :] if starts else ""


def _frame(file: str, line: int, function: str, root: str) -> Frame:
    path = PurePosixPath(file)
    own = path.is_relative_to(root)
    name = str(path.relative_to(root)) if own else _LIBRARY.sub("", file)
    own = own and not _LIBRARY.match(name)
    return Frame(file=one_line(name), line=line, function=one_line(function), own=own)
