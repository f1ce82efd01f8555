"""The verdict over all lanes of a plan. Pure: the same inputs give the same verdict."""

import dataclasses
import datetime
from collections.abc import Mapping

from ci_toolkit.errors import worst_exit
from ci_toolkit.gates.compare import Comparison
from ci_toolkit.gates.completeness import check_run, is_own
from ci_toolkit.gates.contract import check_contract, comparable
from ci_toolkit.gates.expectations import Expected, resolve
from ci_toolkit.gates.lane import Findings, LaneInput, Seen, rank
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.verdict import Finding, FindingKind, LaneVerdict, Verdict


def judge(plan: Plan, lanes: Mapping[str, LaneInput], today: datetime.date) -> Verdict:
    """Judges each planned lane; one that ``lanes`` does not hold is missing.

    Lanes left out do not turn the verdict red, unless they were named. A plan without a lane ends with 5.
    """
    findings: list[Finding] = []
    rows: list[LaneVerdict] = []
    for planned in plan.lanes:
        given = lanes.get(planned.id) or LaneInput(planned, fault=(FindingKind.LANE_MISSING, "nothing arrived"))
        lane = dataclasses.replace(given, lane=planned)
        found = judge_lane(plan, lane, today)
        findings += found
        rows.append(_row(lane, found))
    codes = {finding.exit_code for finding in findings if finding.blocks}
    codes |= {4 for left in plan.left_out if left.named}
    if not plan.lanes:
        codes.add(5)
    return Verdict(
        result="failed" if codes else "passed",
        exit_code=worst_exit(codes),
        exit_codes=tuple(sorted(codes)),
        today=today.isoformat(),
        lanes=tuple(rows),
        findings=tuple(sorted(findings, key=rank)),
        left_out={left.id: left.reason for left in plan.left_out},
    )


def judge_lane(plan: Plan, lane: LaneInput, today: datetime.date) -> tuple[Finding, ...]:
    """The findings of one lane, the most important first."""
    findings = Findings(lane)
    _judge(plan, lane, today, findings)
    return findings.result()


def _judge(plan: Plan, lane: LaneInput, today: datetime.date, findings: Findings) -> None:
    seen = lane.seen
    if seen is None:
        kind, message = lane.fault or (FindingKind.LANE_MISSING, "nothing arrived")
        findings.add(kind, "lane", message)
        return
    if not is_own(plan, lane, seen, findings):
        return
    if lane.base and not comparable(lane, seen):
        lane = dataclasses.replace(lane, base={})
        findings.add(FindingKind.TRACKED_CHANGE, "base", "the base ran under another contract: nothing is inherited")
    expected = compare(lane, seen, today, findings)
    check_run(seen, expected.groups, findings)


def compare(lane: LaneInput, seen: Seen, today: datetime.date, findings: Findings) -> Expected:
    """Compares each case with what is expected of it, and returns the expectations."""
    expected = _expected(lane, seen, today, findings)
    comparison = Comparison(lane, seen, expected, findings)
    for case in seen.cases:
        comparison.case(case)
    comparison.finish()
    return expected


def _expected(lane: LaneInput, seen: Seen, today: datetime.date, findings: Findings) -> Expected:
    if lane.no_ratchet:
        findings.add(FindingKind.NO_RATCHET, "lane", lane.no_ratchet)
    if lane.ratchet is None:
        return Expected(members=None)
    check_contract(lane, seen, findings)
    return resolve(lane, (case.id for case in seen.cases), today, findings)


def _row(lane: LaneInput, findings: tuple[Finding, ...]) -> LaneVerdict:
    blocking = [finding for finding in findings if finding.blocks]
    if lane.seen is None:
        return LaneVerdict(lane=lane.lane.id, result="failed", findings=len(blocking))
    report = lane.seen.report
    return LaneVerdict(
        lane=lane.lane.id,
        result="failed" if blocking else "passed",
        counts=report.counts,
        seconds=_seconds(report.started, report.ended),
        device=", ".join(dict.fromkeys(device.name for device in report.devices)),
        evidence=lane.seen.folder,
        judged_by=lane.ratchet.file.path if lane.ratchet else "plain",
        findings=len(blocking),
    )


def _seconds(started: str, ended: str) -> float | None:
    try:
        spent = datetime.datetime.fromisoformat(ended) - datetime.datetime.fromisoformat(started)
    except ValueError:
        return None
    return round(spent.total_seconds(), 3)
