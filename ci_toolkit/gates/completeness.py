"""Whether a lane's evidence is there, its own, whole, and of a run that did what it was to do. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.gates.lane import Findings, LaneInput, Seen
from ci_toolkit.model.ids import matches
from ci_toolkit.model.outcome import Cause, Outcome
from ci_toolkit.model.plan import ExpectedDevice, Plan
from ci_toolkit.model.ratchet import Group
from ci_toolkit.model.report import PARTS, Device, ErrorKind, ExecutionError, WorkerEnd
from ci_toolkit.model.verdict import FindingKind

LOST = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.ERROR, Outcome.NOT_RUN})
"""How a case can end whose worker was lost."""
INFRASTRUCTURE = frozenset({ErrorKind.INFRA, ErrorKind.RUNNER, ErrorKind.SETUP})
TOLD_AS_THEY_ARE = frozenset(
    {
        ErrorKind.INTERRUPTED,
        ErrorKind.ANOTHER_BUILD,
        ErrorKind.UPSTREAM_CHANGED,
        ErrorKind.CHANGED_DURING_RUN,
        ErrorKind.ALIAS_REFUSED,
        ErrorKind.PROVIDERS_UNKNOWN,
        ErrorKind.FOREIGN_PROVIDER,
        ErrorKind.DUPLICATE_PROVIDER,
        ErrorKind.CANDIDATE_NOT_IMPORTED,
        ErrorKind.CANDIDATE_IN_CONTROL,
        ErrorKind.GAP_FILLED,
        ErrorKind.WRONG_LIBRARY,
    }
)
"""Errors that have a kind of finding of the same name."""
FOREIGN = {
    "lane": FindingKind.ANOTHER_LANE,
    "attempt": FindingKind.OLDER_ATTEMPT,
    "build": FindingKind.ANOTHER_BUILD,
    "plan": FindingKind.ANOTHER_PLAN,
}
"""What evidence is called that is of something else; FOREIGN_EVIDENCE for the others."""


def is_own(plan: Plan, lane: LaneInput, seen: Seen, findings: Findings) -> bool:
    """Whether the evidence is of this plan's lane, run, attempt and conf; if not, a finding says of what else."""
    report, provenance = seen.report, plan.provenance
    attempt = provenance.attempt if lane.attempt is None else lane.attempt
    pairs = {
        "lane": (lane.lane.id, report.lane.id),
        "selection of the lane": (lane.lane.selection, report.lane.selection),
        "run": (provenance.run, report.provenance.run),
        "attempt": (attempt, report.provenance.attempt),
        "commit": (provenance.commit, report.provenance.commit),
        "conf": (plan.conf_digest, report.provenance.conf_digest),
        "plan": (lane.plan_digest or plan_digest(plan), report.provenance.plan_digest),
        "build": (provenance.builds if lane.builds is None else lane.builds, report.provenance.builds),
    }
    foreign = [name for name, (planned, found) in pairs.items() if planned != found]
    for name in foreign if foreign == ["plan"] else [name for name in foreign if name != "plan"]:
        planned, found = pairs[name]
        findings.add(
            FOREIGN.get(name, FindingKind.FOREIGN_EVIDENCE),
            name,
            f"the evidence is of another {name}: {_shown(found)}, planned was {_shown(planned)}",
            expected=_shown(planned),
            observed=_shown(found),
        )
    return not foreign


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} sha256:{digest[:12]}" for name, digest in sorted(value.items())) or "none"
    return str(value) if value else "none"


def check_device(lane: LaneInput, seen: Seen, findings: Findings) -> None:
    """Findings where the lane was to run on other devices than it says it had. A runner's label proves nothing."""
    asked = lane.lane.device
    runner = seen.report.provenance.runner
    errors = [error for error in seen.report.errors if error.kind is ErrorKind.WRONG_DEVICE]
    for error in errors:
        findings.add(
            FindingKind.WRONG_DEVICE,
            "lane",
            error.message,
            expected=_asked(asked),
            observed="no such device",
            runner=runner,
        )
    wrong: dict[str, list[Device]] = {}
    for device in seen.report.devices:
        if device.module != asked.module or not matches(asked.arch, device.arch):
            shown = " ".join(filter(None, (device.module, device.name, device.arch)))
            wrong.setdefault(shown, []).append(device)
    for shown, devices in wrong.items():
        findings.add(
            FindingKind.WRONG_DEVICE,
            shown,
            f"the lane asks for {_asked(asked)} and ran on {shown}",
            count=len(devices),
            expected=_asked(asked),
            observed=shown,
            device=cards(devices),
            runner=runner,
        )
    if not errors and len(seen.report.devices) < max(asked.count, 1):
        message = f"the lane asks for {_asked(asked)} and had {len(seen.report.devices)}"
        findings.add(
            FindingKind.WRONG_DEVICE,
            "count",
            message,
            expected=_asked(asked),
            observed=cards(seen.report.devices) or "none",
            device=cards(seen.report.devices),
            runner=runner,
        )


def _asked(asked: ExpectedDevice) -> str:
    count = f"{asked.count} x " if asked.count else ""
    arch = f" of architecture {asked.arch}" if asked.arch != "*" else ""
    return f"{count}{asked.module}{arch}"


def check_run(seen: Seen, groups: Mapping[str, tuple[str, Group]], findings: Findings) -> None:
    """Findings for the run's own errors, and for a run that tested nothing."""
    report = seen.report
    alike: dict[tuple[str, str, str], list[ExecutionError]] = {}
    for error in report.errors:
        if error.kind is not ErrorKind.WRONG_DEVICE and not _is_expected(error, seen, groups):
            alike.setdefault((error.kind, error.message, error.case), []).append(error)
    for errors in alike.values():
        _execution_errors(errors, seen, findings)
    if report.interrupted and not any(error.kind is ErrorKind.INTERRUPTED for error in report.errors):
        findings.add(FindingKind.INTERRUPTED, "lane", f"the run was interrupted: {report.interrupted}")
    _check_ends(seen, findings)
    for why in sorted({worker.fallback for worker in report.workers if worker.fallback}):
        findings.add(FindingKind.START_FELL_BACK, why, f"workers were started afresh, not forked: {why}")
    ran = {worker.unit for worker in report.workers}
    silent = [unit for unit in report.units if unit not in ran]
    explained = {error.unit for error in report.errors}
    for unit in silent:
        if unit not in explained and "" not in explained:
            findings.add(FindingKind.MISSING, unit, f"the unit {unit} was planned and never ran", count=1)


def _check_ends(seen: Seen, findings: Findings) -> None:
    """A part of a unit whose worker was lost shows in a case that it cost, or in an error: else its loss is one."""
    explained = {error.worker for error in seen.report.errors} | {
        case.worker for case in seen.cases if case.outcome in LOST
    }
    for worker in seen.report.workers:
        if worker.end is not WorkerEnd.COMPLETED and worker.purpose in PARTS and worker.number not in explained:
            findings.add(
                FindingKind.EXECUTION_ERROR,
                f"end {worker.unit} {worker.number}",
                f"{worker.unit}: worker {worker.number} ended as {worker.end}, and nothing says what that cost",
                observed=worker.end.value,
            )


def _is_expected(error: ExecutionError, seen: Seen, groups: Mapping[str, tuple[str, Group]]) -> bool:
    """A crash or a timeout that a reviewed group names costs its case only."""
    if error.case not in groups or error.kind not in (ErrorKind.WORKER_CRASHED, ErrorKind.WORKER_TIMEOUT):
        return False
    group = groups[error.case][1]
    accepted = {group.outcome} if isinstance(group.outcome, Outcome) else set(group.outcome)
    return bool(accepted & {Outcome.CRASHED, Outcome.TIMEOUT})


def _execution_errors(errors: list[ExecutionError], seen: Seen, findings: Findings) -> None:
    """One finding for errors of one kind that say the same of several units."""
    error = errors[0]
    if error.kind in TOLD_AS_THEY_ARE:
        kind = FindingKind(error.kind.value)
    elif error.kind in INFRASTRUCTURE or error.cause is Cause.INFRA:
        kind = FindingKind.INFRASTRUCTURE
    else:
        kind = FindingKind.EXECUTION_ERROR
    device = _concerned(errors, seen)
    asked = _asked(seen.report.lane.device) if device else ""
    units = [one.unit for one in errors if one.unit]
    about = f"{units[0]}: " if len(units) == 1 else f"{len(units)} units: " if units else ""
    findings.add(
        kind,
        f"{error.kind} {error.message} {error.case}" if len(units) > 1 else f"{error.kind} {error.unit} {error.case}",
        f"{about}{error.message}",
        cases=[error.case] if error.case else units if len(units) > 1 else (),
        failure=seen.failure(error.failures[0]) if error.failures else None,
        expected=asked,
        observed=device if asked else error.kind.value,
        device=device,
        runner=seen.report.provenance.runner if error.kind is ErrorKind.RUNNER else "",
    )


def _concerned(errors: Sequence[ExecutionError], seen: Seen) -> str:
    """The cards that workers had which the runner failed; those of the lane for workers that were given none."""
    report = seen.report
    numbers = {error.worker for error in errors if error.kind is ErrorKind.RUNNER and error.worker is not None}
    if not numbers:
        return ""
    used = {index for worker in report.workers if worker.number in numbers for index in worker.devices}
    return cards([device for device in report.devices if not used or device.index in used])


def cards(devices: Iterable[Device]) -> str:
    """Devices in words that let a person find them."""
    return ", ".join(device.card for device in devices)
