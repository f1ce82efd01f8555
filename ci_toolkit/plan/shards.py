"""Which shard of a lane runs which unit. Pure."""

import heapq
import statistics
from collections.abc import Collection, Mapping

import msgspec

from ci_toolkit.model.plan import Lane, Selection

OTHER_SHARDS = "other shards run what was selected"


def assigned(lane: Lane, known: Mapping[str, float]) -> Lane | None:
    """The lane with the units that its shard runs; None where a narrowed selection leaves it none.

    ``known`` maps units to the seconds that they took: these are spread so that the shards take equally long. A unit
    that nobody knows at planning goes by its name alone, so each unit has exactly one shard, also one that a runner
    finds and the plan did not.
    """
    if lane.shard is None:
        return lane
    mine, of = lane.shard
    units = lane.selection.units
    shards = _spread(known if units is None else units, known, of)
    here = tuple(unit for unit, shard in shards.items() if shard == mine)
    if units is None:
        others = tuple(unit for unit, shard in shards.items() if shard != mine)
        return msgspec.structs.replace(lane, selection=Selection(mine=here, others=others, why=lane.selection.why))
    if not here:
        return None
    return msgspec.structs.replace(lane, selection=Selection(units=here, why=lane.selection.why))


def _spread(units: Collection[str], known: Mapping[str, float], of: int) -> dict[str, int]:
    """Unit -> its shard, from 1, in the order of names: the longest first, onto the shard that has the least to do."""
    usual = statistics.fmean(known.values()) if known else 1.0
    loads = [(0.0, 0, shard) for shard in range(1, of + 1)]
    found: dict[str, int] = {}
    for unit in sorted(set(units), key=lambda unit: (-known.get(unit, usual), unit)):
        load, count, shard = heapq.heappop(loads)
        found[unit] = shard
        heapq.heappush(loads, (load + known.get(unit, usual), count + 1, shard))
    return dict(sorted(found.items()))
