"""The view of a run that lives on a terminal: totals, and a line for each running worker."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from ci_toolkit.github.commands import defuse
from ci_toolkit.model.text import clip, one_line
from ci_toolkit.publish.remaining import Remaining
from ci_toolkit.publish.terminal import on_terminal
from ci_toolkit.publish.words import duration, plural

TEXT_BYTES = 300


@dataclass
class Running:
    """A worker that runs. ``began`` is on the monotonic clock, ``case`` is the one that runs now."""

    lane: str
    unit: str
    began: float
    device: str = ""
    waits: bool = False
    finished: int = 0
    case: str = ""
    failed: str = ""


@dataclass
class Totals:
    """What all workers of a run did until now."""

    ended: int = 0
    finished: int = 0
    failed: int = 0


@dataclass(frozen=True)
class LiveView:
    """What a terminal shows of ``running`` and ``totals`` at the time at which it is drawn."""

    running: Mapping[str, Running]
    totals: Totals
    remaining: Remaining
    clock: Callable[[], float] = field(default=time.monotonic)

    def __rich__(self) -> Group:
        # It is drawn by a thread of rich's while the main thread adds and removes workers: one copy, made at once.
        running = tuple(self.running.values())
        now = self.clock()
        return Group(self._totals(running, now), _workers(running, now))

    def _totals(self, running: tuple[Running, ...], now: float) -> Text:
        totals = self.totals
        left = self.remaining.seconds(((one.lane, one.unit), now - one.began) for one in running)
        parts = [
            f"{len(running)} {plural('unit', len(running))} running",
            f"{totals.finished:,} {plural('case', totals.finished)} finished",
            f"{totals.failed:,} failed",
            f"{totals.ended:,} {plural('unit', totals.ended)} ended",
        ]
        if left is not None:
            parts.append(f"about {duration(left)} left")
        return Text(", ".join(parts), style="bold", no_wrap=True, overflow="ellipsis")


def _workers(running: Iterable[Running], now: float) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(ratio=2, no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column(ratio=3, no_wrap=True, overflow="ellipsis", style="dim")
    table.add_column(no_wrap=True, justify="right")
    for one in running:
        doing = "waits for a device" if one.waits else one.case
        cells = (f"{one.lane} {one.unit}", one.device, doing, duration(now - one.began))
        table.add_row(*(Text(defuse(one_line(clip(cell, TEXT_BYTES)))) for cell in cells))
    return table


def is_watched(console: Console, environ: Mapping[str, str]) -> bool:
    """Whether a person watches who wants lines that change: on a terminal that can, and not in a CI's log."""
    in_ci = environ.get("CI", "").lower() not in ("", "0", "false")
    return on_terminal() and console.is_interactive and not in_ci
