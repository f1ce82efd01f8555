"""Reads a suite's ratchet for a platform, and refuses what no run could make right."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ci_toolkit.catalogue.yaml_file import Loaded, load
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.gates.members import read_members
from ci_toolkit.model.facts import fits
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.ratchet import RATCHET_SCHEMA, Entries, Group, Match, Pattern, Ratchet

SIGNED = frozenset({Outcome.FAILED, Outcome.ERROR})


@dataclass(frozen=True)
class LoadedRatchet:
    """The expectations of a suite on a platform, with their places in the file, and the suite's members."""

    file: Loaded[Ratchet]
    members: Mapping[str, tuple[str, ...]]

    @property
    def ratchet(self) -> Ratchet:
        """The expectations."""
        return self.file.value


def load_ratchet(folder: Path, platform: str) -> LoadedRatchet:
    """Reads ``PLATFORM.yml`` and the members.

    Raises UsageError for a missing file and for what is not valid: a glob without a count, a group without an expiry,
    several outcomes without ``seen``, a failure that is to be matched without a signature.
    """
    file = load(folder / f"{platform}.yml", Ratchet, schema=RATCHET_SCHEMA)
    for name, group in file.value.groups.items():
        _check_group(file, name, group)
    for section in ("groups", "absent", "withheld"):
        for name, part in getattr(file.value, section).items():
            _check_entries(file, (section, name, "cases"), part.cases)
            _check_when(file, (section, name, "when"), part.when)
    for index, rule in enumerate(file.value.skips):
        _check_when(file, ("skips", index, "when"), rule.when)
        if rule.ceiling < 1:
            raise UsageError("a ceiling is at least 1", file.where("skips", index, "ceiling"))
    return LoadedRatchet(file, read_members(folder))


def outcomes_of(group: Group) -> frozenset[Outcome]:
    """The outcomes that a group accepts."""
    return frozenset([group.outcome] if isinstance(group.outcome, Outcome) else group.outcome)


def entries_of(cases: Entries) -> Iterator[tuple[str, int, Pattern]]:
    """(test file, position, entry) of each entry; plain text is an exact id."""
    for file, entries in cases.items():
        for index, entry in enumerate(entries):
            yield file, index, Pattern(exact=entry) if isinstance(entry, str) else entry


def _check_group(file: Loaded[Ratchet], name: str, group: Group) -> None:
    outcomes = outcomes_of(group)
    key = ("groups", name)
    if not outcomes or outcomes == {Outcome.PASSED}:
        raise UsageError("passing needs no expectation", file.where(*key, "outcome"), "remove the group")
    if {Outcome.MISSING, Outcome.NOT_RUN} & outcomes:
        raise UsageError("what did not run can not be expected", file.where(*key, "outcome"), "use absent or withheld")
    if len(outcomes) > 1 and group.seen is None:
        raise UsageError("several outcomes need 'seen' (runs, failed, max_rate)", file.where(*key, "outcome"))
    if group.seen and not (0 <= group.seen.failed <= group.seen.runs and 0 < group.seen.max_rate < 1):
        raise UsageError("needs 0 <= failed <= runs and a max_rate between 0 and 1", file.where(*key, "seen"))
    if group.expires is None and outcomes != {Outcome.SKIPPED}:
        raise UsageError("a deviation needs a day on which it expires", file.where(*key), "add expires: YYYY-MM-DD")
    if group.match is not Match.ANY and outcomes & SIGNED and not group.signature:
        raise UsageError(
            f"match: {group.match} needs a signature", file.where(*key), "add one, or say match: any with care"
        )


def _check_entries(file: Loaded[Ratchet], key: tuple[str | int, ...], cases: Entries) -> None:
    if not any(cases.values()):
        raise UsageError("names no case", file.where(*key))
    for test_file, index, entry in entries_of(cases):
        where = file.where(*key, test_file, index)
        if bool(entry.glob) == bool(entry.exact):
            raise UsageError("give either a glob or an exact id", where)
        plain = isinstance(cases[test_file][index], str)
        if plain and "*" in entry.exact:
            raise UsageError(
                f"{entry.exact!r} holds a *", where, f'write {{glob: "{entry.exact}", count: N}} or {{exact: ...}}'
            )
        if entry.glob and (entry.count is None or entry.count < 1):
            raise UsageError(f"the glob {entry.glob!r} needs the exact count of its cases", where)


def _check_when(file: Loaded[Ratchet], key: tuple[str | int, ...], when: Mapping[str, str | tuple[str, ...]]) -> None:
    for name, wanted in when.items():
        for value in _values(wanted):
            try:
                fits(value, "0")
            except ValueError as error:
                raise UsageError(str(error), file.where(*key, name)) from error


def _values(wanted: str | tuple[str, ...]) -> Iterable[str]:
    return (wanted,) if isinstance(wanted, str) else wanted


def no_ratchet(folder: Path, platform: str) -> str:
    """Why a suite has no expectations for a platform; empty when it has."""
    path = folder / f"{platform}.yml"
    return "" if path.is_file() else str(Where(str(path))) + ": there is no such file"
