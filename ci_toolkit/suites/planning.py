"""The plan for this machine: conf, what is there, what was asked for. Writes and reads ``plan.json``."""

import datetime
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.errors import INFRASTRUCTURE, NOTHING_SELECTED, NothingSelectedError, Where, worst_exit
from ci_toolkit.formats.documents import read_document, write_document
from ci_toolkit.formats.evidence import attempts
from ci_toolkit.model.ids import matches
from ci_toolkit.model.plan import Plan
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
    plan = make_plan(catalogue, survey(lanes), wish, provenance=provenance, today=today, event=event)
    out.mkdir(parents=True, exist_ok=True)
    write_document(out / PLAN, plan)
    return plan


def read_plan(path: Path, lanes: tuple[str, ...] = ()) -> Plan:
    """A plan that was written before, narrowed to the lanes that the globs name (all when there are none).

    Raises NothingSelectedError for a glob that names none.
    """
    plan = read_document(path, Plan)
    for glob in lanes:
        if not any(matches(glob, lane.id) for lane in plan.lanes):
            known = ", ".join(lane.id for lane in plan.lanes) or "none"
            raise NothingSelectedError(f"no lane fits {glob!r}", Where(str(path)), f"it plans: {known}")
    kept = tuple(lane for lane in plan.lanes if not lanes or any(matches(glob, lane.id) for glob in lanes))
    return msgspec.structs.replace(plan, lanes=kept)


def plan_exit_code(plan: Plan) -> int:
    """4 when a lane that was named can not run, 5 when there is no lane at all."""
    codes = [INFRASTRUCTURE for left in plan.left_out if left.named]
    return worst_exit([*codes, *([] if plan.lanes or plan.may_be_empty else [NOTHING_SELECTED])])
