"""Gates what the jobs of a run left, with how they ended."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ci_toolkit.catalogue.load import load_catalogue
from ci_toolkit.errors import EvidenceError, UsageError
from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.formats.documents import read_document
from ci_toolkit.gates.jobs import Needed, lost_plan, other_conf, read_needs, stray
from ci_toolkit.gates.judge import judge, judge_nothing
from ci_toolkit.gates.lane import LaneInput
from ci_toolkit.github.planning import attempt_here
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.uploads import is_plan_name
from ci_toolkit.model.verdict import Finding, Verdict
from ci_toolkit.suites.builds import Fault, left_builds
from ci_toolkit.suites.collect import collect
from ci_toolkit.suites.uploads import in_folder, in_uploads, strangers


@dataclass(frozen=True)
class Evidence:
    """Where things lie: the plan, and what was left below ``out`` or, each in an artifact's folder, in ``uploads``."""

    plan: Path
    out: Path
    uploads: Path | None = None
    name: str = "hardware"
    base: Path | None = None


def gate(given: Evidence, conf: Path, needs_text: str, today: datetime.date, environ: Mapping[str, str]) -> Verdict:
    """The verdict. A plan that did not arrive is one too, where ``needs_text`` says that one was made.

    Raises UsageError for a name that can stand in no artifact's.
    """
    if not is_plan_name(given.name):
        raise UsageError(f"{given.name[:60]!r} is no plan's name", hint="letters a-z, digits and -, 40 at most")
    needs = read_needs(needs_text) if needs_text else None
    if needs is not None:
        lost = _lost(given.plan, needs)
        if lost:
            return judge_nothing(lost, today)
    catalogue = load_catalogue(conf)
    plan = read_document(given.plan, Plan)
    attempt = attempt_here(plan, environ)
    places = (
        in_uploads(plan, given.uploads, given.name, attempt) if given.uploads else in_folder(plan, given.out, attempt)
    )
    lanes = collect(plan, catalogue.by_id(), places, given.base)
    if given.uploads:
        lanes = _with_builds(plan, lanes, *left_builds(plan, given.uploads, given.name, attempt))
    unknown = strangers(plan, given.uploads, given.name) if given.uploads else ()
    return judge(
        plan,
        lanes,
        today,
        needs=needs,
        whole=(*other_conf(plan, catalogue.digest), *stray(unknown)),
    )


def _with_builds(
    plan: Plan, lanes: Mapping[str, LaneInput], digests: Mapping[str, str], faults: Mapping[str, Fault]
) -> dict[str, LaneInput]:
    """The lanes with the digest of the build that each should have tested, or with why there is none."""
    needed = {lane.id: lane.build for lane in plan.lanes}
    found = {}
    for name, lane in lanes.items():
        build = needed[name]
        if build in faults:
            found[name] = replace(lane, seen=None, fault=faults[build])
        else:
            found[name] = replace(lane, builds={build: digests[build]} if build else plan.provenance.builds)
    return found


def _lost(path: Path, needs: Mapping[str, Needed]) -> Finding | None:
    try:
        plan = read_document(path, Plan)
    except (EvidenceError, UsageError) as error:
        return lost_plan(needs, None, str(error))
    return lost_plan(needs, plan_digest(plan), "")
