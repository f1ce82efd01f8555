"""What a child process costs: time on the clock, time of the processors, memory."""

import os
import sys
import time
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds on the clock and of the processors, and the largest memory in MiB, of one child process."""

    wall: float
    cpu: float
    memory: float

    def __str__(self) -> str:
        return f"{self.wall:8.2f} s wall {self.cpu:8.2f} s CPU {self.memory:8.0f} MiB"


def run(*command: str, quiet: bool = False) -> Cost:
    """Runs a child to its end; it must succeed. ``quiet`` throws away what it prints."""
    actions = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)] if quiet else []
    began = time.perf_counter()
    child = os.posix_spawn(command[0], list(command), os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
