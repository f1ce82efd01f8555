"""The processes of this machine, with the marks that they carry, and which of them an earlier run left behind."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ci_toolkit.model.text import clip, one_line
from ci_toolkit.workers.mark import PROC, VARIABLE, Mark, read_mark, stat_of

COMMAND_BYTES = 200
ENDED = frozenset("ZX")


@dataclass(frozen=True)
class Process:
    """One process. ``started`` as in ``Mark``; ``user`` is the effective user's number.

    ``mark`` is None where it carries none, or where another user's environment can not be read.
    """

    pid: int
    parent: int
    started: int
    user: int
    mark: Mark | None = None
    ended: bool = False
    command: str = ""

    def __str__(self) -> str:
        of = f", of run {self.mark.run}, whose host was process {self.mark.pid}" if self.mark else ""
        return f"process {self.pid} ({self.command or 'without a name'}{of})"


def table() -> list[Process]:
    """All processes that can be seen; none where the system has no /proc."""
    if not (PROC / "self/stat").exists():
        return []
    found = []
    for entry in os.scandir(PROC):
        if entry.name.isdigit():
            one = _look(int(entry.name))
            found += [one] if one else []
    return found


def _look(pid: int) -> Process | None:
    fields = stat_of(pid)
    try:
        user = (PROC / str(pid)).stat().st_uid
    except OSError:
        return None
    if not fields:
        return None
    environment = _read(pid, "environ") if user == os.geteuid() else b""
    prefix = f"{VARIABLE}=".encode()
    text = next((entry for entry in environment.split(b"\0") if entry.startswith(prefix)), b"").removeprefix(prefix)
    command = _read(pid, "cmdline").rstrip(b"\0").replace(b"\0", b" ") or _read(pid, "comm").strip()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        started=int(fields[19]),
        user=user,
        mark=read_mark(text.decode("ascii", "replace")),
        ended=fields[0] in ENDED,
        command=clip(one_line(command.decode("utf-8", "replace")), COMMAND_BYTES),
    )


def _read(pid: int, name: str) -> bytes:
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def orphans(processes: Sequence[Process], me: int, user: int, space: int) -> list[Process]:
    """What runs of ``user`` whose host is gone left behind, parents before their children. Pure.

    That is what carries a mark whose host is not there any more, and what descends from it. Never ``me`` or what I
    descend from, never what carries the mark of a host that lives, never what is of another user; and a mark of another
    ``space`` of process numbers (another container) tells nothing here.
    """
    alive = {(one.pid, one.started) for one in processes if not one.ended}
    spared = _line_of(me, processes)

    def may_end(one: Process) -> bool:
        lives = one.mark is not None and (one.mark.space != space or (one.mark.pid, one.mark.started) in alive)
        return not (lives or one.ended or one.pid in spared or one.user != user)

    children: dict[int, list[Process]] = {}
    for one in processes:
        children.setdefault(one.parent, []).append(one)
    found = {one.pid: one for one in processes if one.mark is not None and may_end(one)}
    waiting = list(found.values())
    while waiting:
        for child in children.get(waiting.pop().pid, ()):
            if child.pid not in found and may_end(child):
                found[child.pid] = child
                waiting.append(child)
    return list(found.values())


def of_run(processes: Iterable[Process], mark: Mark | None) -> list[Process]:
    """What carries the very mark and has not ended."""
    return [one for one in processes if mark is not None and one.mark == mark and not one.ended]


def _line_of(pid: int, processes: Sequence[Process]) -> set[int]:
    """A process and all that it descends from."""
    parents = {one.pid: one.parent for one in processes}
    line: set[int] = set()
    while pid and pid not in line:
        line.add(pid)
        pid = parents.get(pid, 0)
    return line
