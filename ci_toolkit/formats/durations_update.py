"""Takes evidence on disk into ``conf/durations.json``."""

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ci_toolkit.errors import NothingSelectedError, UsageError, Where
from ci_toolkit.formats.durations import Durations, ended, observed, read_durations, updated, write_durations
from ci_toolkit.formats.evidence import REPORT, attempt_folder, attempts, read_evidence
from ci_toolkit.formats.manifest import MANIFEST


@dataclass(frozen=True)
class Change:
    """What an update did: units timed, those new and those dropped, and lanes left out with the reason."""

    units: int
    added: int
    dropped: int
    left_out: dict[str, str]


def update_durations(path: Path, folders: Iterable[Path], today: datetime.date) -> Change:
    """Rewrites the file at ``path`` with what the evidence in ``folders`` shows.

    A folder is that of a lane's attempt, or one that holds lanes. Raises EvidenceError for evidence that can not be
    believed, NothingSelectedError when no unit completed, UsageError for a broken file or a folder without evidence;
    the file is then as it was.
    """
    before = read_durations(path)
    reports = sorted((read_evidence(folder).report for folder in sorted(set(_folders(folders)))), key=ended)
    seen = [run for report in reports for run in observed(report)]
    left_out = {
        report.lane.id: f"the run was interrupted ({report.interrupted})" for report in reports if report.interrupted
    }
    if not seen:
        raise NothingSelectedError("no unit completed in this evidence", Where(str(path)), "the file stays as it was")
    after = updated(before, seen, today)
    write_durations(path, after)
    old, new = _units(before), _units(after)
    return Change(len({(run.lane, run.unit) for run in seen}), len(new - old), len(old - new), left_out)


def _folders(given: Iterable[Path]) -> Iterator[Path]:
    for folder in given:
        if (folder / MANIFEST).exists() or (folder / REPORT).exists():
            yield folder
            continue
        lanes = sorted(path.name for path in folder.iterdir() if path.is_dir())
        found = [attempt_folder(folder, lane, attempt) for lane in lanes for attempt in attempts(folder, lane)]
        if not found:
            raise UsageError("holds no evidence", Where(str(folder)), "name LANE/aATTEMPT, or the --out of a run")
        yield from found


def _units(durations: Durations) -> set[tuple[str, str]]:
    return {(lane, unit) for lane, units in durations.lanes.items() for unit in units}
