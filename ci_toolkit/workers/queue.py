"""Which waiting unit starts next, and on which devices. Pure: it knows no clock.

Longest first, by device time. Units of which no two fit beside each other (wider than half of the devices) come before
all others: they run one after the other in any order, and later they would wait for every device to drain. While the
first in the order is too wide for what is free, others pass it, a bounded number of times. A reservation from expected
ends (EASY backfilling) was measured too: with estimates as wrong as those of tests it left devices idle and was worse.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

UNKNOWN_QUANTILE = 0.99
"""How long a unit of unknown duration is taken to be, among the known ones, whatever its width.

One that turns out long and was started late costs more than one that turns out short and was started early.
"""
PASSES_PER_DEVICE = 4
"""How often, for each device, others may start before a unit that waits for more devices than are free."""


@dataclass(frozen=True)
class Entry:
    """A unit that waits: ``width`` is how many devices it needs at once (0: the host only).

    ``seconds`` is how long it is expected to run, None where nothing is known. Raises ValueError for a negative or
    infinite number.
    """

    key: Hashable
    width: int
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.width < 0:
            raise ValueError(f"{self.key} can not need {self.width} devices")
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise ValueError(f"{self.key} can not be expected to run {self.seconds} s")


@dataclass(eq=False)
class _Waiting:
    entry: Entry
    arrival: int
    passed: int = 0


class Queue:
    """Units that wait for a pool of ``devices``. Each is given out once.

    Raises ValueError for an entry that is wider than the pool, and for a key that waits already.
    """

    def __init__(self, devices: int, entries: Iterable[Entry] = ()) -> None:
        self._devices = devices
        self._overdue: list[_Waiting] = []
        self._order: list[_Waiting] = []
        self._known: list[float] = []
        self._arrivals = 0
        self.add(entries)

    def __len__(self) -> int:
        return len(self._overdue) + len(self._order)

    @property
    def waiting(self) -> tuple[Entry, ...]:
        """All that wait, in the order in which they would start one at a time."""
        return tuple(waiting.entry for waiting in (*self._overdue, *self._order))

    def add(self, entries: Iterable[Entry]) -> None:
        """Takes in more. What was passed too often already stays before them."""
        keys = {entry.key for entry in self.waiting}
        for entry in (added := list(entries)):
            if entry.width > self._devices:
                raise ValueError(f"{entry.key} needs {entry.width} devices, there are {self._devices}")
            if entry.key in keys:
                raise ValueError(f"{entry.key} waits already")
            keys.add(entry.key)
        self._known = sorted([*self._known, *(entry.seconds for entry in added if entry.seconds is not None)])
        self._order += [_Waiting(entry, self._arrivals) for entry in added]
        self._arrivals += 1
        self._sort()

    def take(self, free_devices: int, free_slots: int) -> Entry | None:
        """Gives out the unit to start now on ``free_devices``, None when there is none.

        A slot is what one worker takes of the host. A unit that must not be passed any more keeps the devices that
        become free, until they are enough; units that need none go on.
        """
        found = self._find(free_devices, free_slots)
        return self._start(found) if found else None

    def peek(self, free_devices: int, free_slots: int) -> Entry | None:
        """What ``take`` would give out now, for a caller that may not get the devices after all."""
        found = self._find(free_devices, free_slots)
        return found.entry if found else None

    def shrink(self, devices: int) -> tuple[Entry, ...]:
        """Notes that only ``devices`` are left in the pool; gives out the entries that will never fit any more."""
        self._devices = devices
        lost = tuple(entry for entry in self.waiting if entry.width > devices)
        self._overdue = [waiting for waiting in self._overdue if waiting.entry.width <= devices]
        self._order = [waiting for waiting in self._order if waiting.entry.width <= devices]
        self._sort()
        return lost

    def _find(self, free_devices: int, free_slots: int) -> _Waiting | None:
        if free_slots < 1:
            return None
        for at, waiting in enumerate(self._overdue):
            if waiting.entry.width <= (0 if at else free_devices):
                return waiting
        usable = 0 if self._overdue else free_devices
        return next((waiting for waiting in self._order if waiting.entry.width <= usable), None)

    def _start(self, started: _Waiting) -> Entry:
        """Gives out one. It passes the first of the order, which is too wide now, and those that came earlier."""
        if started in self._overdue:
            self._overdue.remove(started)
            return started.entry
        at = self._order.index(started)
        del self._order[at]
        passed = [self._order[0]] if at and started.entry.width else []
        if started.arrival:
            passed += [waiting for waiting in self._order[at:] if waiting.arrival < started.arrival]
        for waiting in passed:
            waiting.passed += 1
        overdue = [waiting for waiting in passed if waiting.passed >= PASSES_PER_DEVICE * max(self._devices, 1)]
        self._overdue += overdue
        for waiting in overdue:
            self._order.remove(waiting)
        return started.entry

    def _sort(self) -> None:
        unknown = quantile(self._known, UNKNOWN_QUANTILE) if self._known else 0.0

        def rank(waiting: _Waiting) -> tuple[int, float]:
            entry = waiting.entry
            time = unknown if entry.seconds is None else entry.seconds * max(entry.width, 1)
            return -entry.width if 2 * entry.width > self._devices else 0, -time

        self._order.sort(key=rank)


def quantile(ascending: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of the values do not exceed."""
    return ascending[max(math.ceil(share * len(ascending)) - 1, 0)]


def assign(free: Iterable[int], width: int) -> tuple[int, ...]:
    """The devices, of those that are free, that a unit gets: the lowest numbers. Raises ValueError for too few."""
    chosen = tuple(sorted(free)[:width])
    if len(chosen) < width:
        raise ValueError(f"{width} devices are needed, {len(chosen)} are free")
    return chosen
