"""Ratchets at a glance, and what in them has gone stale. Pure."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from ci_toolkit.gates.ratchet_files import LoadedRatchet, entries_of, outcomes_of
from ci_toolkit.model.ids import matches
from ci_toolkit.model.ratchet import UNREVIEWED


@dataclass(frozen=True)
class Row:
    """One group, exclusion or skip rule. ``cases`` are those that it names, ``expires`` is empty where nothing does."""

    kind: str
    name: str
    outcome: str
    cases: int
    expires: str
    reason: str


def rows(ratchet: LoadedRatchet) -> list[Row]:
    """All that deviates from passing."""
    found = []
    for name, group in ratchet.ratchet.groups.items():
        outcome = "|".join(sorted(outcomes_of(group)))
        expires = group.expires.isoformat() if group.expires else ""
        found.append(Row("group", name, outcome, _size(entries_of(group.cases)), expires, group.reason))
    for kind in ("absent", "withheld"):
        for name, part in getattr(ratchet.ratchet, kind).items():
            found.append(Row(kind, name, kind, _size(entries_of(part.cases)), "", part.reason))
    found += [Row("skips", rule.reason, "skipped", rule.ceiling, "", rule.why) for rule in ratchet.ratchet.skips]
    return found


def stale(ratchet: LoadedRatchet, today: datetime.date, days: int) -> list[str]:
    """What must be mended, a line each with its place: expired, unreviewed, naming no member, or about to expire."""
    file = ratchet.file
    found = []
    for section in ("groups", "absent", "withheld"):
        for name, part in getattr(ratchet.ratchet, section).items():
            where = file.where(section, name)
            expires = getattr(part, "expires", None)
            if expires and expires < today:
                found.append(f"{where}: expired on {expires}")
            elif expires and expires <= today + datetime.timedelta(days=days):
                found.append(f"{where}: expires on {expires}, in {(expires - today).days} days")
            if part.reason.strip() in ("", UNREVIEWED):
                found.append(f"{where}: is not reviewed")
            for test_file, index, entry in entries_of(part.cases):
                members = ratchet.members.get(test_file, ())
                wanted = entry.exact or entry.glob
                count = sum(matches(entry.glob, case) for case in members) if entry.glob else members.count(wanted)
                place = file.where(section, name, "cases", test_file, index)
                if ratchet.members and not count:
                    found.append(f"{place}: {wanted!r} names no member")
                elif ratchet.members and entry.glob and count != entry.count:
                    found.append(f"{place}: {wanted!r} fits {count} members, not {entry.count}")
    return found


def _size(entries: Iterable[tuple[str, int, object]]) -> int:
    return sum(getattr(entry, "count", None) or 1 for _, _, entry in entries)
