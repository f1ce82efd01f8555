"""A candidate beside its control: what the upstream itself shows in its own tests. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ci_toolkit.gates.lane import Findings, LaneInput, Seen
from ci_toolkit.model.case import Case
from ci_toolkit.model.ids import split_case
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.verdict import FindingKind

EXCUSED = frozenset({FindingKind.REGRESSION, FindingKind.CHANGED_OUTCOME})
"""What is not the candidate's fault where its control shows the same: never a pass that nobody expected."""


@dataclass(frozen=True)
class Control:
    """What the control showed: case id -> outcome, signature class and reason; ``faulty`` are test files of units that
    ended in an execution error there.
    """

    shown: Mapping[str, tuple[Outcome, str, str]] = field(default_factory=dict)
    faulty: frozenset[str] = frozenset()

    def shows(self, seen: Seen, case: Case) -> bool:
        """Whether the control ended the case in the same way."""
        return self.shown.get(case.id) == _end(seen, case)


NONE = Control()
"""A lane that has no control."""


def control_of(seen: Seen) -> Control:
    """What a control's evidence shows."""
    return Control({case.id: _end(seen, case) for case in seen.cases}, _faulty(seen))


def check_collection(lane: LaneInput, seen: Seen, control: Control, findings: Findings) -> None:
    """Findings where candidate and control did not collect the same cases, but in files that an error explains."""
    explained = control.faulty | _faulty(seen)
    mine = {case.id for case in seen.cases}
    for words, ids in (
        ("the candidate alone collects", mine - control.shown.keys()),
        ("the control alone collects", control.shown.keys() - mine),
    ):
        lost = sorted(case for case in ids if split_case(case)[0] not in explained)
        if lost:
            findings.add(FindingKind.COLLECTION_DIFFERS, words, f"{words} {lost[0]}", cases=lost)


def _end(seen: Seen, case: Case) -> tuple[Outcome, str, str]:
    signature = seen.signature(case)
    return case.outcome, signature.signature_class if signature else "", case.reason


def _faulty(seen: Seen) -> frozenset[str]:
    return frozenset(split_case(error.unit)[0] for error in seen.report.errors if error.unit)
