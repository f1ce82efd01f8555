"""``plan.json``: which lanes run for an event, and what each must deliver."""

from ci_toolkit.model.documents import Document, Record
from ci_toolkit.model.provenance import Provenance

PLAN_SCHEMA = "plan/1"


class Selection(Record, frozen=True, kw_only=True):
    """What part of its suite a lane covers: the test files, or all of them when ``units`` is absent.

    Members outside ``units`` are neither missing nor judged. ``why`` says who narrowed it.
    """

    units: tuple[str, ...] | None = None
    why: str = ""


class ExpectedDevice(Record, frozen=True, kw_only=True):
    """The device that a lane asks for: the module of ``devices/``, how many, and an architecture glob."""

    module: str
    count: int = 0
    arch: str = "*"


class Lane(Record, frozen=True, kw_only=True):
    """One suite on one platform under one variant, perhaps one shard: one job of the matrix."""

    id: str
    suite: str
    kind: str
    platform: str
    variant: str = ""
    shard: tuple[int, int] | None = None
    runs_on: tuple[str, ...] = ()
    timeout_s: float
    device: ExpectedDevice
    selection: Selection = Selection()


class LeftOut(Record, frozen=True, kw_only=True):
    """A lane that the selection does not run, and the reason a person reads."""

    id: str
    reason: str
    named: bool = False


class Plan(Document, frozen=True, kw_only=True):
    """The lanes of one event."""

    schema: str = PLAN_SCHEMA
    event: str = "local"
    provenance: Provenance
    conf_digest: str
    lanes: tuple[Lane, ...]
    left_out: tuple[LeftOut, ...] = ()
