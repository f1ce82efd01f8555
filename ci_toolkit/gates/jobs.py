"""Whether the jobs of a workflow run ended as the evidence says. Pure."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ci_toolkit.errors import UsageError
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.verdict import Finding, FindingKind

PLAN = "plan"
"""The job that plans; its outputs are those of ``plan --fleet``."""
BUILDS = "builds"
"""The job that makes the builds of a plan."""
LANES = "lanes_"
"""With the number of its matrix: a job that runs lanes."""
_UNBUILT = frozenset({FindingKind.BUILD_FAILED, FindingKind.BUILD_LOST})
_ABSENT = _UNBUILT | {FindingKind.NO_UPLOAD, FindingKind.LANE_MISSING, FindingKind.LANE_UNFINISHED}
_ENDS = ("success", "failure", "cancelled", "skipped")


class Needed(msgspec.Struct, frozen=True):
    """A job that the gate needs, as ``toJSON(needs)`` gives it; ``result`` is one for all legs of a matrix."""

    result: str
    outputs: dict[str, str | bool | None] = {}


def read_needs(text: str) -> dict[str, Needed]:
    """Job id -> how it ended. Raises UsageError for text that is not that."""
    try:
        needs = msgspec.json.decode(text.encode(), type=dict[str, Needed])
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise UsageError(f"--needs is not what toJSON(needs) gives: {error}") from error
    for name, job in needs.items():
        if job.result not in _ENDS:
            raise UsageError(f"--needs: the job {name[:60]!r} ended as {job.result[:60]!r}", hint=f"{', '.join(_ENDS)}")
    if PLAN not in needs:
        raise UsageError("--needs has no job 'plan'", hint="the gate needs the job that plans, and calls it so")
    return needs


def lost_plan(needs: Mapping[str, Needed], digest: str | None, why: str) -> Finding | None:
    """The finding that makes all judging vain: no plan, or another one than the run's own, whose ``digest`` this is."""
    planned = needs[PLAN].outputs.get("digest")
    if needs[PLAN].result != "success":
        return _finding(FindingKind.PLAN_LOST, f"the job that plans ended as {needs[PLAN].result}")
    if not planned:
        return _finding(FindingKind.PLAN_LOST, "the outputs of the job that plans were lost: it tells no digest")
    if digest is None:
        return _finding(FindingKind.PLAN_LOST, f"the plan was lost: {why}")
    if digest != planned:
        message = "the plan that arrived is not the one that was made"
        return _finding(FindingKind.ANOTHER_PLAN, message, expected=str(planned), observed=digest)
    return None


def lost_lanes(plan: Plan, needs: Mapping[str, Needed]) -> dict[str, tuple[FindingKind, str]]:
    """Lane id -> why it can have left nothing, for those whose matrix was lost or whose job was not run."""
    faults: dict[str, tuple[FindingKind, str]] = {}
    lost_builds = _lost_builds(plan, needs)
    for job in plan.jobs:
        name = f"{LANES}{job.chunk}"
        if job.build and lost_builds:
            faults |= dict.fromkeys(job.lanes, lost_builds)
            continue
        if not needs[PLAN].outputs.get(f"matrix_{job.chunk}", True):
            message = f"the plan has jobs for {name}, and its matrix arrived empty"
            faults |= dict.fromkeys(job.lanes, (FindingKind.MATRIX_LOST, message))
        elif name not in needs:
            message = f"the gate does not need {name}, whose jobs the plan has: nothing says how they ended"
            faults |= dict.fromkeys(job.lanes, (FindingKind.LANE_SKIPPED, message))
        elif needs[name].result == "skipped":
            message = f"the job {name} was skipped, though the plan has this lane in it"
            faults |= dict.fromkeys(job.lanes, (FindingKind.LANE_SKIPPED, message))
    return faults


def _lost_builds(plan: Plan, needs: Mapping[str, Needed]) -> tuple[FindingKind, str] | None:
    """Why no lane of a build can have run."""
    if plan.builds and not needs[PLAN].outputs.get(BUILDS, True):
        return FindingKind.MATRIX_LOST, "the plan has builds, and their matrix arrived empty"
    if plan.builds and (BUILDS not in needs or needs[BUILDS].result == "skipped"):
        return FindingKind.BUILD_LOST, f"the job {BUILDS} was not run, though the plan has builds for this lane"
    return None


def disagreeing(plan: Plan, needs: Mapping[str, Needed], found: Sequence[Finding]) -> tuple[Finding, ...]:
    """A finding for each job that ended badly, though no lane of it says why."""
    told: list[Finding] = []
    for name, job in sorted(needs.items()):
        here = [one for one in plan.jobs if (one.build if name == BUILDS else f"{LANES}{one.chunk}" == name)]
        lanes = {lane for one in here for lane in one.lanes}
        idle = (name == BUILDS or name.startswith(LANES)) and not lanes and job.result == "skipped"
        told_by = [one for one in found if name != BUILDS or one.kind in {*_UNBUILT, FindingKind.MATRIX_LOST}]
        if job.result == "success" or idle or _explained(lanes, told_by):
            continue
        message = f"the job {name} ended as {job.result}, and no evidence says why: look into its log"
        told.append(_finding(FindingKind.JOB_DISAGREES, message, cause=name, observed=job.result))
    return tuple(told)


def _explained(lanes: Collection[str], found: Sequence[Finding]) -> bool:
    """Whether a lane is known to be red; an advisory one ends no job badly unless its job was lost."""
    return any(one.lane in lanes and (one.blocks or one.kind in _ABSENT) for one in found)


def stray(uploads: Sequence[str]) -> tuple[Finding, ...]:
    """A finding for artifacts that no job of the plan left."""
    if not uploads:
        return ()
    message = f"artifacts of this plan's name are of none of its jobs: {', '.join(uploads[:20])}"
    return (_finding(FindingKind.FOREIGN_EVIDENCE, message, cause="uploads"),)


def other_conf(plan: Plan, digest: str) -> tuple[Finding, ...]:
    """A finding where the conf that judges, whose ``digest`` this is, is not the one that planned."""
    if digest == plan.conf_digest:
        return ()
    message = "the plan was made from other conf than the one that judges: plan again"
    found = _finding(FindingKind.FOREIGN_EVIDENCE, message, cause="conf", expected=plan.conf_digest, observed=digest)
    return (found,)


def _finding(kind: FindingKind, message: str, *, cause: str = "", expected: str = "", observed: str = "") -> Finding:
    return Finding(
        kind=kind,
        key=f"{kind.value} {cause}".strip(),
        lane="",
        message=message,
        expected=expected,
        observed=observed,
        exit_code=3,
    )
