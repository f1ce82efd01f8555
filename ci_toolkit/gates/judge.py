"""The verdict over all lanes of a plan. Pure: the same inputs give the same verdict."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence

import msgspec

from ci_toolkit.errors import worst_exit
from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.gates.compare import Comparison
from ci_toolkit.gates.completeness import check_device, check_run, is_own
from ci_toolkit.gates.contract import check_contract, comparable
from ci_toolkit.gates.control import EXCUSED, NONE, Control, check_collection, control_of
from ci_toolkit.gates.drain import to_drain
from ci_toolkit.gates.expectations import Expected, resolve
from ci_toolkit.gates.jobs import Needed, disagreeing, lost_lanes
from ci_toolkit.gates.lane import Findings, LaneInput, Seen, rank
from ci_toolkit.gates.tally import Tally, check_tally, summed
from ci_toolkit.model.plan import Lane, Plan
from ci_toolkit.model.verdict import Finding, FindingKind, LaneVerdict, Verdict

Judged = tuple[LaneInput, tuple[Finding, ...], Tally | None]


def judge(
    plan: Plan,
    lanes: Mapping[str, LaneInput],
    today: datetime.date,
    *,
    needs: Mapping[str, Needed] | None = None,
    whole: Sequence[Finding] = (),
) -> Verdict:
    """Judges each planned lane; one that ``lanes`` does not hold is missing.

    A job that runs a candidate without its control shows what that may excuse, and leaves it to the gate over all.

    ``needs`` says how the jobs of the run ended, ``whole`` are findings of the run as a whole. Lanes left out do
    not turn the verdict red, unless they were named. A plan without a lane ends with 5.
    """
    findings: list[Finding] = []
    rows: list[LaneVerdict] = []
    judged: dict[str, Judged] = {}
    digest = plan_digest(plan)
    lost = lost_lanes(plan, needs) if needs is not None else {}
    given_lanes: dict[str, LaneInput] = {}
    for planned in plan.lanes:
        given = lanes.get(planned.id) or LaneInput(planned, fault=(FindingKind.LANE_MISSING, "nothing arrived"))
        lane = dataclasses.replace(given, lane=planned, plan_digest=digest)
        if planned.id in lost:
            lane = dataclasses.replace(lane, seen=None, fault=lost[planned.id])
        given_lanes[planned.id] = lane
    for name, lane in given_lanes.items():
        judged[name] = (lane, *_judged(plan, lane, today, _control(plan, lane, given_lanes)))
    together = _shards_together(plan, judged)
    for planned in plan.lanes:
        lane, found, _ = judged[planned.id]
        found = tuple(sorted([*found, *together.get(planned.id, ())], key=rank))
        if plan.part_of and lane.control_lane and lane.control_lane not in judged:
            found = tuple(_deferred(one) if _may_be_excused(lane, one) else one for one in found)
        if _is_advisory(planned, today):
            found = tuple(msgspec.structs.replace(finding, blocks=False) for finding in found)
        findings += found
        rows.append(_row(lane, found, today))
    findings += whole
    if needs is not None:
        findings += disagreeing(plan, needs, findings)
    codes = {finding.exit_code for finding in findings if finding.blocks}
    codes |= {4 for left in plan.left_out if left.named}
    if not plan.lanes and plan.may_be_empty:
        findings.append(_nothing_planned(plan))
    elif not plan.lanes:
        codes.add(5)
    ordered = tuple(sorted(findings, key=rank))
    return Verdict(
        result="failed" if codes else "passed",
        exit_code=worst_exit(codes),
        exit_codes=tuple(sorted(codes)),
        today=today.isoformat(),
        lanes=tuple(rows),
        findings=ordered,
        drain=to_drain(ordered),
        left_out={left.id: left.reason for left in plan.left_out},
    )


def judge_nothing(finding: Finding, today: datetime.date) -> Verdict:
    """The verdict where there is no plan to judge by."""
    code = finding.exit_code
    return Verdict(
        result="failed", exit_code=code, exit_codes=(code,), today=today.isoformat(), lanes=(), findings=(finding,)
    )


def _is_advisory(lane: Lane, today: datetime.date) -> bool:
    """Whether a lane does not block yet; from its day on it does, whatever conf still says."""
    return lane.advisory is not None and today <= lane.advisory.until


def _may_be_excused(lane: LaneInput, finding: Finding) -> bool:
    skip = finding.kind is FindingKind.UNREVIEWED_SKIP and lane.allow_control_skips
    return finding.kind in EXCUSED or skip


def _deferred(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, blocks=False, exit_code=0, message=f"{finding.message} (control pending)")


def _nothing_planned(plan: Plan) -> Finding:
    why = plan.change.why if plan.change else "the event's rule allows it"
    return Finding(
        kind=FindingKind.NOTHING_PLANNED,
        key="nothing_planned",
        lane="",
        message=f"no lane was planned, and nothing was tested: {why}",
        count=0,
        blocks=False,
        exit_code=0,
    )


def _control(plan: Plan, lane: LaneInput, lanes: Mapping[str, LaneInput]) -> Control | None:
    """What the control of a lane shows; None where it has none, or none whose evidence counts."""
    found = lanes.get(lane.control_lane)
    if found is None or found.seen is None or not is_own(plan, found, found.seen, Findings(found)):
        return None
    return control_of(found.seen)


def _judged(
    plan: Plan, lane: LaneInput, today: datetime.date, control: Control | None
) -> tuple[tuple[Finding, ...], Tally | None]:
    """The findings of one lane, the most important first, and its tally, absent where it has no evidence of its own."""
    findings = Findings(lane)
    tally = _judge(plan, lane, today, findings, control)
    return findings.result(), tally


def _shards_together(plan: Plan, judged: Mapping[str, Judged]) -> dict[str, tuple[Finding, ...]]:
    """Lane -> what its shards show together, at the first of them; they are judged where all of the plan are seen.

    A job that runs some of a plan's shards leaves that to the gate over all.
    """
    groups: dict[str, list[tuple[LaneInput, Tally | None]]] = {}
    for lane, _, tally in judged.values():
        if _is_part(lane.lane):
            groups.setdefault(lane.lane.unsharded, []).append((lane, tally))
    found = {}
    for shards in groups.values():
        first = shards[0][0]
        tallies = [tally for _, tally in shards if tally is not None]
        assert first.lane.shard is not None
        whole = len(shards) == first.lane.shard[1]
        if len(tallies) < len(shards) or (plan.part_of and not whole):
            continue
        findings = Findings(first)
        ratchet = first.ratchet.ratchet if first.ratchet else None
        check_tally(summed(tallies), ratchet, whole=whole, findings=findings)
        found[first.lane.id] = findings.result()
    return found


def _is_part(lane: Lane) -> bool:
    """Whether what a whole suite must show is to be seen in several lanes together."""
    return lane.shard is not None and lane.is_whole


def _judge(
    plan: Plan, lane: LaneInput, today: datetime.date, findings: Findings, control: Control | None
) -> Tally | None:
    seen = lane.seen
    if seen is None:
        kind, message = lane.fault or (FindingKind.LANE_MISSING, "nothing arrived")
        findings.add(kind, "lane", message)
        return None
    if not is_own(plan, lane, seen, findings):
        return None
    check_device(lane, seen, findings)
    if lane.base and not comparable(lane, seen):
        lane = dataclasses.replace(lane, base={})
        findings.add(FindingKind.TRACKED_CHANGE, "base", "the base ran under another contract: nothing is inherited")
    expected, tally = compare(lane, seen, today, findings, control or NONE)
    if control is not None:
        check_collection(lane, seen, control, findings)
    if not _is_part(lane.lane):
        ratchet = lane.ratchet.ratchet if lane.ratchet else None
        check_tally(tally, ratchet, whole=lane.lane.is_whole, findings=findings)
    check_run(seen, expected.groups, findings)
    return tally


def compare(
    lane: LaneInput, seen: Seen, today: datetime.date, findings: Findings, control: Control = NONE
) -> tuple[Expected, Tally]:
    """Compares each case with what is expected of it, and returns the expectations and what was counted."""
    expected = _expected(lane, seen, today, findings)
    comparison = Comparison(lane, seen, expected, findings, control)
    for case in seen.cases:
        comparison.case(case)
    comparison.finish()
    return expected, comparison.tally()


def _expected(lane: LaneInput, seen: Seen, today: datetime.date, findings: Findings) -> Expected:
    if lane.no_ratchet:
        findings.add(FindingKind.NO_RATCHET, "lane", lane.no_ratchet)
    if lane.ratchet is None:
        return Expected(members=None)
    check_contract(lane, seen, findings)
    return resolve(lane, (case.id for case in seen.cases), today, findings)


def _row(lane: LaneInput, findings: tuple[Finding, ...], today: datetime.date) -> LaneVerdict:
    blocking = [finding for finding in findings if finding.exit_code]
    advisory = lane.lane.advisory if _is_advisory(lane.lane, today) else None
    result = "advisory" if advisory else "failed" if blocking else "passed"
    said = f"until {advisory.until}: {advisory.reason}" if advisory else ""
    if lane.seen is None:
        return LaneVerdict(lane=lane.lane.id, result=result, findings=len(blocking), advisory=said)
    report = lane.seen.report
    return LaneVerdict(
        lane=lane.lane.id,
        result=result,
        counts=report.counts,
        seconds=_seconds(report.started, report.ended),
        device=", ".join(dict.fromkeys(device.name for device in report.devices)),
        evidence=lane.seen.folder,
        judged_by=lane.ratchet.file.path if lane.ratchet else "plain",
        findings=len(blocking),
        advisory=said,
    )


def _seconds(started: str, ended: str) -> float | None:
    try:
        spent = datetime.datetime.fromisoformat(ended) - datetime.datetime.fromisoformat(started)
    except ValueError:
        return None
    return round(spent.total_seconds(), 3)
