"""From conf and an event to the plan of a fleet: which lanes, in which jobs, and why not the others. Pure."""

import datetime

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.errors import UsageError
from ci_toolkit.formats.durations import Durations
from ci_toolkit.model.ids import matches
from ci_toolkit.model.plan import Lane, LeftOut, Plan, Selection
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.plan.builds import builds_of
from ci_toolkit.plan.changes import Touched, touched
from ci_toolkit.plan.event import Asked, Event, asked
from ci_toolkit.plan.lanes import Wish, checked_switches, chosen, switched_off, wished
from ci_toolkit.plan.packing import pack, patience_s
from ci_toolkit.plan.shards import OTHER_SHARDS, assigned


def plan_fleet(
    catalogue: Catalogue,
    event: Event,
    wish: Wish,
    durations: Durations,
    *,
    provenance: Provenance,
    today: datetime.date,
) -> Plan:
    """Which lanes run for ``event`` on the runners that conf names, in which jobs; each other lane with its reason.

    Whether a runner has the device is for the runner to say: a lane that it can not run is red there. Raises UsageError
    for an expired switch, a lane that has no runner labels, and for what does not fit into GitHub's limits.
    """
    switches = checked_switches(catalogue, today)
    asks = asked(catalogue.rules, event)
    confs = chosen(catalogue, wish)
    change = touched(catalogue.rules, event.changes, confs, event.present) if asks.by_changes else None
    lanes: list[Lane] = []
    left_out: list[LeftOut] = []
    for conf in confs:
        off = switched_off(switches, conf.lane.id)
        made, reason = (None, off) if off else _selected(conf, asks, change, wish)
        if made is not None:
            made, reason = assigned(made, durations.of(made)), OTHER_SHARDS
        if made is None:
            left_out.append(LeftOut(id=conf.lane.id, reason=reason, named=conf.lane.id in wish.only))
        elif not conf.platform.runs_on:
            raise UsageError(f"platform {conf.platform.name} has no runner labels", hint="give it runs_on")
        else:
            lanes.append(_timed(made, durations))
    notes = asks.notes if change is None else (*asks.notes, f"changes: {change.change.why}")
    return Plan(
        event=event.name,
        provenance=provenance,
        conf_digest=catalogue.digest,
        lanes=tuple(lanes),
        left_out=tuple(left_out),
        tier=asks.tier,
        change=change.change if change else None,
        builds=builds_of(lanes, catalogue.builds),
        jobs=pack(lanes, {conf.platform.name: conf.platform for conf in confs}),
        empty=asks.empty,
        notes=notes,
    )


def _selected(conf: LaneConf, asks: Asked, change: Touched | None, wish: Wish) -> tuple[Lane | None, str]:
    """The lane with what it covers and why it runs, or None and why it does not."""
    if wish.only:
        return _lane(conf, asks, wish, "it was named"), ""
    for glob in asks.besides:
        if matches(glob, conf.lane.id):
            return _lane(conf, asks, wish, f"a label asks for {glob}"), ""
    if not any(matches(glob, conf.lane.id) for glob in asks.lanes):
        return None, f"not in tier {asks.tier}"
    if change is None or change.all:
        return _lane(conf, asks, wish, f"tier {asks.tier}" if change is None else change.change.why), ""
    if any(matches(glob, conf.lane.id) for glob in change.lanes):
        return _lane(conf, asks, wish, "the fall-back for files that no path names"), ""
    if conf.lane.suite not in change.suites:
        return None, "nothing that it tests has changed"
    units, why = change.suites[conf.lane.suite], change.why[conf.lane.suite]
    if units is None or wish.units:
        return _lane(conf, asks, wish, why), ""
    selection = Selection(units=tuple(sorted(units)), why="changed files")
    return msgspec.structs.replace(conf.lane, selection=selection, why=why), ""


def _lane(conf: LaneConf, asks: Asked, wish: Wish, why: str) -> Lane:
    selection = wished(conf, Wish(wish.only, wish.full or asks.full, wish.units))
    return msgspec.structs.replace(conf.lane, selection=selection, why=why)


def _timed(lane: Lane, durations: Durations) -> Lane:
    """The lane with what is known of its time. Only where all its units are known may it get less than conf says."""
    known, units, covers = durations.of(lane), lane.selection.units, lane.covers()
    mine = [seconds for unit, seconds in known.items() if covers(unit)]
    expected = sum(mine) if mine else None
    if units is None or not known.keys() >= set(units):
        return msgspec.structs.replace(lane, expected_s=expected)
    return msgspec.structs.replace(lane, expected_s=expected, timeout_s=patience_s(lane.timeout_s, expected))
