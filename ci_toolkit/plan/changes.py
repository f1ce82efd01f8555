"""What changed files select: one table of path templates, and the whole where it has no answer. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.catalogue.selection import Rules
from ci_toolkit.catalogue.selection_schema import PathConf
from ci_toolkit.model.ids import matches
from ci_toolkit.model.path_template import filled, fitted
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
    suites: dict[str, frozenset[str] | None] = {}
    why: dict[str, str] = {}
    roots = {conf.lane.suite: None if conf.root_distribution else conf.root_path for conf in confs}
    named = [[name for name in roots if any(matches(glob, name) for glob in row.suites)] for row in rules.paths]
    rows = list(zip(rules.paths, named, strict=True))
    unmapped = [file for file in code if not _take(rows, file, roots, present, suites, why)]
    lanes = rules.fallback if unmapped else ()
    words = f"{len(code)} of {len(files)} changed files are code"
    if unmapped:
        words += f"; no path names {_list(unmapped)}: the fall-back {_list(rules.fallback)} is selected"
    return Touched(_said(change, words), suites=suites, why=why, lanes=lanes)


def _take(
    rows: Sequence[tuple[PathConf, Sequence[str]]],
    file: str,
    roots: Mapping[str, str | None],
    present: Collection[str],
    suites: dict[str, frozenset[str] | None],
    why: dict[str, str],
) -> bool:
    """Adds what the rows of the table, each with the suites that it names, say of one file; whether one fits it.

    ``roots`` are the folders of the suites, None for those of a distribution.
    """
    fits = False
    for row, named in rows:
        values = fitted(row.path, file)
        if values is None:
            continue
        fits = True
        for suite in named:
            units = frozenset(filled(unit, values) for unit in row.units)
            root = roots[suite]
            there = root is not None and all(_inside(root, unit) in present for unit in units)
            known = suites.get(suite, frozenset())
            suites[suite] = known | units if units and there and known is not None else None
            lost = " (whole: a test file that its row names is not there)" if units and not there else ""
            why.setdefault(suite, f"{file} fits {row.path}{lost}")
    return fits


def _inside(root: str, unit: str) -> str:
    return unit if root in ("", ".") else f"{root.rstrip('/')}/{unit}"


def _any(templates: Sequence[str], file: str) -> bool:
    return any(fitted(template, file) is not None for template in templates)


def _said(change: Change, why: str) -> Change:
    return Change(base=change.base, files=change.files, code=change.code, why=why)


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
