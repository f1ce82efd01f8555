"""Changes of ratchets on disk: proposals beside them, acceptances with a reason, promotions. Nothing is overwritten."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.formats.digests import digest_of_file
from ci_toolkit.formats.documents import write_atomically
from ci_toolkit.formats.evidence import REPORT, read_evidence
from ci_toolkit.gates.judge import compare
from ci_toolkit.gates.lane import Findings, LaneInput, Seen
from ci_toolkit.gates.members import read_members, write_members
from ci_toolkit.gates.proposal import Proposal, document, propose
from ci_toolkit.gates.ratchet_edit import add_groups, add_skips, read_text, remove_cases, render
from ci_toolkit.gates.ratchet_files import LoadedRatchet, load_ratchet, no_ratchet
from ci_toolkit.gates.uniting import united
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.ratchet import UNREVIEWED
from ci_toolkit.model.verdict import FindingKind
from ci_toolkit.suites.collect import seen_of


@dataclass(frozen=True)
class Change:
    """What a command did to a ratchet: the files it wrote, and a line for each thing that changed."""

    files: tuple[str, ...]
    lines: tuple[str, ...]


def write_proposal(conf: LaneConf, evidence: Sequence[Path], out: Path, today: datetime.date) -> Change:
    """Writes what the run in ``evidence`` (a folder for each shard) would change, as a ratchet in ``OUT/SUITE``.

    Raises UsageError when there is a proposal already, EvidenceError for a run that can not say what is normal.
    """
    folder = out / conf.lane.suite
    target = folder / f"{conf.expectations}.yml"
    if target.exists():
        raise UsageError("there is a proposal already", Where(str(target)), "accept it, or name another --out")
    lane, seen = _input(conf, evidence)
    proposal = propose(lane, seen, today)
    folder.mkdir(parents=True, exist_ok=True)
    sources = (f"{place.parent.name}/{place.name} sha256:{digest_of_file(place / REPORT)}" for place in evidence)
    write_members(folder, proposal.members)
    write_atomically(target, render(document(proposal, ", ".join(sources))).encode())
    return Change((str(target), str(folder / "members")), tuple(_told(proposal)))


def accept(conf: LaneConf, proposal: Path, reason: str, today: datetime.date, only: tuple[str, ...] = ()) -> Change:
    """Takes a proposal's groups and skip rules, and its members, into the suite's ratchet with ``reason``.

    ``only`` names the groups to take; the members are taken with all of them only. Raises UsageError for an empty
    reason and for a group that the ratchet has already.
    """
    if not reason.strip() or reason.strip() == UNREVIEWED:
        raise UsageError("an acceptance needs a reason that a person gives", hint="give --reason")
    folder = _ratchet_folder(conf)
    loaded = load_ratchet(proposal, conf.expectations)
    unknown = [name for name in only if name not in loaded.ratchet.groups]
    if unknown:
        raise UsageError(f"the proposal has no group {unknown[0]!r}", Where(loaded.file.path))
    data: dict[str, Any] = msgspec.to_builtins(loaded.ratchet)
    groups = {name: group for name, group in data["groups"].items() if not only or name in only}
    for group in groups.values():
        group["reason"] = reason
        group["expires"] = datetime.date.fromisoformat(group["expires"]) if group.get("expires") else None
    groups = {name: _brief(group) for name, group in groups.items()}
    skips = [] if only else [_brief({**rule, "why": reason}) for rule in data["skips"]]
    target = folder / f"{conf.expectations}.yml"
    if no_ratchet(folder, conf.expectations):
        head = {name: data[name] for name in ("schema", "signature_scheme", "membership", "contract", "evidence")}
        text = render(head)
    else:
        text = read_text(target)
    cases = {
        f"{file}::{entry if isinstance(entry, str) else entry['exact']}"
        for group in groups.values()
        for file, entries in group["cases"].items()
        for entry in entries
    }
    text, removed = remove_cases(text, cases)
    text = add_groups(text, groups) if groups else text
    text = add_skips(text, skips) if skips else text
    lines = [f"+ group {name}: {reason}" for name in groups] + [f"+ skips {rule['reason']!r}" for rule in skips]
    lines += [f"- {line}" for line in removed]
    folder.mkdir(parents=True, exist_ok=True)
    if not only:
        lines += _take_members(folder, loaded.members)
    _write_checked(target, text, conf.expectations)
    return Change((str(target),), tuple(lines))


def promote(conf: LaneConf, evidence: Sequence[Path], today: datetime.date) -> Change:
    """Deletes the lines of the cases that pass now, and no others. ``evidence`` has a folder for each shard."""
    lane, seen = _input(conf, evidence)
    if seen.report.interrupted or any(not error.case for error in seen.report.errors):
        raise UsageError("the run had execution errors: nothing is promoted by it", Where(seen.folder))
    if lane.ratchet is None:
        raise UsageError(lane.no_ratchet or "the suite has no ratchet", Where(conf.lane.id))
    findings = Findings(lane)
    compare(lane, seen, today, findings)
    passing = {case.id for case in findings.cases(FindingKind.UNEXPECTED_PASS) if case.outcome is Outcome.PASSED}
    target = Path(lane.ratchet.file.path)
    text, removed = remove_cases(read_text(target), passing)
    if removed:
        _write_checked(target, text, conf.expectations)
    return Change((str(target),) if removed else (), tuple(f"- {line}" for line in removed))


def ratchets(catalogue: Catalogue) -> dict[str, LoadedRatchet]:
    """``SUITE/PLATFORM`` -> the ratchet, of all lanes that have one."""
    found = {}
    for conf in catalogue.lanes:
        folder = Path(conf.conf, conf.ratchet)
        name = f"{conf.lane.suite}/{conf.expectations}"
        if conf.ratchet and name not in found and not no_ratchet(folder, conf.expectations):
            found[name] = load_ratchet(folder, conf.expectations)
    return found


def _input(conf: LaneConf, folders: Sequence[Path]) -> tuple[LaneInput, Seen]:
    """A lane's own evidence and ratchet, with the selection that the run had."""
    shards = [seen_of(read_evidence(folder)) for folder in folders]
    for seen in shards:
        lane = seen.report.lane
        if lane.unsharded != conf.lane.unsharded:
            raise UsageError(f"holds evidence of lane {lane.id!r}, not {conf.lane.unsharded!r}", Where(seen.folder))
    seen = united(shards)
    path = Path(conf.conf, conf.ratchet)
    absent = no_ratchet(path, conf.expectations) if conf.ratchet else "the suite names no ratchet"
    ratchet = None if absent else load_ratchet(path, conf.expectations)
    return LaneInput(seen.report.lane, seen=seen, ratchet=ratchet, no_ratchet=absent), seen


def _ratchet_folder(conf: LaneConf) -> Path:
    if not conf.ratchet:
        raise UsageError(f"suite {conf.lane.suite} names no ratchet", hint="add one in suites.yml")
    return Path(conf.conf, conf.ratchet)


def _take_members(folder: Path, members: Any) -> list[str]:
    before = read_members(folder)
    write_members(folder, members)
    lines = []
    for file, cases in members.items():
        old, new = set(before.get(file, ())), set(cases)
        if old != new:
            lines.append(f"~ members of {file}: {len(new - old)} added, {len(old - new)} removed")
    lines += [f"! members of {file} are kept: the proposal has no such file" for file in before if file not in members]
    return lines


def _write_checked(path: Path, text: str, platform: str) -> None:
    """Writes a ratchet and reads it back; what was there before is restored when it is not valid."""
    before = path.read_bytes() if path.exists() else None
    write_atomically(path, text.encode())
    restore: Callable[[], object] = path.unlink if before is None else lambda: write_atomically(path, before)
    try:
        load_ratchet(path.parent, platform)
    except UsageError:
        restore()
        raise


def _brief(part: dict[str, Any]) -> dict[str, Any]:
    """A group or rule without what says nothing, also in its entries."""
    kept = {name: value for name, value in part.items() if value not in ("", None, {}, [], ())}
    if "cases" in kept:
        kept["cases"] = {file: [_entry(entry) for entry in entries] for file, entries in part["cases"].items()}
    return kept


def _entry(entry: Any) -> Any:
    return _brief(entry) if isinstance(entry, dict) else entry


def _told(proposal: Proposal) -> list[str]:
    count = sum(len(cases) for cases in proposal.members.values())
    lines = [f"{count} members in {len(proposal.members)} test files"]
    lines += [f"+ group {name}: {group['outcome']}, {_cases(group)} cases" for name, group in proposal.groups.items()]
    lines += [f"+ skips {rule['reason']!r}: {rule['ceiling']} cases" for rule in proposal.skips]
    lines += [f"~ {case} leaves the group that names it now" for case in proposal.moved]
    return lines


def _cases(group: dict[str, Any]) -> int:
    return sum(len(entries) for entries in group["cases"].values())
