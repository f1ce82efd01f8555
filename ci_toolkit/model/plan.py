"""``plan.json``: which lanes run for an event, and what each must deliver."""

import datetime
import hashlib
from collections.abc import Callable

from ci_toolkit.model.documents import Document, Record
from ci_toolkit.model.ids import lane_id
from ci_toolkit.model.provenance import Provenance

PLAN_SCHEMA = "plan/1"


class Selection(Record, frozen=True, kw_only=True):
    """What part of its suite a lane covers: the test files, or all of them when ``units`` is absent.

    Of a shard of the whole suite, ``mine`` are the units that it is known to run and ``others`` those of the other
    shards. Members outside the selection are neither missing nor judged. ``why`` says who narrowed it.
    """

    units: tuple[str, ...] | None = None
    mine: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    why: str = ""


class ExpectedDevice(Record, frozen=True, kw_only=True):
    """The device that a lane asks for: the module of ``devices/``, how many, and an architecture glob."""

    module: str
    count: int = 0
    arch: str = "*"


class Advisory(Record, frozen=True, kw_only=True):
    """A lane that is shown and does not block, until the day on which it is promoted."""

    until: datetime.date
    reason: str


class Lane(Record, frozen=True, kw_only=True):
    """One suite on one platform under one variant, perhaps one shard (number, from 1, and how many).

    ``build`` is the build of the subject that it tests, empty where its job installs the subject itself.
    ``expected_s`` is how long its units took before, absent where that is not known of any. ``why`` says
    what selected it.
    """

    id: str
    suite: str
    kind: str
    platform: str
    variant: str = ""
    shard: tuple[int, int] | None = None
    runs_on: tuple[str, ...] = ()
    timeout_s: float
    device: ExpectedDevice
    build: str = ""
    selection: Selection = Selection()
    expected_s: float | None = None
    advisory: Advisory | None = None
    why: str = ""

    def covers(self) -> Callable[[str], bool]:
        """Whether the lane runs a unit of its suite: a function of the unit's name."""
        selection, shard = self.selection, self.shard
        if selection.units is not None:
            return frozenset(selection.units).__contains__
        if shard is None:
            return lambda unit: True
        mine, others = frozenset(selection.mine), frozenset(selection.others)
        return lambda unit: unit in mine or (unit not in others and _home(unit, shard[1]) == shard[0])

    @property
    def unsharded(self) -> str:
        """The id that all shards of a lane have in common."""
        return lane_id(self.suite, self.platform, self.variant)

    @property
    def is_whole(self) -> bool:
        """Whether the lane, with the other shards of it, covers its whole suite."""
        return self.selection.units is None


def _home(unit: str, shards: int) -> int:
    """The shard, from 1, of a unit that was not known at planning: the same on each machine."""
    digest = hashlib.sha256(unit.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % shards + 1


class LeftOut(Record, frozen=True, kw_only=True):
    """A lane that the selection does not run, and the reason a person reads."""

    id: str
    reason: str
    named: bool = False


class Container(Record, frozen=True, kw_only=True):
    """The container that a job runs in, in the words of a workflow."""

    image: str
    options: str = ""
    volumes: tuple[str, ...] = ()


class Job(Record, frozen=True, kw_only=True):
    """One job of a matrix: its lanes run one after the other on one runner. ``chunk`` is its matrix, from 0."""

    id: str
    lanes: tuple[str, ...]
    platform: str
    runs_on: tuple[str, ...]
    timeout_minutes: int
    chunk: int = 0
    build: str = ""
    container: Container | None = None


class Build(Record, frozen=True, kw_only=True):
    """A build of the subject that lanes share: one job of a matrix, before those that run lanes."""

    id: str
    runs_on: tuple[str, ...]
    timeout_minutes: int
    container: Container | None = None


class Change(Record, frozen=True, kw_only=True):
    """What is known of the changed files. ``why`` says how they narrowed the plan, or why they could not.

    ``files`` is how many files changed and ``code`` how many of them are code, absent where that is not known. A plan
    without a lane is red unless no code is known to have changed.
    """

    base: str = ""
    files: int | None = None
    code: int | None = None
    why: str = ""


class Plan(Document, frozen=True, kw_only=True):
    """The lanes of one event.

    A plan for a fleet has ``jobs``, and ``builds`` where lanes share one; one for this machine has none. ``empty``
    (``pass`` or ``fail``) says what a plan without a lane means, ``notes`` how it came about. ``part_of`` is the digest
    of the plan that this is a part of.
    """

    schema: str = PLAN_SCHEMA
    event: str = "local"
    provenance: Provenance
    conf_digest: str
    lanes: tuple[Lane, ...]
    left_out: tuple[LeftOut, ...] = ()
    tier: str = ""
    change: Change | None = None
    builds: tuple[Build, ...] = ()
    jobs: tuple[Job, ...] = ()
    empty: str = "fail"
    notes: tuple[str, ...] = ()
    part_of: str = ""

    @property
    def may_be_empty(self) -> bool:
        """Whether no lane at all is right: the event's rule says so, and no code is known to have changed."""
        return self.empty == "pass" and self.change is not None and self.change.code == 0
