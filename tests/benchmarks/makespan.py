"""Makespan of 200 seeded jobs on 8 devices with our queue, and with what a user would take instead, in the same run.

    python tests/benchmarks/makespan.py --seeds 300

Durations are lognormal (sigma 1.5) or Pareto (1.3 and 1.5). A job needs one device, or 1, 2, 4 or 8 of them (70, 18, 9
and 3 %). What is expected is exact, or noisy: wrong by a lognormal factor (sigma 0.7), and nothing for every tenth job.

Makespans are shown over two bounds. The simple one is max(device time / devices, longest). No order reaches it where
jobs need all devices, as nothing runs beside those; so the bound of widths adds them to the longest of the others.

Targets: for one device the mean is at most 1.02 of the simple bound; for mixed widths the 95th percentile is at most
1.08 of the bound of widths when durations are noisy, and 1.03 when they are exact.
"""

import argparse
import heapq
import math
import random
import statistics
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from ci_toolkit.workers.queue import Entry, Queue

DEVICES = 8
JOBS = 200
LOADS: dict[str, Callable[[random.Random], float]] = {
    "lognormal 1.5": lambda dice: dice.lognormvariate(0, 1.5),
    "Pareto 1.3": lambda dice: dice.paretovariate(1.3),
    "Pareto 1.5": lambda dice: dice.paretovariate(1.5),
}
WIDTHS, SHARES = (1, 2, 4, 8), (70, 18, 9, 3)


@dataclass(frozen=True)
class Job:
    """A job as it turns out (``seconds``) and as it was ``expected``, None where nothing is known."""

    number: int
    width: int
    seconds: float
    expected: float | None


Take = Callable[[int], Job | None]
"""Gives the job to start on that many free devices."""


def load(kind: str, mixed: bool, noisy: bool, seed: int) -> list[Job]:
    """The jobs of a seed, in the order in which they are declared. Noise changes only what is expected."""
    dice, doubt = random.Random(f"{kind} {mixed} {seed}"), random.Random(f"doubt {kind} {mixed} {seed}")
    jobs = []
    for number in range(JOBS):
        seconds = LOADS[kind](dice)
        width = dice.choices(WIDTHS, SHARES)[0] if mixed else 1
        expected = seconds * doubt.lognormvariate(0, 0.7) if noisy else seconds
        jobs.append(Job(number, width, seconds, None if noisy and doubt.random() < 0.1 else expected))
    return jobs


def bounds(jobs: Sequence[Job]) -> tuple[float, float]:
    """The simple bound and the bound of widths: no order of the jobs ends earlier."""
    area = sum(job.seconds * job.width for job in jobs) / DEVICES
    simple = max(area, *(job.seconds for job in jobs))
    alone = sum(job.seconds for job in jobs if job.width == DEVICES)
    return simple, max(simple, alone + max((job.seconds for job in jobs if job.width < DEVICES), default=0))


def makespan(take: Take) -> float:
    """When the last job ends, if each starts as soon as ``take`` gives it."""
    now, free, running = 0.0, DEVICES, list[tuple[float, int, int]]()
    while True:
        while free and (job := take(free)):
            free -= job.width
            heapq.heappush(running, (now + job.seconds, job.number, job.width))
        if not running:
            return now
        now, _, width = heapq.heappop(running)
        free += width


def ours(jobs: Sequence[Job]) -> float:
    queue = Queue(DEVICES, (Entry(job.number, job.width, job.expected) for job in jobs))
    by_key: dict[Hashable, Job] = {job.number: job for job in jobs}

    def take(free: int) -> Job | None:
        entry = queue.take(free, DEVICES)
        return None if entry is None else by_key[entry.key]

    return makespan(take)


def first_fit(order: Sequence[Job]) -> float:
    """The first of the order that fits, however often it passes others."""
    left = list(order)

    def take(free: int) -> Job | None:
        job = next((job for job in left if job.width <= free), None)
        if job:
            left.remove(job)
        return job

    return makespan(take)


def head_blocks(order: Sequence[Job]) -> float:
    left = deque(order)
    return makespan(lambda free: left.popleft() if left and left[0].width <= free else None)


def round_robin(jobs: Sequence[Job]) -> float:
    """Dealt out before the start; a wide job takes neighbouring devices, as soon as all of them are free."""
    ends, dealt = [0.0] * DEVICES, 0
    for job in jobs:
        mine = [(dealt + offset) % DEVICES for offset in range(job.width)]
        dealt += job.width
        end = max(ends[device] for device in mine) + job.seconds
        for device in mine:
            ends[device] = end
    return max(ends)


def median_first(jobs: Sequence[Job]) -> float:
    """Longest first, unknown durations taken as the median."""
    median = statistics.median(job.expected for job in jobs if job.expected is not None)
    return first_fit(sorted(jobs, key=lambda job: -(median if job.expected is None else job.expected)))


POLICIES = {
    "ci-toolkit": ours,
    "longest first, median": median_first,
    "FIFO, first that fits": first_fit,
    "FIFO, head blocks": head_blocks,
    "static round robin": round_robin,
}


def spread(ratios: Sequence[float]) -> tuple[float, float]:
    """Mean and 95th percentile."""
    return statistics.fmean(ratios), sorted(ratios)[max(math.ceil(0.95 * len(ratios)) - 1, 0)]


def missed(mixed: bool, noisy: bool, simple: Sequence[float], widths: Sequence[float]) -> Iterator[str]:
    """What our ratios miss of the targets."""
    if not mixed and spread(simple)[0] > 1.02:
        yield f"mean {spread(simple)[0]:.3f}, at most 1.02 is wanted"
    limit = 1.08 if noisy else 1.03
    if mixed and spread(widths)[1] > limit:
        yield f"95th percentile {spread(widths)[1]:.3f} of the bound of widths, at most {limit} is wanted"


def main() -> None:
    """Prints a table for each load; ends with 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300)
    seeds = parser.parse_args().seeds
    print(f"{JOBS} jobs on {DEVICES} devices, {seeds} seeds: mean (95th percentile) over the simple bound")
    faults = []
    for mixed, noisy in ((False, True), (False, False), (True, True), (True, False)):
        title = f"{'mixed widths' if mixed else 'one device'}, {'noisy' if noisy else 'exact'}"
        print(f"\n{title:28}" + "".join(f"{kind:>17}" for kind in LOADS), flush=True)
        rows: dict[str, list[str]] = {name: [] for name in POLICIES}
        floor, over = [], []
        for kind in LOADS:
            loads = [load(kind, mixed, noisy, seed) for seed in range(seeds)]
            both = [bounds(jobs) for jobs in loads]
            for name, policy in POLICIES.items():
                ends = [policy(jobs) for jobs in loads]
                simple = [end / bound for end, (bound, _) in zip(ends, both, strict=True)]
                rows[name].append("{:.3f} ({:.3f})".format(*spread(simple)))
                if policy is ours:
                    widths = [end / bound for end, (_, bound) in zip(ends, both, strict=True)]
                    over.append("{:.3f} ({:.3f})".format(*spread(widths)))
                    faults += [f"{title}, {kind}: {fault}" for fault in missed(mixed, noisy, simple, widths)]
            floor.append("{:.3f} ({:.3f})".format(*spread([widths / simple for simple, widths in both])))
        if mixed:
            rows |= {"the bound of widths": floor, "ci-toolkit over that bound": over}
        for name, cells in rows.items():
            print(f"{name:28}" + "".join(f"{cell:>17}" for cell in cells), flush=True)
    for fault in faults:
        print(f"MISSED: {fault}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
