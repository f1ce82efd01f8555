"""``report.json``: the head of a lane run's evidence."""

from enum import StrEnum

from ci_toolkit.model.documents import Document, Record
from ci_toolkit.model.outcome import Cause, Outcome
from ci_toolkit.model.plan import Lane
from ci_toolkit.model.provenance import Provenance

REPORT_SCHEMA = "report/1"


class Strictness(StrEnum):
    """``strict``: a change is red; ``tracked``: a change is shown."""

    STRICT = "strict"
    TRACKED = "tracked"


class ContractField(Record, frozen=True, kw_only=True):
    """One fact that makes two runs comparable."""

    value: str
    strictness: Strictness = Strictness.STRICT


class Device(Record, frozen=True, kw_only=True):
    """A device as observed on the machine that ran the lane."""

    index: int
    module: str
    name: str
    arch: str = ""
    uuid: str = ""
    driver: str = ""
    memory_bytes: int | None = None
    bus_id: str = ""

    @property
    def card(self) -> str:
        """The device in words that let a person find it: name, architecture, module and index, hardware id, bus."""
        which = ", ".join(filter(None, (f"{self.module} {self.index}", self.uuid, self.bus_id)))
        return f"{' '.join(filter(None, (self.name, self.arch)))} ({which})"


class Environment(Record, frozen=True, kw_only=True):
    """The subject's interpreter and what it has installed (``packages``: name -> version)."""

    python: str
    implementation: str
    executable: str
    packages: dict[str, str] = {}


class WorkerEnd(StrEnum):
    """How a worker ended, as its keeper and the host saw it."""

    COMPLETED = "completed"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    OUTPUT = "output"
    INTERRUPTED = "interrupted"
    NOT_STARTED = "not_started"


class Purpose(StrEnum):
    """What a worker was started for.

    ``whole`` and ``rest`` (after a death) ran a unit. The others only told more of a case: it ``alone``, it ``after``
    those that had run before it, or new failures again, to ``confirm`` them.
    """

    WHOLE = "whole"
    REST = "rest"
    ALONE = "alone"
    AFTER = "after"
    CONFIRM = "confirm"


PARTS = frozenset({Purpose.WHOLE, Purpose.REST})
"""Workers whose results are the unit's own."""


class Worker(Record, frozen=True, kw_only=True):
    """One isolated child process and the unit it ran. ``number`` names its folder under ``workers/``.

    ``start_mode`` is what was observed, ``fallback`` why it is not what was requested.
    """

    number: int
    unit: str
    purpose: Purpose = Purpose.WHOLE
    end: WorkerEnd
    start_mode: str = ""
    start_requested: str = "spawn"
    fallback: str = ""
    containment: str = ""
    exit_code: int | None = None
    signal: str = ""
    seconds: float | None = None
    started: str = ""
    leftovers: int = 0
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    output_cut: bool = False
    devices: tuple[int, ...] = ()


class ErrorKind(StrEnum):
    """What makes a unit or a lane an execution error: none of these can be expected by a ratchet.

    ``runner``: the machine itself is at fault, such as by a device that is sick or is not proven, a process that can
    not be killed, or a full disk. ``infra`` is other trouble that no test has caused.
    """

    COLLECTION = "collection"
    DUPLICATE_IDS = "duplicate_ids"
    EMPTY_SELECTION = "empty_selection"
    ANOTHER_BUILD = "another_build"
    LOST_CASES = "lost_cases"
    UNDECLARED_DESELECTION = "undeclared_deselection"
    WORKER_CRASHED = "worker_crashed"
    WORKER_TIMEOUT = "worker_timeout"
    WORKER_OUTPUT = "worker_output"
    NO_FINAL_REPORT = "no_final_report"
    EXIT_DISAGREES = "exit_disagrees"
    STRANGER = "stranger"
    LEFTOVERS = "leftovers"
    HOST_LIBRARY_LEAKED = "host_library_leaked"
    ENVIRONMENT_CHANGED = "environment_changed"
    WRONG_ORIGIN = "wrong_origin"
    SETUP = "setup"
    INFRA = "infra"
    RUNNER = "runner"
    WRONG_DEVICE = "wrong_device"
    INTERRUPTED = "interrupted"
    HALTED = "halted"
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
    DEVICE_FAULT = "device_fault"


class ExecutionError(Record, frozen=True, kw_only=True):
    """A fault of the run itself, in a unit (or in the whole lane, when ``unit`` is empty).

    ``case`` is the culprit where one is known; ``failures`` are row numbers in ``failures.jsonl``.
    """

    kind: ErrorKind
    message: str
    cause: Cause = Cause.EXCEPTION
    unit: str = ""
    case: str = ""
    worker: int | None = None
    failures: tuple[int, ...] = ()


class Provider(Record, frozen=True, kw_only=True):
    """A module that answered for an upstream: the ``name`` that was imported, the module that it is, and its file.

    ``kind`` is ``candidate``, ``pin`` (the upstream's test code), ``upstream`` or ``private``.
    """

    name: str
    provider: str
    kind: str
    file: str | None = None
    sha256: str | None = None


class Report(Document, frozen=True, kw_only=True):
    """The head of a lane's evidence. Times are ISO 8601 in UTC.

    ``units`` are all the units that were asked for, in order. ``counts`` are computed from the cases. ``root`` is the
    folder that case ids are relative to, as the machine that ran the lane named it. ``facts`` are what a ratchet's
    ``when`` is matched against (``device.arch``, ``package.torch``, ``python``, ``system``).
    """

    schema: str = REPORT_SCHEMA
    lane: Lane
    provenance: Provenance
    root: str
    started: str
    ended: str
    units: tuple[str, ...]
    deselected: int = 0
    counts: dict[Outcome, int] = {}
    contract: dict[str, ContractField] = {}
    facts: dict[str, str] = {}
    devices: tuple[Device, ...] = ()
    environments: tuple[Environment, ...] = ()
    workers: tuple[Worker, ...] = ()
    errors: tuple[ExecutionError, ...] = ()
    providers: tuple[Provider, ...] = ()
    interrupted: str = ""
