"""``conf/durations.json``: how long each unit took in its last runs, so that the long ones start first.

It only orders the work: no verdict depends on it, and where it says nothing a unit counts as long. One unit is one
line, so that an update is a small difference in a review.
"""

import datetime
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from ci_toolkit.errors import EvidenceError, UsageError, Where
from ci_toolkit.formats.documents import decode_document, encode, write_atomically
from ci_toolkit.model.documents import Document, Record
from ci_toolkit.model.plan import Lane
from ci_toolkit.model.report import PARTS, Purpose, Report, WorkerEnd

DURATIONS = "durations.json"
DURATIONS_SCHEMA = "durations/1"
KEPT_RUNS = 10
KEPT_DAYS = 90
DIGITS = 3
"""Milliseconds are enough to order units by."""
HINT = "it only orders the work: delete it, or write it anew with ci-toolkit durations update"

Seconds = Annotated[float, Meta(ge=0)]


class Duration(Record, frozen=True, kw_only=True):
    """A unit's last runs: ``seconds`` of each, oldest first, and the day of the newest, in UTC."""

    seen: datetime.date
    seconds: Annotated[tuple[Seconds, ...], Meta(min_length=1)]

    @property
    def expected(self) -> float:
        """Seconds that the next run is expected to take: the median, which one slow run does not move."""
        return statistics.median(self.seconds)


class Durations(Document, frozen=True, kw_only=True):
    """Lane (its shards are one) -> unit -> its last runs."""

    schema: str = DURATIONS_SCHEMA
    lanes: dict[str, dict[str, Duration]] = {}

    def of(self, lane: Lane) -> dict[str, float]:
        """Unit -> expected seconds, of the units that are known."""
        return {unit: duration.expected for unit, duration in self.lanes.get(lane.unsharded, {}).items()}


@dataclass(frozen=True)
class Observed:
    """One unit's time in one run."""

    lane: str
    unit: str
    seconds: float
    day: datetime.date


def observed(report: Report) -> Iterator[Observed]:
    """The times of the units that one worker ran from beginning to end; none from a run that was interrupted.

    Raises EvidenceError for a report whose times can not be.
    """
    day = ended(report).date()
    if report.interrupted:
        return
    workers = Counter(worker.unit for worker in report.workers if worker.purpose in PARTS)
    for worker in report.workers:
        if worker.purpose is not Purpose.WHOLE or worker.end is not WorkerEnd.COMPLETED or worker.seconds is None:
            continue
        if worker.seconds < 0:
            raise EvidenceError(f"{report.lane.id}: worker {worker.number} ran for {worker.seconds} s")
        if workers[worker.unit] == 1:
            yield Observed(report.lane.unsharded, worker.unit, worker.seconds, day)


def ended(report: Report) -> datetime.datetime:
    """When a run ended, in UTC; raises EvidenceError where that is no time."""
    try:
        return datetime.datetime.fromisoformat(report.ended).astimezone(datetime.UTC)
    except (ValueError, OverflowError) as error:
        raise EvidenceError(f"{report.lane.id}: ended at {report.ended!r}, which is no time") from error


def updated(durations: Durations, seen: Iterable[Observed], today: datetime.date) -> Durations:
    """``durations`` with what was seen since, oldest first; a unit not seen for KEPT_DAYS is dropped."""
    lanes = {lane: dict(units) for lane, units in durations.lanes.items()}
    for run in seen:
        units = lanes.setdefault(run.lane, {})
        known = units.get(run.unit)
        seconds = (*(known.seconds if known else ()), round(run.seconds, DIGITS))[-KEPT_RUNS:]
        units[run.unit] = Duration(seen=max(known.seen, run.day) if known else run.day, seconds=seconds)
    oldest = today - datetime.timedelta(days=KEPT_DAYS)
    kept = {
        lane: {unit: duration for unit, duration in units.items() if duration.seen >= oldest}
        for lane, units in lanes.items()
    }
    return Durations(lanes={lane: units for lane, units in kept.items() if units})


def read_durations(path: Path) -> Durations:
    """What the file says, nothing where there is no file. Raises UsageError, with the line, for one that is broken."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Durations()
    except OSError as error:
        raise UsageError(f"can not be read: {error.strerror}", Where(str(path))) from error
    try:
        json.loads(data)
        return decode_document(data, Durations, str(path))
    except json.JSONDecodeError as error:
        raise UsageError(f"is not JSON: {error.msg}", Where(str(path), error.lineno), HINT) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UsageError("is not JSON", Where(str(path)), HINT) from error
    except EvidenceError as error:
        raise UsageError(error.message, error.where, HINT) from error


def write_durations(path: Path, durations: Durations) -> None:
    """Writes the file whole or not at all; the same durations give the same bytes. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, render(durations))
    except OSError as error:
        raise UsageError(f"can not be written: {error.strerror}", Where(str(path))) from error


def render(durations: Durations) -> bytes:
    """The bytes of the file: sorted, one unit a line."""
    lanes = [
        b" %b: {\n%b\n }" % (encode(lane), b",\n".join(_lines(units)))
        for lane, units in sorted(durations.lanes.items())
    ]
    head = b'{\n"schema": %b,\n"min_reader": %d,\n' % (encode(durations.schema), durations.min_reader)
    return head + (b'"lanes": {\n%b\n}\n}\n' % b",\n".join(lanes) if lanes else b'"lanes": {}\n}\n')


def _lines(units: Mapping[str, Duration]) -> Iterator[bytes]:
    for unit, duration in sorted(units.items()):
        seconds = b", ".join(encode(second) for second in duration.seconds)
        yield b'  %b: {"seen": %b, "seconds": [%b]}' % (encode(unit), encode(duration.seen), seconds)
