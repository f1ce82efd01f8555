"""What every kind of suite gives to a lane's run: its units, and what their workers' events mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.report import Environment, ErrorKind, ExecutionError, Provider, Worker
from ci_toolkit.workers.jobs import Leftover


@dataclass(frozen=True)
class Unit:
    """What one worker runs. ``options`` are for the kind's runner in the child; ``name`` is unique in the lane."""

    name: str
    options: dict[str, object]


@dataclass(frozen=True)
class Subject:
    """What a subject's interpreter says of itself.

    ``packages`` are all that is installed, name (in the form that the index uses) -> version. ``roots`` maps the
    distributions that were asked for to the folders that hold them; one that is not installed is left out. ``prefixes``
    are the folders of the interpreter and of its virtual environment.
    """

    executable: str
    python: str
    implementation: str
    system: str
    packages: dict[str, str]
    roots: dict[str, str] = field(default_factory=dict)
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A suite as it was found on this machine: the absolute ``root`` of its case ids, and its units in order.

    With ``faults`` nothing of it runs. ``pins`` are files that must be the same at the end, with their SHA-256, and
    ``contract`` are more strict fields of the lane's.
    """

    root: str
    runner: str
    units: tuple[Unit, ...]
    faults: tuple[tuple[ErrorKind, str], ...] = ()
    pins: Mapping[str, str] = field(default_factory=dict)
    contract: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Account:
    """What is known of a worker that ended: how, its events, and the tails of what it wrote.

    ``faults`` are execution errors that the workers' room found itself.
    """

    worker: Worker
    message: str
    nonce: str
    events: Path
    stdout: str = ""
    stderr: str = ""
    strangers: int = 0
    timed_out_case: str = ""
    error: ErrorKind | None = None
    faults: tuple[ExecutionError, ...] = ()
    left: tuple[Leftover, ...] = ()


@dataclass(frozen=True)
class UnitResult:
    """What one worker of a unit told. Row numbers in ``cases`` and ``errors`` count within its ``failures``, from 0.

    ``death`` is the error of a worker that ended too early for others to go on in a fresh one; ``culprit`` is the case
    that was running then, ``before`` are those that ran before it, in their order, and ``rest`` those that did not run.
    """

    cases: tuple[Case, ...] = ()
    failures: tuple[Failure, ...] = ()
    errors: tuple[ExecutionError, ...] = ()
    deselected: int = 0
    environment: Environment | None = None
    runner_version: str = ""
    providers: tuple[Provider, ...] = ()
    death: ExecutionError | None = None
    culprit: str = ""
    before: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


class Kind(Protocol):
    """The module of a kind of suite."""

    def find(self, conf: LaneConf, subject: Subject) -> Found:
        """The suite's root and all its units; raises UsageError where conf names what is not there."""

    def decode(self, unit: str, account: Account, root: str) -> UnitResult:
        """What became of a unit, from what its worker left."""
