"""The mark in the environment of all that a run starts: which run it is of, and which process is its host."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

VARIABLE = "CI_TOOLKIT_MARK"
PROC = Path("/proc")
_TEXT = re.compile(r"([A-Za-z0-9._-]{1,60}):(\d{1,20}):(\d{1,10}):(\d{1,20})")
_RUN = re.compile(r"[A-Za-z0-9._-]{1,60}")


@dataclass(frozen=True)
class Mark:
    """``run`` is for people. The host is known by its number in a space of process numbers, and by its start.

    ``space`` is the inode of the PID namespace, ``started`` the ticks from the machine's start to the process's: a
    number alone may be another process's by now, and means nothing in another container.
    """

    run: str
    space: int
    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.run}:{self.space}:{self.pid}:{self.started}"


def read_mark(text: str) -> Mark | None:
    """The mark that ``text`` is, None for any other text."""
    match = _TEXT.fullmatch(text)
    return Mark(match[1], int(match[2]), int(match[3]), int(match[4])) if match else None


def marked() -> dict[str, str]:
    """What this process, as a host, puts into the environment of what it starts; nothing where there is no /proc."""
    mark = own_mark()
    return {VARIABLE: str(mark)} if mark else {}


def own_mark() -> Mark | None:
    """The mark of this process as a host."""
    return _mark_of(os.getpid())


@lru_cache(maxsize=1)
def _mark_of(pid: int) -> Mark | None:
    fields = stat_of(pid)
    return Mark(run_name(os.environ), own_space(), pid, int(fields[19])) if fields else None


def run_name(environ: Mapping[str, str]) -> str:
    """``RUN.ATTEMPT`` of a GitHub run, else ``local``."""
    name = f"{environ.get('GITHUB_RUN_ID', '')}.{environ.get('GITHUB_RUN_ATTEMPT', '1')}"
    return name if environ.get("GITHUB_RUN_ID") and _RUN.fullmatch(name) else "local"


def own_space() -> int:
    """The inode of this process's PID namespace; 0 where there is none."""
    try:
        return (PROC / "self/ns/pid").stat().st_ino
    except OSError:
        return 0


def stat_of(pid: int) -> list[str]:
    """State, parent and what follows of a process, as the kernel tells it; empty when it is gone."""
    try:
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
