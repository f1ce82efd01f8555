"""Gathers what the gates judge: the evidence of a plan's lanes, their expectations, and a base to compare with."""

import dataclasses
import difflib
from collections.abc import Mapping
from pathlib import Path

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.formats.documents import read_document
from ci_toolkit.formats.evidence import (
    WORKERS,
    Evidence,
    UnusableEvidenceError,
    attempt_folder,
    attempts,
    read_evidence,
)
from ci_toolkit.gates.lane import LaneInput, Seen
from ci_toolkit.gates.ratchet_files import load_ratchet, no_ratchet
from ci_toolkit.model.case import Case
from ci_toolkit.model.ids import matches
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import Lane, Plan
from ci_toolkit.model.report import ContractField
from ci_toolkit.model.request import Request
from ci_toolkit.model.verdict import FindingKind, Reproduce
from ci_toolkit.reproduce.command import command_for
from ci_toolkit.suites.uploads import Place

FAULTS = {
    "missing": FindingKind.LANE_MISSING,
    "unfinished": FindingKind.LANE_UNFINISHED,
    "tampered": FindingKind.TAMPERED_EVIDENCE,
    "newer": FindingKind.NEWER_EVIDENCE,
    "unreadable": FindingKind.TAMPERED_EVIDENCE,
}


def collect(
    plan: Plan, confs: Mapping[str, LaneConf], places: Mapping[str, Place], base: Path | None = None
) -> dict[str, LaneInput]:
    """Lane id -> what the gates are given. ``places`` say where evidence lies, ``base`` holds that of the merge base.

    A lane's evidence that is not there or can not be believed is a fault of that lane, not an error. Raises UsageError
    for a ratchet that is not valid.
    """
    return {lane.id: _lane(lane, confs.get(lane.id), places[lane.id], base) for lane in plan.lanes}


def _lane(lane: Lane, conf: LaneConf | None, place: Place, base: Path | None) -> LaneInput:
    if conf is None:
        message = "the plan has this lane, conf has not: nothing can judge it"
        return LaneInput(lane, fault=(FindingKind.FOREIGN_EVIDENCE, message))
    folder = Path(conf.conf, conf.ratchet)
    absent = no_ratchet(folder, conf.expectations) if conf.ratchet else ""
    prior = _base(lane, base)
    made = LaneInput(
        lane,
        ratchet=load_ratchet(folder, conf.expectations) if conf.ratchet and not absent else None,
        no_ratchet=absent,
        owner=conf.owner,
        attempt=place.attempt,
        source_root=f"{conf.root_path}/" if conf.root_path not in ("", ".") else "",
        base=prior[0],
        base_contract=prior[1],
        control_lane=conf.control_lane,
        allow_control_skips=conf.conformance is not None and conf.conformance.allow_control_skips,
    )
    if place.fault:
        return dataclasses.replace(made, fault=place.fault)
    try:
        evidence = read_evidence(place.folder)
    except UnusableEvidenceError as error:
        return dataclasses.replace(made, fault=(FAULTS[error.kind], str(error)))
    return dataclasses.replace(made, seen=seen_of(evidence))


def seen_of(evidence: Evidence) -> Seen:
    """Evidence as the gates see it."""
    requests = _Requests(evidence.folder)
    return Seen(
        report=evidence.report,
        cases=evidence.cases,
        signatures=evidence.failures.signatures(),
        folder=str(evidence.folder),
        failure=evidence.failures.__getitem__,
        reproduce=requests.command,
    )


def reproduce_case(folder: Path, wanted: str) -> Reproduce:
    """The command that runs a case of the evidence again; ``wanted`` is its id, or a glob that fits it alone.

    Raises UsageError when no case, or more than one, fits.
    """
    evidence = read_evidence(folder)
    fitting = [case for case in evidence.cases if case.id == wanted]
    fitting = fitting or [case for case in evidence.cases if matches(wanted, case.id)]
    if not fitting:
        close = difflib.get_close_matches(wanted, [case.id for case in evidence.cases], 1)
        raise UsageError(f"no case fits {wanted!r}", hint=f"did you mean {close[0]!r}?" if close else "")
    if len(fitting) > 1:
        some = ", ".join(case.id for case in fitting[:5])
        raise UsageError(f"{len(fitting)} cases fit {wanted!r}", hint=f"name one, such as {some}")
    command = _Requests(folder).command(fitting[0])
    if command is None:
        raise UsageError(f"no worker ran {fitting[0].id}, so there is nothing to repeat", Where(str(folder)))
    return command


class _Requests:
    """What the workers of an evidence folder were asked to do, each read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[int, Request | None] = {}

    def command(self, case: Case) -> Reproduce | None:
        """The command that runs ``case`` again; None where no worker ran it."""
        if case.worker is None:
            return None
        if case.worker not in self._read:
            path = self._folder / WORKERS / f"{case.worker:03d}" / "request.json"
            self._read[case.worker] = read_document(path, Request) if path.is_file() else None
        request = self._read[case.worker]
        return command_for(request, case) if request else None


def _base(lane: Lane, base: Path | None) -> tuple[dict[str, tuple[Outcome, str]], Mapping[str, ContractField]]:
    """What the base showed in this lane by its newest complete evidence; nothing where there is none."""
    for attempt in reversed(attempts(base, lane.id) if base else []):
        assert base is not None
        try:
            evidence = read_evidence(attempt_folder(base, lane.id, attempt))
        except UnusableEvidenceError:
            continue
        if evidence.report.interrupted:
            continue
        signatures = evidence.failures.signatures()
        shown = {
            case.id: (case.outcome, signatures[case.failures[0]].signature_class if case.failures else "")
            for case in evidence.cases
        }
        return shown, evidence.report.contract
    return {}, {}
