"""Ends what earlier runs left behind on this machine, and nothing else."""

import os
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from ci_toolkit.workers.mark import own_space, stat_of
from ci_toolkit.workers.processes import Process, orphans, table

TERM_S = 5.0
"""How long orphans may take to end after SIGTERM, such as a keeper that clears up."""
KILL_S = 2.0
ROUNDS = 3
"""What is killed may have started something meanwhile."""


@dataclass(frozen=True)
class Cleaned:
    """What was ended, and what could not be: a process that is stuck in a driver does not go."""

    ended: tuple[Process, ...] = ()
    stuck: tuple[Process, ...] = ()


NOTHING = Cleaned()


def left_behind() -> list[Process]:
    """What runs whose host is gone left behind."""
    return orphans(table(), os.getpid(), os.geteuid(), own_space())


def end_orphans() -> Cleaned:
    """Ends all that ``left_behind`` finds: SIGTERM first, then SIGKILL, until nothing is left of it."""
    held: dict[int, tuple[Process, int]] = {}
    try:
        for step in range(ROUNDS):
            _hold(left_behind(), held)
            alive = _alive(held)
            if not alive:
                break
            for _, descriptor in alive:
                with suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL if step else signal.SIGTERM)
            _wait(held, KILL_S if step else TERM_S)
        stuck = tuple(one for one, _ in _alive(held))
        return Cleaned(tuple(one for one, _ in held.values() if one not in stuck), stuck)
    finally:
        for _, descriptor in held.values():
            os.close(descriptor)


def _hold(found: list[Process], held: dict[int, tuple[Process, int]]) -> None:
    """Opens processes by descriptors, as a number may be another process's when the signal is sent."""
    for one in found:
        if one.pid in held:
            continue
        try:
            descriptor = os.pidfd_open(one.pid)
        except ProcessLookupError:
            continue
        fields = stat_of(one.pid)
        if fields and int(fields[19]) == one.started:
            held[one.pid] = (one, descriptor)
        else:
            os.close(descriptor)


def _alive(held: dict[int, tuple[Process, int]]) -> list[tuple[Process, int]]:
    """Those that have not ended: the descriptor of one that has can be read."""
    poller = select.poll()
    for _, descriptor in held.values():
        poller.register(descriptor, select.POLLIN)
    ended = {descriptor for descriptor, _ in poller.poll(0)}
    return [(one, descriptor) for one, descriptor in held.values() if descriptor not in ended]


def _wait(held: dict[int, tuple[Process, int]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while (alive := _alive(held)) and (left := deadline - time.monotonic()) > 0:
        poller = select.poll()
        for _, descriptor in alive:
            poller.register(descriptor, select.POLLIN)
        poller.poll(left * 1000)
