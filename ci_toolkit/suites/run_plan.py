"""Runs the lanes of a plan on this machine, one after the other, each with its units side by side."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.devices.registry import available, find
from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.gates.expectations import withheld_cases
from ci_toolkit.gates.ratchet_files import load_ratchet, no_ratchet
from ci_toolkit.model.plan import Plan
from ci_toolkit.suites.lane import run_lane
from ci_toolkit.suites.survey import survey
from ci_toolkit.workers.jobs import Observer
from ci_toolkit.workers.stop import Stop


def run_plan(
    plan: Plan, confs: Mapping[str, LaneConf], out: Path, *, slots: int, stop: Stop, observe: Observer
) -> dict[str, Path]:
    """Runs each lane with at most ``slots`` workers at a time and returns lane id -> evidence folder.

    After a stop no further lane starts; the gates find those missing. Raises UsageError for a lane that conf does not
    have, or has in another form than the plan.
    """
    folders: dict[str, Path] = {}
    for lane in plan.lanes:
        conf = confs.get(lane.id)
        if conf is None:
            raise UsageError(f"the plan has a lane {lane.id!r}, conf has not", hint="plan again")
        if conf.lane != msgspec.structs.replace(lane, selection=conf.lane.selection):
            raise UsageError(f"lane {lane.id!r} is another one in conf than in the plan", hint="plan again")
        if not stop:
            folders[lane.id] = _run(plan, dataclasses.replace(conf, lane=lane), out, slots, stop, observe)
    return folders


def _run(plan: Plan, conf: LaneConf, out: Path, slots: int, stop: Stop, observe: Observer) -> Path:
    devices, absent = available(conf.lane.device)
    if absent:
        raise InfrastructureError(f"lane {conf.lane.id} can not run here: {absent}")
    count = conf.lane.device.count
    module = find(conf.lane.device.module)
    granted = devices[:count] if count else devices
    provenance = msgspec.structs.replace(plan.provenance, conf_digest=plan.conf_digest, plan_digest=digest_of(plan))
    return run_lane(
        conf,
        out,
        provenance=provenance,
        attempt=plan.provenance.attempt,
        slots=slots,
        stop=stop,
        observe=observe,
        withheld=_withheld(conf),
        devices=granted,
        mask=module.mask(granted) if module and count else {},
    )


def _withheld(conf: LaneConf) -> dict[str, str]:
    """What the ratchet says is never executed here. A suite whose ratchet has no such file is judged for that later."""
    if not conf.ratchet:
        return {}
    folder = Path(conf.conf, conf.ratchet)
    if no_ratchet(folder, conf.lane.platform):
        return {}
    ratchet = load_ratchet(folder, conf.lane.platform)
    return withheld_cases(ratchet, survey([conf]).facts.get(conf.lane.id, {})) if ratchet.ratchet.withheld else {}
