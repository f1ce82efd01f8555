"""Runs one lane: its units in isolated workers, what became of them, and the evidence of it, whatever happens."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.formats.evidence import EvidenceWriter, attempt_folder
from ci_toolkit.model.facts import unmet
from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import Device, ErrorKind
from ci_toolkit.suites.announcing import announced
from ci_toolkit.suites.freshness import changed
from ci_toolkit.suites.jobs import JobMaker
from ci_toolkit.suites.kind import Found, Kind, Subject, Unit
from ci_toolkit.suites.lane_run import LaneRun
from ci_toolkit.suites.proof import not_of_build
from ci_toolkit.suites.registry import kind_of
from ci_toolkit.suites.steps import IsKnown
from ci_toolkit.suites.subject import ask, facts_of, normalised
from ci_toolkit.workers.devices import DevicePool
from ci_toolkit.workers.environment import worker_environment
from ci_toolkit.workers.jobs import Observer
from ci_toolkit.workers.queue import Entry, Queue
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop


def run_lane(
    conf: LaneConf,
    out: Path,
    *,
    provenance: Provenance,
    attempt: int,
    slots: int,
    stop: Stop,
    observe: Observer,
    withheld: Mapping[str, str] = {},
    devices: Sequence[Device] = (),
    pool: DevicePool | None = None,
    expected: Mapping[str, float] = {},
    is_known: IsKnown = lambda case: False,
    fail_fast: bool = False,
    no_device: str = "",
    build: Path | None = None,
    given_up: str = "",
) -> Path:
    """Runs ``conf``'s lane with at most ``slots`` workers at a time and returns its evidence folder.

    ``withheld`` maps ids of cases that are never executed to the reason. ``devices`` are those that the lane runs on,
    ``pool`` gives them to its workers where they need them. ``expected`` are the seconds that units took before: the
    longest starts first. With ``no_device``, the reason why this machine has not what the lane asks for, nothing runs,
    and the evidence says so; so it does with ``given_up``, why this runner is not tried any more. ``is_known`` says
    whether a case ends as its ratchet says; ``fail_fast`` ends the lane at the first unit in which one does not.
    ``build`` holds the files that the subject is installed from.

    Raises UsageError, before anything is written, for conf that does not fit what is there and for a folder that holds
    evidence already; from then on a valid evidence folder is left behind in every case.
    """
    kind = kind_of(conf.lane.kind)
    observe = announced(observe, is_known)
    subject, found, obstacles = _prepare(conf, kind, build)
    units = () if obstacles or no_device or given_up else _selected(conf, found)
    writer = EvidenceWriter(attempt_folder(out.absolute(), conf.lane.id, attempt))
    maker = JobMaker(conf, subject, found, withheld, pool, writer)
    width = conf.width if pool else 0
    queue = Queue(width, (Entry(at, width, expected.get(unit.name)) for at, unit in enumerate(units)))
    run = LaneRun(conf, kind, subject, found, units, writer, provenance, maker, is_known, fail_fast, queue, width)
    if no_device:
        run.fault(ErrorKind.WRONG_DEVICE, no_device, Cause.INFRA)
    if given_up:
        run.fault(ErrorKind.RUNNER, given_up, Cause.INFRA)
    for error, obstacle in obstacles:
        run.fault(error, obstacle, Cause.INFRA)
    if not units and not run.errors and not (found.units and conf.lane.shard):
        run.fault(ErrorKind.EMPTY_SELECTION, "the suite's selection holds no test file")
    try:
        for ended in run_jobs(run.next_job, slots, stop, observe, pool):
            observe(ended.job, {"e": "ended", "end": ended.worker.end, "message": ended.message})
            run.take(ended)
    except Exception as error:  # noqa: BLE001 - a fault of ours is a finding of this lane, and its evidence is kept
        run.fault(ErrorKind.INFRA, f"ci-toolkit could not run the lane: {type(error).__name__}: {error}", Cause.INFRA)
    finally:
        run.close(stop.reason, devices, changed(found.pins))
    return writer.folder


def _prepare(conf: LaneConf, kind: Kind, build: Path | None) -> tuple[Subject, Found, list[tuple[ErrorKind, str]]]:
    """The subject, the suite, and what keeps the lane from running at all: a failed set-up is one finding."""
    nothing = Found(root=str(Path(conf.base, conf.root_path)), runner="", units=())
    try:
        subject = _ask(conf)
    except InfrastructureError as error:
        return Subject("", "", "", "", {}), nothing, [(ErrorKind.SETUP, str(error))]
    missing = sorted({normalised(name) for name in conf.subject} - set(subject.packages))
    if missing:
        absent = [f"the subject {name} is not installed in {subject.executable}" for name in missing]
        return subject, nothing, [(ErrorKind.SETUP, line) for line in absent]
    other = not_of_build(subject, conf.subject, build) if build else []
    if other:
        return subject, nothing, [(ErrorKind.ANOTHER_BUILD, line) for line in other]
    lacking = unmet(conf.requires, facts_of(subject))
    if lacking:
        return subject, nothing, [(ErrorKind.SETUP, f"the lane requires what is not here: {lacking}")]
    found = kind.find(conf, subject)
    return subject, found, [*found.faults]


def _ask(conf: LaneConf) -> Subject:
    distributions = [*conf.subject, *([conf.root_distribution] if conf.root_distribution else [])]
    env = worker_environment(os.environ, conf.env_allow, conf.env, tempfile.gettempdir())
    return ask(conf.platform.python, conf.platform.flags, distributions, env, conf.base)


def _selected(conf: LaneConf, found: Found) -> tuple[Unit, ...]:
    there = {unit.name for unit in found.units}
    for name in conf.lane.selection.units or ():
        if name not in there:
            raise UsageError(f"suite {conf.lane.suite}: {name!r} is none of its {len(there)} test files")
    covers = conf.lane.covers()
    return tuple(unit for unit in found.units if covers(unit.name))
