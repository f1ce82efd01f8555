"""Lanes -> jobs -> matrices, within what GitHub holds and the boards that there are. Pure."""

import heapq
import math
from collections.abc import Mapping, Sequence

import msgspec

from ci_toolkit.catalogue.lanes import Platform
from ci_toolkit.errors import UsageError
from ci_toolkit.model.plan import Job, Lane

MATRIX_JOBS = 256
"""Jobs of one matrix (GitHub Docs, "Usage limits")."""
CHUNKS = 4
"""Matrices that the reusable workflow has."""
SETUP_MINUTES = 10
"""What a job may take before its first lane and after its last: checkout, installation, upload."""
LONGEST_MINUTES = 5 * 24 * 60
"""A self-hosted job ends after five days (GitHub Docs, "Usage limits")."""
PATIENCE = 3.0
"""A lane may take this much longer than its units took before."""
LEAST_S = 600.0


def patience_s(timeout_s: float, expected_s: float | None) -> float:
    """How long a lane may take: what conf says, and less where it is known to be much shorter."""
    return timeout_s if expected_s is None else min(timeout_s, max(LEAST_S, PATIENCE * expected_s))


def pack(lanes: Sequence[Lane], platforms: Mapping[str, Platform]) -> tuple[Job, ...]:
    """Each lane in exactly one job; the order of the lanes does not matter.

    A platform has at most as many jobs as boards: its lanes are batched, the longest first, onto the job that has the
    least to do. Raises UsageError where the jobs do not fit into CHUNKS matrices of MATRIX_JOBS, or a job takes longer
    than GitHub lets one.
    """
    by_platform: dict[str, list[Lane]] = {}
    for lane in sorted(lanes, key=lambda lane: lane.id):
        by_platform.setdefault(lane.platform, []).append(lane)
    jobs = [
        _job(platforms[name], batch, f"{name}-batch-{number}of{len(batches)}")
        for name, here in sorted(by_platform.items())
        for batches in [_batches(here, platforms[name].boards)]
        for number, batch in enumerate(batches, 1)
    ]
    if len(jobs) > CHUNKS * MATRIX_JOBS:
        raise UsageError(
            f"{len(jobs)} jobs do not fit into {CHUNKS} matrices of {MATRIX_JOBS}",
            hint="give platforms their number of boards, so that lanes share jobs, or select fewer lanes",
        )
    return tuple(msgspec.structs.replace(job, chunk=at // MATRIX_JOBS) for at, job in enumerate(jobs))


def _batches(lanes: Sequence[Lane], boards: int) -> list[list[Lane]]:
    if not boards or len(lanes) <= boards:
        return [[lane] for lane in lanes]
    batches: list[list[Lane]] = [[] for _ in range(boards)]
    least = [(0.0, at) for at in range(boards)]
    for lane in sorted(lanes, key=lambda lane: (-_load(lane), lane.id)):
        load, at = heapq.heappop(least)
        batches[at].append(lane)
        heapq.heappush(least, (load + _load(lane), at))
    return batches


def _load(lane: Lane) -> float:
    return lane.timeout_s if lane.expected_s is None else lane.expected_s


def _job(platform: Platform, lanes: Sequence[Lane], batch: str) -> Job:
    minutes = math.ceil(sum(lane.timeout_s for lane in lanes) / 60) + SETUP_MINUTES
    name = lanes[0].id if len(lanes) == 1 else batch
    if minutes > LONGEST_MINUTES:
        raise UsageError(
            f"the job {name} may take {minutes} minutes, GitHub ends it after {LONGEST_MINUTES}",
            hint=f"lower the timeout of its lanes, or give {platform.name} more boards",
        )
    return Job(
        id=name,
        lanes=tuple(lane.id for lane in lanes),
        platform=platform.name,
        runs_on=platform.runs_on,
        build=platform.build,
        timeout_minutes=minutes,
        container=platform.container,
    )
