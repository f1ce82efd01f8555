"""Makes one of the evidence of all shards of a lane. Pure."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import msgspec

from ci_toolkit.errors import EvidenceError, Where
from ci_toolkit.gates.lane import Seen
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.plan import Selection
from ci_toolkit.model.report import Strictness
from ci_toolkit.model.verdict import Reproduce


def united(shards: Sequence[Seen]) -> Seen:
    """The evidence of ``shards`` as if one lane had run it all; that of a lane without shards as it is.

    Raises EvidenceError where a shard is lacking or is there twice, where they are not of one plan, or where a strict
    field of their contracts differs.
    """
    first = shards[0]
    lane = first.report.lane
    if lane.shard is None and len(shards) == 1:
        return first
    _check(shards)
    starts = [0, *accumulate(len(seen.signatures) for seen in shards)]
    owners = {case.id: (seen, case) for seen in shards for case in seen.cases}
    cases = [
        msgspec.structs.replace(case, failures=tuple(start + row for row in case.failures))
        for seen, start in zip(shards, starts, strict=False)
        for case in seen.cases
    ]

    def failure(row: int) -> Failure:
        at = bisect_right(starts, row) - 1
        return shards[at].failure(row - starts[at])

    def reproduce(case: Case) -> Reproduce | None:
        seen, own = owners[case.id]
        return seen.reproduce(own)

    report = msgspec.structs.replace(
        first.report,
        lane=msgspec.structs.replace(lane, id=lane.unsharded, shard=None, selection=Selection()),
        units=tuple(unit for seen in shards for unit in seen.report.units),
        errors=tuple(error for seen in shards for error in seen.report.errors),
        interrupted=next((seen.report.interrupted for seen in shards if seen.report.interrupted), ""),
    )
    return replace(
        first,
        report=report,
        cases=tuple(sorted(cases, key=lambda case: case.id)),
        signatures=tuple(signature for seen in shards for signature in seen.signatures),
        failure=failure,
        reproduce=reproduce,
    )


def _check(shards: Sequence[Seen]) -> None:
    lane = shards[0].report.lane
    numbers = sorted(seen.report.lane.shard[0] for seen in shards if seen.report.lane.shard)
    of = lane.shard[1] if lane.shard else 1
    where = Where(shards[0].folder)
    if not all(seen.report.lane.is_whole for seen in shards):
        raise EvidenceError("the run covered a part of its suite", where, "run the whole suite with --full")
    if numbers != list(range(1, of + 1)):
        have = ", ".join(map(str, numbers)) or "none"
        raise EvidenceError(f"{lane.unsharded} has {of} shards, there is evidence of {have}", where, "give each once")
    for seen in shards[1:]:
        report = seen.report
        same = report.lane.unsharded == lane.unsharded
        if not same or report.provenance.plan_digest != shards[0].report.provenance.plan_digest:
            raise EvidenceError("is of another lane or plan than the other shards", Where(seen.folder))
        for name, field in shards[0].report.contract.items():
            if field.strictness is Strictness.STRICT and report.contract.get(name) != field:
                raise EvidenceError(f"ran under another contract than the other shards: {name}", Where(seen.folder))
