"""What changed files select: one table of path templates, and the whole where it has no answer. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.catalogue.selection import Rules
from ci_toolkit.catalogue.selection_schema import PathConf
from ci_toolkit.model.ids import matches
from ci_toolkit.model.path_template import filled, fitted, fixed_start
from ci_toolkit.model.plan import Change
from ci_toolkit.plan.event import Changes

SHOWN = 5


@dataclass(frozen=True)
class Touched:
    """What a change selects. ``suites`` maps a suite to its units, None being the whole of it; ``lanes`` are globs that
    the fall-back adds. With ``all`` the change narrows nothing.
    """

    change: Change
    all: bool = False
    suites: dict[str, frozenset[str] | None] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    lanes: tuple[str, ...] = ()


def touched(rules: Rules, changes: Changes, confs: Sequence[LaneConf], present: Collection[str]) -> Touched:
    """What ``changes`` select among the suites of ``confs``; ``present`` are the files that the repository has.

    Non-code is subtracted first. A file that decides what runs (workflows, conf) selects everything, and so does not
    knowing what changed. A unit that is not there (a test file that was deleted) selects the whole of its suite.
    """
    if changes.files is None:
        return Touched(
            Change(base=changes.base, why=f"everything: {changes.why or 'the changes are not known'}"), all=True
        )
    files = sorted(set(changes.files))
    if not files:
        same = "everything: no file differs from the base, so this checkout is hardly that of the change"
        return Touched(Change(base=changes.base, why=same), all=True)
    deciding = [file for file in files if file.startswith(rules.conf) or _any(rules.ci, file)]
    code = [file for file in files if file in deciding or not _any(rules.non_code, file)]
    change = Change(base=changes.base, files=len(files), code=len(code))
    if deciding:
        return Touched(_said(change, f"everything: {_list(deciding)} decides what runs"), all=True)
    if not code:
        return Touched(_said(change, f"nothing: all {len(files)} changed files are non-code"))
    table = _Table(rules, confs, present)
    unmapped = [file for file in code if not table.takes(file)]
    lanes = rules.fallback if unmapped else ()
    words = f"{len(code)} of {len(files)} changed files are code"
    if unmapped:
        words += f"; no path names {_list(unmapped)}: the fall-back {_list(rules.fallback)} is selected"
    return Touched(_said(change, words), suites=table.suites, why=table.why, lanes=lanes)


class _Table:
    """Gathers what the rows of the table say of files. What each row needs is looked up once, and late: a table may
    have a row for each of thousands of suites.
    """

    def __init__(self, rules: Rules, confs: Sequence[LaneConf], present: Collection[str]) -> None:
        self.suites: dict[str, frozenset[str] | None] = {}
        self.why: dict[str, str] = {}
        self._present = present
        self._roots = {conf.lane.suite: None if conf.root_distribution else conf.root_path for conf in confs}
        self._rows = [(fixed_start(row.path), row) for row in rules.paths]
        self._named: dict[tuple[str, ...], list[str]] = {}

    def takes(self, file: str) -> bool:
        """Adds what the rows say of one file; whether one of them fits it."""
        fits = False
        for start, row in self._rows:
            values = fitted(row.path, file) if file.startswith(start) else None
            if values is not None:
                fits = True
                self._add(file, row, frozenset(filled(unit, values) for unit in row.units))
        return fits

    def _add(self, file: str, row: PathConf, units: frozenset[str]) -> None:
        for suite in self._suites_of(row):
            root = self._roots[suite]
            there = root is not None and all(_inside(root, unit) in self._present for unit in units)
            known = self.suites.get(suite, frozenset())
            self.suites[suite] = known | units if units and there and known is not None else None
            lost = " (whole: a test file that its row names is not there)" if units and not there else ""
            self.why.setdefault(suite, f"{file} fits {row.path}{lost}")

    def _suites_of(self, row: PathConf) -> list[str]:
        if row.suites not in self._named:
            self._named[row.suites] = [name for name in self._roots if any(matches(glob, name) for glob in row.suites)]
        return self._named[row.suites]


def _inside(root: str, unit: str) -> str:
    return unit if root in ("", ".") else f"{root.rstrip('/')}/{unit}"


def _any(templates: Sequence[str], file: str) -> bool:
    return any(fitted(template, file) is not None for template in templates)


def _said(change: Change, why: str) -> Change:
    return Change(base=change.base, files=change.files, code=change.code, why=why)


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
