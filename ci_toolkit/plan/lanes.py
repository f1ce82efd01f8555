"""From the lanes that conf defines to the plan for one machine. Pure."""

import datetime
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.catalogue.load import Catalogue, Switch
from ci_toolkit.errors import NothingSelectedError, UsageError
from ci_toolkit.formats.durations import Durations
from ci_toolkit.model.facts import unmet
from ci_toolkit.model.ids import matches
from ci_toolkit.model.plan import Lane, LeftOut, Plan, Selection
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.plan.shards import OTHER_SHARDS, assigned


@dataclass(frozen=True)
class Machine:
    """What a machine offers to each lane: why its device is not there (empty when it is), and facts of its subject."""

    absent: Mapping[str, str]
    facts: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Wish:
    """What was asked for: lane globs (all lanes when empty), whole suites or samples, and single files of suites."""

    only: tuple[str, ...] = ()
    full: bool = False
    units: tuple[str, ...] = ()


def chosen(catalogue: Catalogue, wish: Wish) -> tuple[LaneConf, ...]:
    """The lanes that the globs name, by id. Raises NothingSelectedError for a glob that names none."""
    lanes = sorted(catalogue.lanes, key=lambda conf: conf.lane.id)
    for glob in wish.only:
        if not any(matches(glob, conf.lane.id) for conf in lanes):
            names = [conf.lane.id for conf in lanes]
            close = difflib.get_close_matches(glob, names, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names) or 'none'}"
            raise NothingSelectedError(f"no lane fits {glob!r}", hint=hint)
    return tuple(conf for conf in lanes if not wish.only or any(matches(glob, conf.lane.id) for glob in wish.only))


def make_plan(
    catalogue: Catalogue,
    machine: Machine,
    wish: Wish,
    durations: Durations,
    *,
    provenance: Provenance,
    today: datetime.date,
    event: str = "local",
) -> Plan:
    """The lanes to run, and those left out with their reasons; the order of conf does not matter.

    Raises UsageError for a switch of the fleet that has expired: it is renewed or removed, never dropped in silence.
    """
    switches = checked_switches(catalogue, today)
    lanes: list[Lane] = []
    left_out: list[LeftOut] = []
    for conf in chosen(catalogue, wish):
        reason = _obstacle(conf, machine, switches)
        if reason:
            left_out.append(LeftOut(id=conf.lane.id, reason=reason, named=conf.lane.id in wish.only))
        else:
            lane = msgspec.structs.replace(conf.lane, selection=wished(conf, wish))
            made = assigned(lane, durations.of(lane))
            if made is None:
                left_out.append(LeftOut(id=lane.id, reason=OTHER_SHARDS))
            else:
                lanes.append(made)
    return Plan(
        event=event,
        provenance=provenance,
        conf_digest=catalogue.digest,
        lanes=tuple(lanes),
        left_out=tuple(left_out),
    )


def _obstacle(conf: LaneConf, machine: Machine, switches: Sequence[Switch]) -> str:
    reason = switched_off(switches, conf.lane.id) or machine.absent.get(conf.lane.id, "")
    return reason or unmet(conf.requires, machine.facts.get(conf.lane.id, {}))


def checked_switches(catalogue: Catalogue, today: datetime.date) -> tuple[Switch, ...]:
    """The fleet's switches. Raises UsageError for one that has expired."""
    for switch in catalogue.switches:
        if switch.until < today:
            raise UsageError(f"the switch expired on {switch.until}", switch.where, "remove it, or renew it")
    return catalogue.switches


def switched_off(switches: Sequence[Switch], lane: str) -> str:
    """Why a lane is switched off; empty when it is not."""
    for switch in switches:
        if matches(switch.lanes, lane):
            return f"switched off until {switch.until}: {switch.reason}"
    return ""


def wished(conf: LaneConf, wish: Wish) -> Selection:
    """What part of its suite a lane covers."""
    if wish.units:
        return Selection(units=tuple(dict.fromkeys(wish.units)), why="files that were named")
    if conf.sample and not wish.full:
        return Selection(units=conf.sample, why="fast tier: the suite's sample")
    return Selection()
