"""The plan for this machine: conf, what is there, what was asked for. Writes and reads ``plan.json``."""

import datetime
from collections.abc import Collection
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.errors import (
    INFRASTRUCTURE,
    NOTHING_SELECTED,
    NothingSelectedError,
    UsageError,
    Where,
    worst_exit,
)
from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.formats.documents import read_document, write_document
from ci_toolkit.formats.durations import DURATIONS, read_durations
from ci_toolkit.formats.evidence import attempts
from ci_toolkit.model.ids import matches
from ci_toolkit.model.plan import Job, Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.plan.lanes import Wish, chosen, make_plan
from ci_toolkit.suites.survey import survey

PLAN = "plan.json"


def make_and_write(
    catalogue: Catalogue, wish: Wish, out: Path, today: datetime.date, provenance: Provenance, *, event: str
) -> Plan:
    """Plans and writes ``OUT/plan.json``.

    Outside GitHub, where nobody counts run attempts, the attempt is the first whose folder no planned lane has yet.
    """
    lanes = chosen(catalogue, wish)
    if event == "local":
        taken = [number for conf in lanes for number in attempts(out, conf.lane.id)]
        provenance = msgspec.structs.replace(provenance, attempt=max(taken, default=0) + 1)
    durations = read_durations(Path(catalogue.folder) / DURATIONS)
    plan = make_plan(catalogue, survey(lanes), wish, durations, provenance=provenance, today=today, event=event)
    out.mkdir(parents=True, exist_ok=True)
    write_document(out / PLAN, plan)
    return plan


def part_of_plan(path: Path, catalogue: Catalogue, lanes: tuple[str, ...] = (), job: str = "") -> Plan:
    """A plan that was written before, narrowed to the lanes that the globs name, or to those of a job.

    Raises UsageError for a plan that was made from other conf, NothingSelectedError for a glob or job that it has not.
    """
    plan = read_document(path, Plan)
    if plan.conf_digest != catalogue.digest:
        raise UsageError("the plan was made from other conf than this", Where(str(path)), "plan again")
    if job:
        found = [one for one in plan.jobs if one.id == job]
        if not found:
            known = ", ".join(one.id for one in plan.jobs) or "none"
            raise NothingSelectedError(f"there is no job {job!r}", Where(str(path)), f"it plans: {known}")
        return _narrowed(plan, found[0].lanes, tuple(found))
    for glob in lanes:
        if not any(matches(glob, lane.id) for lane in plan.lanes):
            known = ", ".join(lane.id for lane in plan.lanes) or "none"
            raise NothingSelectedError(f"no lane fits {glob!r}", Where(str(path)), f"it plans: {known}")
    if not lanes:
        return plan
    return _narrowed(plan, [lane.id for lane in plan.lanes if any(matches(glob, lane.id) for glob in lanes)], ())


def _narrowed(plan: Plan, lanes: Collection[str], jobs: tuple[Job, ...]) -> Plan:
    return msgspec.structs.replace(
        plan,
        lanes=tuple(lane for lane in plan.lanes if lane.id in lanes),
        left_out=(),
        jobs=jobs,
        part_of=plan_digest(plan),
    )


def plan_exit_code(plan: Plan) -> int:
    """4 when a lane that was named can not run, 5 when there is no lane at all."""
    codes = [INFRASTRUCTURE for left in plan.left_out if left.named]
    return worst_exit([*codes, *([] if plan.lanes or plan.may_be_empty else [NOTHING_SELECTED])])
