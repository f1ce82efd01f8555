"""What the gates are given of one lane, and the findings they gather. Pure."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ci_toolkit.errors import PRECEDENCE, Where
from ci_toolkit.formats.failures import Signature
from ci_toolkit.gates.ratchet_files import LoadedRatchet
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import Lane
from ci_toolkit.model.report import ContractField, Report
from ci_toolkit.model.verdict import CASES_LISTED, Finding, FindingKind, Reproduce


@dataclass(frozen=True)
class Seen:
    """A lane's evidence as the gates see it. ``signatures`` has one entry for each row of the failures."""

    report: Report
    cases: Sequence[Case]
    signatures: Sequence[Signature]
    folder: str
    failure: Callable[[int], Failure]
    reproduce: Callable[[Case], Reproduce | None] = lambda case: None

    def signature(self, case: Case) -> Signature | None:
        """What the case's first failure is compared by."""
        return self.signatures[case.failures[0]] if case.failures else None


@dataclass(frozen=True)
class LaneInput:
    """One lane of a plan: its evidence or why there is none, its expectations or why there are none.

    ``attempt`` is the run attempt whose evidence this should be, the plan's own where it is absent; ``plan_digest`` is
    that of the whole plan, where it is known already; ``builds`` are the digests of what it should have tested, the
    plan's own where they are absent. ``base`` is what the merge base of a pull request showed in the
    same lane: case id -> (outcome, signature class).
    """

    lane: Lane
    seen: Seen | None = None
    fault: tuple[FindingKind, str] | None = None
    ratchet: LoadedRatchet | None = None
    no_ratchet: str = ""
    owner: str = ""
    source_root: str = ""
    base: Mapping[str, tuple[Outcome, str]] = field(default_factory=dict)
    attempt: int | None = None
    plan_digest: str = ""
    builds: Mapping[str, str] | None = None
    control_lane: str = ""
    allow_control_skips: bool = False
    base_contract: Mapping[str, ContractField] = field(default_factory=dict)


EXIT = {
    FindingKind.MISSING: 3,
    FindingKind.NOT_RUN: 3,
    FindingKind.EXECUTION_ERROR: 3,
    FindingKind.LANE_MISSING: 3,
    FindingKind.LANE_EMPTY: 3,
    FindingKind.LANE_UNFINISHED: 3,
    FindingKind.LANE_SKIPPED: 3,
    FindingKind.NO_UPLOAD: 3,
    FindingKind.BUILD_LOST: 3,
    FindingKind.PLAN_LOST: 3,
    FindingKind.MATRIX_LOST: 3,
    FindingKind.VERDICT_LOST: 3,
    FindingKind.JOB_DISAGREES: 3,
    FindingKind.FOREIGN_EVIDENCE: 3,
    FindingKind.ANOTHER_PLAN: 3,
    FindingKind.ANOTHER_LANE: 3,
    FindingKind.ANOTHER_BUILD: 3,
    FindingKind.OLDER_ATTEMPT: 3,
    FindingKind.TAMPERED_EVIDENCE: 3,
    FindingKind.NEWER_EVIDENCE: 3,
    FindingKind.INFRASTRUCTURE: 4,
    FindingKind.WRONG_DEVICE: 4,
    FindingKind.INTERRUPTED: 130,
    FindingKind.UPSTREAM_CHANGED: 3,
    FindingKind.CHANGED_DURING_RUN: 3,
    FindingKind.ALIAS_REFUSED: 2,
    FindingKind.PROVIDERS_UNKNOWN: 3,
    FindingKind.FOREIGN_PROVIDER: 3,
    FindingKind.DUPLICATE_PROVIDER: 3,
    FindingKind.CANDIDATE_NOT_IMPORTED: 3,
    FindingKind.CANDIDATE_IN_CONTROL: 3,
    FindingKind.GAP_FILLED: 3,
    FindingKind.WRONG_LIBRARY: 3,
    FindingKind.COLLECTION_DIFFERS: 3,
    FindingKind.INHERITED: 0,
    FindingKind.SHOWN_BY_CONTROL: 0,
    FindingKind.FLAKY: 0,
    FindingKind.TRACKED_CHANGE: 0,
    FindingKind.START_FELL_BACK: 0,
}
"""The exit code that a kind of finding ends with; the others end with 1."""


@dataclass(frozen=True)
class Words:
    """What a finding says of its cases."""

    message: str
    expected: str = ""
    observed: str = ""
    group: str = ""
    issue: str = ""


class Findings:
    """Gathers cases into findings: all that share a kind and a cause become one."""

    def __init__(self, lane: LaneInput) -> None:
        self._lane = lane
        self._cases: dict[tuple[FindingKind, str], list[Case]] = {}
        self._words: dict[tuple[FindingKind, str], Words] = {}
        self._whole: list[Finding] = []

    def add_case(self, kind: FindingKind, cause: str, case: Case, words: Words) -> None:
        """A case of a finding; ``words`` are those of its first case."""
        key = (kind, cause)
        self._cases.setdefault(key, []).append(case)
        self._words.setdefault(key, words)

    def add(
        self,
        kind: FindingKind,
        cause: str,
        message: str,
        *,
        where: Where | None = None,
        cases: Iterable[str] = (),
        count: int = 1,
        failure: Failure | None = None,
        expected: str = "",
        observed: str = "",
        group: str = "",
        issue: str = "",
        device: str = "",
        runner: str = "",
    ) -> None:
        """A finding about a lane, a unit or an entry of a ratchet, whose place is ``where``."""
        listed = tuple(sorted(cases))
        self._whole.append(
            Finding(
                kind=kind,
                key=self._key(kind, cause),
                lane=self._lane.lane.id,
                message=message,
                count=len(listed) or count,
                cases=listed[:CASES_LISTED],
                failure=failure,
                file=where.file if where else "",
                line=where.line if where else None,
                evidence=self._lane.seen.folder if self._lane.seen else "",
                owner=self._lane.owner,
                blocks=EXIT.get(kind, 1) != 0,
                exit_code=EXIT.get(kind, 1),
                expected=expected,
                observed=observed,
                group=group,
                issue=issue,
                device=device,
                runner=runner,
            )
        )

    def cases(self, kind: FindingKind) -> tuple[Case, ...]:
        """All cases of a kind of finding, by id."""
        found = [case for (one, _), cases in self._cases.items() if one is kind for case in cases]
        return tuple(sorted(found, key=lambda case: case.id))

    def result(self) -> tuple[Finding, ...]:
        """All findings, the most important first."""
        made = [self._of_cases(kind, cause, cases) for (kind, cause), cases in self._cases.items()]
        return tuple(sorted([*self._whole, *made], key=rank))

    def _of_cases(self, kind: FindingKind, cause: str, cases: list[Case]) -> Finding:
        seen = self._lane.seen
        assert seen is not None
        cases.sort(key=lambda case: case.id)
        first = cases[0]
        failure = seen.failure(first.failures[0]) if first.failures else None
        root = self._lane.source_root
        words = self._words[kind, cause]
        return Finding(
            kind=kind,
            key=self._key(kind, cause),
            lane=self._lane.lane.id,
            count=len(cases),
            cases=tuple(case.id for case in cases[:CASES_LISTED]),
            failure=failure,
            file=f"{root}{first.file}" if first.file else "",
            line=_line(first, failure),
            device=_device(first, seen.report),
            evidence=seen.folder,
            owner=self._lane.owner,
            blocks=EXIT.get(kind, 1) != 0,
            exit_code=EXIT.get(kind, 1),
            reproduce=seen.reproduce(first),
            message=words.message,
            expected=words.expected,
            observed=words.observed,
            group=words.group,
            issue=words.issue,
        )

    def _key(self, kind: FindingKind, cause: str) -> str:
        text = "\0".join((kind, self._lane.lane.id, cause))
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _line(case: Case, failure: Failure | None) -> int | None:
    """The line in the case's own file where it failed, or where the case stands."""
    for frame in reversed(failure.frames if failure else ()):
        if frame.file == case.file:
            return frame.line
    return case.line


def _device(case: Case, report: Report) -> str:
    names = {device.index: device.name for device in report.devices}
    if case.device is not None:
        return names.get(case.device, str(case.device))
    return ", ".join(dict.fromkeys(names.values()))


ORDER = tuple(FindingKind)


def rank(finding: Finding) -> tuple[object, ...]:
    """Sorts findings: what blocks first, what makes evidence worthless before single cases, then by size."""
    severity = PRECEDENCE.index(finding.exit_code) if finding.exit_code in PRECEDENCE else len(PRECEDENCE)
    return (not finding.blocks, severity, ORDER.index(finding.kind), -finding.count, finding.lane, finding.key)
