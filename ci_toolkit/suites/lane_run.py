"""A lane while it runs: which worker is started next, and what is written when."""

import datetime
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.formats.evidence import EvidenceWriter
from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import PARTS, Device, ErrorKind, ExecutionError, Report, Worker
from ci_toolkit.model.signature import signed
from ci_toolkit.suites.freshness import united
from ci_toolkit.suites.head import contract, facts
from ci_toolkit.suites.jobs import JobMaker, account_of
from ci_toolkit.suites.joining import joined
from ci_toolkit.suites.kind import Found, Kind, Subject, Unit, UnitResult
from ci_toolkit.suites.steps import IsKnown, Step, UnitRun, costs, failed
from ci_toolkit.workers.headroom import lacking_disk
from ci_toolkit.workers.jobs import Ended, Job
from ci_toolkit.workers.queue import Queue

REFUSALS = 3


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _failed(kind: ErrorKind, message: str, unit: str, worker: int) -> UnitResult:
    error = ExecutionError(kind=kind, message=message, cause=Cause.INFRA, unit=unit, worker=worker)
    return UnitResult(errors=(error,))


def _on_device(result: UnitResult, devices: tuple[int, ...]) -> UnitResult:
    """The result with the first of its worker's devices named in each case."""
    if not devices:
        return result
    return replace(result, cases=tuple(msgspec.structs.replace(case, device=devices[0]) for case in result.cases))


@dataclass
class LaneRun:
    """The lane while it runs. Results are written in the order of the units, not in that of their ends."""

    conf: LaneConf
    kind: Kind
    subject: Subject
    found: Found
    units: tuple[Unit, ...]
    writer: EvidenceWriter
    provenance: Provenance
    maker: JobMaker
    is_known: IsKnown
    fail_fast: bool
    queue: Queue
    width: int
    started: str = field(default_factory=_now)
    halted: str = ""
    halted_kind: ErrorKind = ErrorKind.HALTED
    deaths: int = 0
    refusals: int = 0
    runs: dict[int, UnitRun] = field(default_factory=dict)
    follow: deque[tuple[int, Step]] = field(default_factory=deque)
    doing: dict[int, tuple[int, Step]] = field(default_factory=dict)
    waiting: dict[int, UnitResult] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    errors: list[ExecutionError] = field(default_factory=list)
    results: list[UnitResult] = field(default_factory=list)
    cases: int = 0

    def fault(self, kind: ErrorKind, message: str, cause: Cause = Cause.EXCEPTION) -> None:
        """Adds an execution error of the whole lane."""
        self.errors.append(ExecutionError(kind=kind, message=message, cause=cause))

    def next_job(self) -> Job | None:
        """What to start next: what goes on with a unit that has begun, or else the next unit."""
        full = "" if self.halted else lacking_disk(self.writer.folder)
        if full:
            self._halt(full, ErrorKind.RUNNER)
        if self.follow:
            return self._job(*self.follow.popleft())
        # The queue gives the order only: a worker is started before there is a device for it, and asks for one then.
        entry = None if self.halted else self.queue.take(self.width, 1)
        if entry is None:
            return None
        at = entry.key
        assert isinstance(at, int)
        self.runs[at] = UnitRun(self.conf.confirm, self.is_known)
        step = self.runs[at].next()
        assert step is not None
        return self._job(at, step)

    def _job(self, at: int, step: Step) -> Job:
        job = self.maker.make(self.units[at], step.only)
        self.doing[job.number] = (at, step)
        return job

    def take(self, ended: Ended) -> None:
        """Judges a worker that ended, plans what goes on with its unit, and writes what is complete up to here."""
        at, step = self.doing.pop(ended.job.number)
        self.workers.append(msgspec.structs.replace(ended.worker, purpose=step.purpose))
        run, result = self.runs[at], self._decoded(ended)
        run.take(step, result)
        refused = [error.message for error in result.errors if error.kind is ErrorKind.RUNNER]
        if step.purpose in PARTS and (refused or costs(result, self.is_known)):
            self._count_death()
        self._count_refusal(refused)
        following = None if self.halted else run.next()
        if following is not None:
            self.follow.append((at, following))
        else:
            self._complete(at)

    def _decoded(self, ended: Ended) -> UnitResult:
        number, unit = ended.job.number, ended.job.request.unit
        try:
            result = self.kind.decode(unit, account_of(ended), self.found.root)
            result = _on_device(result, ended.worker.devices)
            roots = self._roots(ended.job.request.temporary)
            return replace(result, failures=tuple(signed(failure, roots) for failure in result.failures))
        except Exception as error:  # noqa: BLE001 - a fault of ours costs one unit, not the lane
            message = f"ci-toolkit could not judge this unit: {type(error).__name__}: {error}"
            return _failed(ErrorKind.INFRA, message, unit, number)

    def _count_death(self) -> None:
        self.deaths += 1
        budget = self.conf.budget
        if self.deaths >= budget and not self.halted:
            self._halt(f"the lane's budget of {budget} lost workers is spent")

    def _count_refusal(self, refused: Sequence[str]) -> None:
        """Ends the lane when the runner failed several workers in a row: each may take as long as a device hangs."""
        self.refusals = self.refusals + 1 if refused else 0
        if self.refusals >= REFUSALS and not self.halted:
            self._halt(f"the runner failed {REFUSALS} workers in a row ({refused[0]})", ErrorKind.RUNNER)

    def _halt(self, reason: str, kind: ErrorKind = ErrorKind.HALTED) -> None:
        """Nothing more is started; units that have begun are accounted for as far as they came."""
        self.halted, self.halted_kind = reason, kind
        while self.follow:
            self._complete(self.follow.popleft()[0])

    def _complete(self, at: int) -> None:
        result = joined(
            self.units[at].name, self.runs[at].taken, halted=self.halted, flaky_passes=self.conf.flaky_passes
        )
        self.waiting[at] = result
        while len(self.results) in self.waiting:
            self._write(self.waiting.pop(len(self.results)))
        if self.fail_fast and not self.halted and failed(result, self.is_known):
            self._halt("the run was to end at the first failure")

    def close(self, interrupted: str, devices: Sequence[Device], changed: str) -> None:
        """Accounts for the units that never ran, and seals the evidence. ``changed`` names files that were edited."""
        for at in range(len(self.results), len(self.units)):
            if at in self.waiting:
                continue
            if at in self.runs and self.runs[at].started:
                halted = self.halted or (f"the run was interrupted ({interrupted})" if interrupted else "")
                taken = self.runs[at].taken
                self.waiting[at] = joined(
                    self.units[at].name, taken, halted=halted, flaky_passes=self.conf.flaky_passes
                )
            else:
                self.waiting[at] = self._never_ran(self.units[at].name, interrupted)
        for at in sorted(self.waiting):
            self._write(self.waiting[at])
        if self.results and not self.cases and not self.errors and not self.conf.lane.shard:
            self.fault(ErrorKind.EMPTY_SELECTION, "no case of the suite was selected")
        providers, other = united(result.providers for result in self.results)
        for files in filter(None, (changed, other)):
            self.fault(ErrorKind.CHANGED_DURING_RUN, f"was edited while the lane ran: {files}")
        environments = [result.environment for result in self.results if result.environment]
        workers = tuple(sorted(self.workers, key=lambda worker: worker.number))
        self.writer.close(
            Report(
                lane=self.conf.lane,
                provenance=self.provenance,
                root=self.found.root,
                started=self.started,
                ended=_now(),
                units=tuple(unit.name for unit in self.units),
                deselected=sum(result.deselected for result in self.results),
                contract=contract(
                    self.conf,
                    self.subject,
                    workers,
                    (result.runner_version for result in self.results),
                    self.found.contract,
                ),
                facts=facts(self.subject, devices),
                devices=tuple(devices),
                environments=tuple(one for at, one in enumerate(environments) if one not in environments[:at]),
                workers=workers,
                errors=tuple(self.errors),
                providers=providers,
                interrupted=interrupted,
            )
        )

    def _never_ran(self, unit: str, interrupted: str) -> UnitResult:
        if interrupted:
            kind, why = ErrorKind.INTERRUPTED, f"the run was interrupted ({interrupted})"
        elif self.halted:
            kind, why = self.halted_kind, self.halted
        else:
            kind, why = ErrorKind.INFRA, "the lane ended"
        cause = Cause.RESOURCE if kind is ErrorKind.HALTED else Cause.INFRA
        return UnitResult(
            errors=(ExecutionError(kind=kind, message=f"{why} before this unit started", cause=cause, unit=unit),)
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
