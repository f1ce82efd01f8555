"""Runs the lanes of a plan on this machine, one after the other, each with its units side by side."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.devices.admission import Admission, Foreign
from ci_toolkit.devices.registry import available, find
from ci_toolkit.errors import UsageError
from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.formats.documents import read_document
from ci_toolkit.formats.durations import Durations
from ci_toolkit.formats.evidence import REPORT
from ci_toolkit.gates.expectations import known_outcomes, withheld_cases
from ci_toolkit.gates.ratchet_files import load_ratchet, no_ratchet
from ci_toolkit.model.plan import Lane, Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import Device, Report
from ci_toolkit.suites.lane import run_lane
from ci_toolkit.suites.runner_budget import RunnerBudget
from ci_toolkit.suites.steps import IsKnown
from ci_toolkit.suites.survey import survey
from ci_toolkit.workers.access import SHARED, access_to
from ci_toolkit.workers.devices import DevicePool
from ci_toolkit.workers.jobs import Observer
from ci_toolkit.workers.stop import Stop


@dataclasses.dataclass(frozen=True)
class Manner:
    """How lanes are run: with at most ``slots`` workers at a time, until ``stop`` is set, each message to ``observe``.

    ``durations`` say which units take long, those start first; with ``fail_fast`` a lane ends at its first unit in
    which something fails that no ratchet expects. ``provenance`` is that of the run on this
    machine, the plan's own where it is absent. ``build`` holds the files that the subject is installed from.
    """

    slots: int
    stop: Stop
    observe: Observer
    durations: Durations = dataclasses.field(default_factory=Durations)
    fail_fast: bool = False
    provenance: Provenance | None = None
    build: Path | None = None


def run_plan(plan: Plan, confs: Mapping[str, LaneConf], out: Path, manner: Manner) -> dict[str, Path]:
    """Runs each lane and returns lane id -> evidence folder.

    After a stop no further lane starts; the gates find those missing. A lane whose device is not here, or whose runner
    has failed those before it, leaves evidence that says so. Raises UsageError for a lane that conf does not have, or
    has in another form than the plan.
    """
    folders: dict[str, Path] = {}
    budget = RunnerBudget()
    for lane in plan.lanes:
        conf = confs.get(lane.id)
        if conf is None:
            raise UsageError(f"the plan has a lane {lane.id!r}, conf has not", hint="plan again")
        if conf.lane != as_conf_has_it(lane, conf):
            raise UsageError(f"lane {lane.id!r} is another one in conf than in the plan", hint="plan again")
        if not manner.stop:
            folder = _run(plan, dataclasses.replace(conf, lane=lane), out, manner, budget.spent(lane))
            budget.note(lane, read_document(folder / REPORT, Report))
            folders[lane.id] = folder
    return folders


def as_conf_has_it(lane: Lane, conf: LaneConf) -> Lane:
    """A planned lane without what the plan itself has set."""
    own = conf.lane
    return msgspec.structs.replace(
        lane, selection=own.selection, timeout_s=own.timeout_s, expected_s=own.expected_s, why=own.why
    )


def _run(plan: Plan, conf: LaneConf, out: Path, manner: Manner, given_up: str) -> Path:
    devices, absent = available(conf.lane.device)
    granted = devices[: conf.lane.device.count or None]
    pool = _pool(conf, granted)
    withheld, is_known = _expectations(conf)
    here = manner.provenance or plan.provenance
    provenance = msgspec.structs.replace(here, conf_digest=plan.conf_digest, plan_digest=plan_digest(plan))
    return run_lane(
        conf,
        out,
        provenance=provenance,
        attempt=provenance.attempt,
        # Beside the workers on devices one more gets ready, as far as it can without a device.
        slots=min(manner.slots, len(granted) // conf.width + 1) if pool else manner.slots,
        stop=manner.stop,
        observe=manner.observe,
        withheld=withheld,
        is_known=is_known,
        fail_fast=manner.fail_fast,
        devices=granted,
        pool=pool,
        expected=manner.durations.of(conf.lane),
        no_device=absent,
        build=manner.build,
        given_up=given_up,
    )


def _pool(conf: LaneConf, devices: Sequence[Device]) -> DevicePool | None:
    """The devices that the lane's workers ask for; None where they need none of their own."""
    module = find(conf.lane.device.module)
    if module is None or conf.lane.device.module in SHARED:
        return None
    platform = conf.platform
    policy = Admission(platform.min_free_bytes, Foreign(platform.foreign), platform.wait_s)
    purpose = f"lane {conf.lane.id}"
    access = access_to(module, platform.lease_folder, policy, purpose, platform.python, platform.broker)
    return DevicePool(devices, access)


def _expectations(conf: LaneConf) -> tuple[dict[str, str], IsKnown]:
    """What the ratchet says is never executed here, and whether a case ends as it says.

    A suite whose ratchet has no file for this platform is judged for that later.
    """
    folder = Path(conf.conf, conf.ratchet)
    if not conf.ratchet or no_ratchet(folder, conf.expectations):
        return {}, lambda case: False
    ratchet = load_ratchet(folder, conf.expectations)
    if not ratchet.ratchet.withheld and not ratchet.ratchet.groups:
        return {}, lambda case: False
    facts = survey([conf]).facts.get(conf.lane.id, {})
    known = known_outcomes(ratchet, facts)
    return withheld_cases(ratchet, facts), lambda case: case.outcome in known(case.id)
