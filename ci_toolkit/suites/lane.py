"""Runs one lane: its units in isolated workers, what became of them, and the evidence of it, whatever happens."""

import datetime
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.formats.evidence import EvidenceWriter, attempt_folder
from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import Device, ErrorKind, ExecutionError, Report, Worker, WorkerEnd
from ci_toolkit.model.signature import signed
from ci_toolkit.suites.head import contract, facts
from ci_toolkit.suites.jobs import account_of, make_jobs
from ci_toolkit.suites.kind import Found, Kind, Subject, Unit, UnitResult
from ci_toolkit.suites.registry import kind_of
from ci_toolkit.suites.subject import ask, normalised
from ci_toolkit.workers.environment import worker_environment
from ci_toolkit.workers.jobs import Ended, Observer
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
    mask: Mapping[str, str] = {},
) -> Path:
    """Runs ``conf``'s lane with at most ``slots`` workers at a time and returns its evidence folder.

    ``withheld`` maps ids of cases that are never executed to the reason. ``devices`` are those that the lane runs on,
    ``mask`` the environment that shows a worker these only. Raises UsageError, before anything is written, for conf
    that does not fit what is there and for a folder that holds evidence already; from then on a valid evidence folder
    is left behind in every case.
    """
    kind = kind_of(conf.lane.kind)
    subject, found, obstacles = _prepare(conf, kind)
    units = () if obstacles else _selected(conf, found)
    writer = EvidenceWriter(attempt_folder(out.absolute(), conf.lane.id, attempt))
    run = _Run(conf, kind, subject, found, units, writer, provenance)
    for obstacle in obstacles:
        run.fault(ErrorKind.SETUP, obstacle, Cause.INFRA)
    if not units and not obstacles:
        run.fault(ErrorKind.EMPTY_SELECTION, "the suite's selection holds no test file")
    try:
        jobs = make_jobs(conf, subject, found, units, withheld, mask, writer)
        for ended in run_jobs(jobs, slots, stop, observe):
            observe(ended.job, {"e": "ended", "end": ended.worker.end, "message": ended.message})
            run.take(ended)
    except Exception as error:  # noqa: BLE001 - a fault of ours is a finding of this lane, and its evidence is kept
        run.fault(ErrorKind.INFRA, f"ci-toolkit could not run the lane: {type(error).__name__}: {error}", Cause.INFRA)
    finally:
        run.close(stop.reason, devices)
    return writer.folder


def _prepare(conf: LaneConf, kind: Kind) -> tuple[Subject, Found, list[str]]:
    """The subject, the suite, and what keeps the lane from running at all: a failed set-up is one finding."""
    nothing = Found(root=str(Path(conf.base, conf.root_path)), runner="", units=())
    try:
        subject = _ask(conf)
    except InfrastructureError as error:
        return Subject("", "", "", "", {}), nothing, [str(error)]
    missing = sorted({normalised(name) for name in conf.subject} - set(subject.packages))
    if missing:
        return subject, nothing, [f"the subject {name} is not installed in {subject.executable}" for name in missing]
    return subject, kind.find(conf, subject), []


def _ask(conf: LaneConf) -> Subject:
    distributions = [*conf.subject, *([conf.root_distribution] if conf.root_distribution else [])]
    env = worker_environment(os.environ, conf.env_allow, conf.env, tempfile.gettempdir())
    return ask(conf.platform.python, conf.platform.flags, distributions, env, conf.base)


def _selected(conf: LaneConf, found: Found) -> tuple[Unit, ...]:
    wanted = conf.lane.selection.units
    if wanted is None:
        return found.units
    by_name = {unit.name: unit for unit in found.units}
    for name in wanted:
        if name not in by_name:
            raise UsageError(f"suite {conf.lane.suite}: {name!r} is none of its {len(by_name)} test files")
    return tuple(unit for unit in found.units if unit.name in set(wanted))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _failed(kind: ErrorKind, message: str, unit: str, worker: int) -> UnitResult:
    error = ExecutionError(kind=kind, message=message, cause=Cause.INFRA, unit=unit, worker=worker)
    return UnitResult(errors=(error,))


@dataclass
class _Run:
    """The lane while it runs. Results are written in the order of the units, not in that of their ends."""

    conf: LaneConf
    kind: Kind
    subject: Subject
    found: Found
    units: tuple[Unit, ...]
    writer: EvidenceWriter
    provenance: Provenance
    started: str = field(default_factory=_now)
    waiting: dict[int, UnitResult] = field(default_factory=dict)
    workers: dict[int, Worker] = field(default_factory=dict)
    errors: list[ExecutionError] = field(default_factory=list)
    results: list[UnitResult] = field(default_factory=list)
    cases: int = 0

    def fault(self, kind: ErrorKind, message: str, cause: Cause = Cause.EXCEPTION) -> None:
        """Adds an execution error of the whole lane."""
        self.errors.append(ExecutionError(kind=kind, message=message, cause=cause))

    def take(self, ended: Ended) -> None:
        """Judges a worker that ended, and writes what is complete up to here."""
        number, unit = ended.job.number, ended.job.request.unit
        self.workers[number] = ended.worker
        try:
            result = self.kind.decode(unit, account_of(ended), self.found.root)
            roots = self._roots(ended.job.request.temporary)
            result = replace(result, failures=tuple(signed(failure, roots) for failure in result.failures))
        except Exception as error:  # noqa: BLE001 - a fault of ours costs one unit, not the lane
            message = f"ci-toolkit could not judge this unit: {type(error).__name__}: {error}"
            result = _failed(ErrorKind.INFRA, message, unit, number)
        self.waiting[number] = result
        while len(self.results) + 1 in self.waiting:
            self._write(self.waiting.pop(len(self.results) + 1))

    def close(self, interrupted: str, devices: Sequence[Device]) -> None:
        """Accounts for the units that never ran, and seals the evidence."""
        for number, unit in enumerate(self.units, 1):
            if number not in self.workers:
                self.workers[number] = Worker(number=number, unit=unit.name, end=WorkerEnd.NOT_STARTED)
                why = f"the run was interrupted ({interrupted})" if interrupted else "the lane ended"
                kind = ErrorKind.INTERRUPTED if interrupted else ErrorKind.INFRA
                self.waiting[number] = _failed(kind, f"{why} before this unit started", unit.name, number)
        for number in sorted(self.waiting):
            self._write(self.waiting[number])
        if self.results and not self.cases and not self.errors:
            self.fault(ErrorKind.EMPTY_SELECTION, "no case of the suite was selected")
        workers = tuple(self.workers[number] for number in sorted(self.workers))
        environments = [result.environment for result in self.results if result.environment]
        self.writer.close(
            Report(
                lane=self.conf.lane,
                provenance=self.provenance,
                root=self.found.root,
                started=self.started,
                ended=_now(),
                units=tuple(unit.name for unit in self.units),
                deselected=sum(result.deselected for result in self.results),
                contract=contract(self.conf, self.subject, workers, (result.runner_version for result in self.results)),
                facts=facts(self.subject, devices),
                devices=tuple(devices),
                environments=tuple(one for at, one in enumerate(environments) if one not in environments[:at]),
                workers=workers,
                errors=tuple(self.errors),
                interrupted=interrupted,
            )
        )

    def _write(self, result: UnitResult) -> None:
        rows = [self.writer.add_failure(failure) for failure in result.failures]
        for case in result.cases:
            self.writer.add_case(msgspec.structs.replace(case, failures=tuple(rows[row] for row in case.failures)))
        for error in result.errors:
            self.errors.append(msgspec.structs.replace(error, failures=tuple(rows[row] for row in error.failures)))
        self.cases += len(result.cases)
        self.results.append(replace(result, cases=(), failures=(), errors=()))

    def _roots(self, temporary: str) -> dict[str, str]:
        named = [
            (temporary, "<tmp>"),
            (self.found.root, "<root>"),
            (str(self.writer.folder), "<evidence>"),
            (self.conf.base, "<base>"),
            *((prefix, "<python>") for prefix in self.subject.prefixes),
        ]
        return {spelling: word for folder, word in named for spelling in (folder, str(Path(folder).resolve()))}
