"""``verdict.json``: what the gates decided, and every reason."""

from enum import StrEnum

from ci_toolkit.model.case import Failure
from ci_toolkit.model.documents import Document, Record
from ci_toolkit.model.outcome import Outcome

VERDICT_SCHEMA = "verdict/1"
CASES_LISTED = 200
"""A finding lists at most this many case ids; ``count`` is the true number."""


class FindingKind(StrEnum):
    """Why a lane is not green (or, for the last ones, what deserves a look)."""

    REGRESSION = "regression"
    UNEXPECTED_PASS = "unexpected_pass"
    CHANGED_FAILURE = "changed_failure"
    CHANGED_OUTCOME = "changed_outcome"
    UNREVIEWED = "unreviewed"
    UNREVIEWED_SKIP = "unreviewed_skip"
    SKIP_CEILING = "skip_ceiling"
    TOO_FEW_PASSED = "too_few_passed"
    MISSING = "missing"
    UNLISTED_CASE = "unlisted_case"
    EXPIRED = "expired"
    UNMATCHED_ENTRY = "unmatched_entry"
    GLOB_COUNT = "glob_count"
    CONFLICTING_ENTRIES = "conflicting_entries"
    CONTRACT_CHANGED = "contract_changed"
    EXECUTION_ERROR = "execution_error"
    NOT_RUN = "not_run"
    LANE_MISSING = "lane_missing"
    LANE_EMPTY = "lane_empty"
    LANE_UNFINISHED = "lane_unfinished"
    LANE_SKIPPED = "lane_skipped"
    NO_UPLOAD = "no_upload"
    BUILD_FAILED = "build_failed"
    BUILD_LOST = "build_lost"
    PLAN_LOST = "plan_lost"
    MATRIX_LOST = "matrix_lost"
    VERDICT_LOST = "verdict_lost"
    JOB_DISAGREES = "job_disagrees"
    FOREIGN_EVIDENCE = "foreign_evidence"
    ANOTHER_PLAN = "another_plan"
    ANOTHER_LANE = "another_lane"
    ANOTHER_BUILD = "another_build"
    UPSTREAM_CHANGED = "upstream_changed"
    CHANGED_DURING_RUN = "changed_during_run"
    ALIAS_REFUSED = "alias_refused"
    PROVIDERS_UNKNOWN = "providers_unknown"
    FOREIGN_PROVIDER = "foreign_provider"
    DUPLICATE_PROVIDER = "duplicate_provider"
    CANDIDATE_NOT_IMPORTED = "candidate_not_imported"
    CANDIDATE_IN_CONTROL = "candidate_in_control"
    GAP_FILLED = "gap_filled"
    WRONG_LIBRARY = "wrong_library"
    COLLECTION_DIFFERS = "collection_differs"
    OLDER_ATTEMPT = "older_attempt"
    TAMPERED_EVIDENCE = "tampered_evidence"
    NEWER_EVIDENCE = "newer_evidence"
    INFRASTRUCTURE = "infrastructure"
    WRONG_DEVICE = "wrong_device"
    INTERRUPTED = "interrupted"
    NO_RATCHET = "no_ratchet"
    TOO_INTERMITTENT = "too_intermittent"
    INHERITED = "inherited"
    SHOWN_BY_CONTROL = "shown_by_control"
    FLAKY = "flaky"
    STALE_ABSENT = "stale_absent"
    TRACKED_CHANGE = "tracked_change"
    START_FELL_BACK = "start_fell_back"
    NOTHING_PLANNED = "nothing_planned"


class Reproduce(Record, frozen=True, kw_only=True):
    """A command in parts: run ``argv`` in ``cwd`` with ``env`` set on top of an empty environment's needs."""

    argv: tuple[str, ...]
    cwd: str = ""
    env: dict[str, str] = {}
    note: str = ""


class Finding(Record, frozen=True, kw_only=True):
    """One reason in a verdict: all the cases of a lane that share a kind and a cause.

    ``key`` is stable from run to run. ``blocks`` is false for what is shown but does not turn the verdict red.
    ``exit_code`` is the code of DESIGN that this finding alone would end a command with. ``runner`` is the machine that
    is at fault, empty where none is known to be.
    """

    kind: FindingKind
    key: str
    lane: str
    message: str
    count: int = 1
    cases: tuple[str, ...] = ()
    expected: str = ""
    observed: str = ""
    failure: Failure | None = None
    file: str = ""
    line: int | None = None
    device: str = ""
    runner: str = ""
    evidence: str = ""
    owner: str = ""
    issue: str = ""
    group: str = ""
    blocks: bool = True
    exit_code: int = 1
    reproduce: Reproduce | None = None


class LaneVerdict(Record, frozen=True, kw_only=True):
    """One lane's line in the verdict. ``judged_by`` names its ratchet, or ``plain`` (all must pass).

    ``result`` is ``passed``, ``failed``, or ``advisory`` for a lane that is shown and does not count as green;
    ``advisory`` says until when and why.
    """

    lane: str
    result: str
    counts: dict[Outcome, int] = {}
    seconds: float | None = None
    device: str = ""
    evidence: str = ""
    judged_by: str = ""
    findings: int = 0
    advisory: str = ""


class Drain(Record, frozen=True, kw_only=True):
    """A runner that failed lanes by its own fault: to be taken out until a person has looked at it.

    ``devices`` are the cards that were concerned, ``reasons`` what was said of them.
    """

    runner: str
    lanes: tuple[str, ...]
    devices: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


class Verdict(Document, frozen=True, kw_only=True):
    """The result of all gates: ``passed`` only when no blocking finding stands."""

    schema: str = VERDICT_SCHEMA
    result: str
    exit_code: int
    exit_codes: tuple[int, ...] = ()
    today: str
    lanes: tuple[LaneVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    drain: tuple[Drain, ...] = ()
    left_out: dict[str, str] = {}
