"""Finds the evidence of a plan's lanes: in the folder of one machine, or in what the jobs of a run have uploaded."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ci_toolkit.formats.evidence import attempt_folder, attempts
from ci_toolkit.model.plan import Job, Plan
from ci_toolkit.model.uploads import evidence_upload
from ci_toolkit.model.verdict import FindingKind


@dataclass(frozen=True)
class Place:
    """Where a lane's evidence should lie, and of which run attempt; or, with ``fault``, why there is none."""

    folder: Path
    attempt: int
    fault: tuple[FindingKind, str] | None = None


def in_folder(plan: Plan, out: Path, attempt: int) -> dict[str, Place]:
    """Lane id -> its place below ``out``, written on one machine: the newest attempt between the plan's and ours."""
    return {lane.id: _newest(out, lane.id, plan.provenance.attempt, attempt) for lane in plan.lanes}


def in_uploads(plan: Plan, uploads: Path, name: str, attempt: int) -> dict[str, Place]:
    """Lane id -> its place below ``uploads``, which has a folder for each artifact of the run.

    A job that was run again counts by its newest attempt alone, even where that one left less: what an earlier
    attempt showed is over. Attempts are told by the artifact's name, never by its id or time.
    """
    found: dict[str, Place] = {}
    for job in plan.jobs:
        tried = range(attempt, plan.provenance.attempt - 1, -1)
        folders = ((number, uploads / evidence_upload(name, job.id, number)) for number in tried)
        newest = next(((number, folder) for number, folder in folders if folder.is_dir()), None)
        if newest is None:
            found |= _no_upload(plan, job, uploads, name)
        else:
            found |= {lane: _in_upload(job, lane, newest[1], newest[0]) for lane in job.lanes}
    return found


def strangers(plan: Plan, uploads: Path, name: str) -> list[str]:
    """The artifacts of this plan's name that belong to none of its jobs."""
    prefix = evidence_upload(name, "", 0).rpartition(".a")[0]
    known = {job.id for job in plan.jobs}
    names = sorted(path.name for path in uploads.iterdir() if path.name.startswith(prefix)) if uploads.is_dir() else []
    return [one for one in names if one.removeprefix(prefix).rpartition(".a")[0] not in known]


def _newest(out: Path, lane: str, first: int, last: int) -> Place:
    there = [number for number in attempts(out, lane) if first <= number <= last]
    number = max(there, default=first)
    older = [number for number in attempts(out, lane) if number < first]
    fault = _older(older, first) if older and not there else None
    return Place(attempt_folder(out, lane, number), number, fault)


def _no_upload(plan: Plan, job: Job, uploads: Path, name: str) -> Mapping[str, Place]:
    first = plan.provenance.attempt
    older = [number for number in range(1, first) if (uploads / evidence_upload(name, job.id, number)).is_dir()]
    message = f"the job {job.id} uploaded nothing: its runner was lost, it was killed, or one of its steps failed"
    fault = _older(older, first) if older else (FindingKind.NO_UPLOAD, message)
    return {lane: Place(uploads, first, fault) for lane in job.lanes}


def _older(older: list[int], first: int) -> tuple[FindingKind, str]:
    message = f"only attempt {max(older)} left evidence, and this was planned in attempt {first}"
    return FindingKind.OLDER_ATTEMPT, message


def _in_upload(job: Job, lane: str, folder: Path, attempt: int) -> Place:
    place = attempt_folder(folder, lane, attempt)
    if os.path.lexists(place):
        return Place(place, attempt)
    there = attempts(folder, lane)
    if there:
        message = f"what the job uploaded in attempt {attempt} is evidence of attempt {max(there)}"
        return Place(place, attempt, (FindingKind.OLDER_ATTEMPT, message))
    others = sorted(path.parent.name for path in folder.glob("*/a*") if path.parent.name not in job.lanes)
    if others:
        message = f"the job {job.id} uploaded evidence of {', '.join(dict.fromkeys(others))} in its place"
        return Place(place, attempt, (FindingKind.ANOTHER_LANE, message))
    message = f"the job {job.id} uploaded something, and no evidence of this lane: it ended before the lane began"
    return Place(place, attempt, (FindingKind.LANE_MISSING, message))
