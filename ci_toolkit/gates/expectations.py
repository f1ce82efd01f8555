"""Resolves a ratchet for one run: which case each entry names, under which conditions. Pure."""

import datetime
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ci_toolkit.errors import Where
from ci_toolkit.gates.lane import Findings, LaneInput
from ci_toolkit.gates.ratchet_files import LoadedRatchet, entries_of, outcomes_of
from ci_toolkit.model.facts import fits_any
from ci_toolkit.model.ids import matches, split_case
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.ratchet import UNREVIEWED, Entries, Exclusion, Group
from ci_toolkit.model.verdict import FindingKind


@dataclass(frozen=True)
class Expected:
    """What a ratchet says of the cases of one run. All ids are whole case ids.

    ``members`` are those of the selection, None where the suite lists none.
    """

    members: frozenset[str] | None
    groups: Mapping[str, tuple[str, Group]] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    withheld: Mapping[str, str] = field(default_factory=dict)


def applies(when: Mapping[str, str | tuple[str, ...]], facts: Mapping[str, str]) -> bool:
    """Whether all conditions hold; one about a fact that is not known does not."""
    return all(name in facts and fits_any(wanted, facts[name]) for name, wanted in when.items())


def resolve(lane: LaneInput, observed: Iterable[str], today: datetime.date, findings: Findings) -> Expected:
    """The expectations for the lane's run; faults of the ratchet itself become findings.

    An entry is looked up among the members and the observed cases of its test file. Files outside the lane's selection
    are not judged.
    """
    assert lane.ratchet is not None
    assert lane.seen is not None
    ratchet = lane.ratchet
    facts = lane.seen.report.facts
    universe = _universe(ratchet, observed)
    selected = _Selected(lane)
    groups: dict[str, tuple[str, Group]] = {}
    owners: dict[str, tuple[str, str]] = {}
    exclusions: dict[str, dict[str, str]] = {"absent": {}, "withheld": {}}
    for section in ("groups", "absent", "withheld"):
        parts: Mapping[str, Group | Exclusion] = getattr(ratchet.ratchet, section)
        for name, part in parts.items():
            _review(lane, section, name, part, today, findings)
            if not applies(part.when, facts):
                continue
            for case, where in _cases(ratchet, section, name, part.cases, universe, selected, findings):
                if case in owners and owners[case] != (section, name):
                    findings.add(
                        FindingKind.CONFLICTING_ENTRIES,
                        case,
                        f"is named by {owners[case][1]} and by {name}: a case is in one group at most",
                        where=where,
                        cases=[case],
                    )
                    continue
                owners[case] = (section, name)
                if isinstance(part, Group):
                    groups[case] = (name, part)
                else:
                    exclusions[section][case] = part.reason
    members = None
    if ratchet.members:
        members = frozenset(
            f"{file}::{rest}" if rest != file else file
            for file, rests in ratchet.members.items()
            if selected.has(file)
            for rest in rests
        )
    return Expected(members, groups, exclusions["absent"], exclusions["withheld"])


def withheld_cases(ratchet: LoadedRatchet, facts: Mapping[str, str]) -> dict[str, str]:
    """Case id -> reason of the members that are never executed on this platform."""
    universe = _universe(ratchet, ())
    found: dict[str, str] = {}
    for part in ratchet.ratchet.withheld.values():
        if applies(part.when, facts):
            for file, _, entry in entries_of(part.cases):
                rests = universe.get(file, {})
                named = [entry.exact] if entry.exact else [rest for rest in rests if matches(entry.glob, rest)]
                found |= {f"{file}::{rest}": part.reason for rest in named}
    return found


def known_outcomes(ratchet: LoadedRatchet, facts: Mapping[str, str]) -> Callable[[str], frozenset[Outcome]]:
    """How a case may end by the groups that apply here, looked up by its id; empty for a case that must pass."""
    exact: dict[str, frozenset[Outcome]] = {}
    globs: dict[str, list[tuple[str, frozenset[Outcome]]]] = {}
    for group in ratchet.ratchet.groups.values():
        if applies(group.when, facts):
            for file, _, entry in entries_of(group.cases):
                if entry.exact:
                    exact[f"{file}::{entry.exact}"] = outcomes_of(group)
                else:
                    globs.setdefault(file, []).append((entry.glob, outcomes_of(group)))

    def of(case: str) -> frozenset[Outcome]:
        file, rest = split_case(case)
        found = exact.get(case)
        return found or next((outcomes for glob, outcomes in globs.get(file, ()) if matches(glob, rest)), frozenset())

    return of


class _Selected:
    """Which test files the lane's selection covers."""

    def __init__(self, lane: LaneInput) -> None:
        self._covers = lane.lane.covers()

    def has(self, file: str) -> bool:
        return self._covers(file)


def _universe(ratchet: LoadedRatchet, observed: Iterable[str]) -> dict[str, dict[str, None]]:
    universe: dict[str, dict[str, None]] = {file: dict.fromkeys(rests) for file, rests in ratchet.members.items()}
    for case in observed:
        file, rest = split_case(case)
        universe.setdefault(file, {})[rest] = None
    return universe


def _cases(
    ratchet: LoadedRatchet,
    section: str,
    name: str,
    cases: Entries,
    universe: Mapping[str, Mapping[str, None]],
    selected: _Selected,
    findings: Findings,
) -> Iterable[tuple[str, Where]]:
    for file, index, entry in entries_of(cases):
        if not selected.has(file):
            continue
        where = ratchet.file.where(section, name, "cases", file, index)
        rests = universe.get(file, {})
        label = f"{name}: {file}::{entry.exact or entry.glob}"
        if entry.exact:
            found = [entry.exact] if entry.exact in rests else []
        else:
            found = [rest for rest in rests if matches(entry.glob, rest)]
        if not found:
            close = difflib.get_close_matches(entry.exact or entry.glob, list(rests)[:5000], 1)
            hint = f"; the nearest is {close[0]!r}" if close else ""
            findings.add(
                FindingKind.UNMATCHED_ENTRY, label, f"the entry {label} names no case{hint}", where=where, group=name
            )
        elif entry.glob and len(found) != entry.count:
            findings.add(
                FindingKind.GLOB_COUNT,
                label,
                f"the glob {label} fits {len(found)} cases, not {entry.count}",
                where=where,
                group=name,
                expected=str(entry.count),
                observed=str(len(found)),
            )
        yield from ((f"{file}::{rest}", where) for rest in found)


def _review(
    lane: LaneInput, section: str, name: str, part: Group | Exclusion, today: datetime.date, findings: Findings
) -> None:
    assert lane.ratchet is not None
    file = lane.ratchet.file
    issue = str(part.issue or "")
    if not part.reason.strip() or part.reason.strip() == UNREVIEWED:
        said = f"is {part.reason.strip()}" if part.reason.strip() else "is empty"
        findings.add(
            FindingKind.UNREVIEWED,
            f"{section}.{name}",
            f"the reason of {section}.{name} {said}: a person must say why",
            where=file.where(section, name, "reason"),
            group=name,
            issue=issue,
        )
    if isinstance(part, Group) and part.expires is not None and part.expires < today:
        findings.add(
            FindingKind.EXPIRED,
            f"{section}.{name}",
            f"{section}.{name} expired on {part.expires}: mend its cases, or review it again",
            where=file.where(section, name, "expires"),
            group=name,
            issue=issue,
        )
    seen = part.seen if isinstance(part, Group) else None
    if seen and seen.runs and seen.failed / seen.runs > seen.max_rate:
        findings.add(
            FindingKind.TOO_INTERMITTENT,
            f"{section}.{name}",
            f"{section}.{name} failed in {seen.failed} of {seen.runs} runs, more than the rate {seen.max_rate:g}",
            where=file.where(section, name, "seen"),
            group=name,
            issue=issue,
        )
