"""Asks the NVIDIA driver through ``nvidia-smi``, and reads its three kinds of text. Parsing is pure."""

import csv
import re
import shutil
from collections.abc import Iterator, Mapping

from ci_toolkit.devices.command import run_command
from ci_toolkit.devices.cuda.cards import Card, NoAnswerError, Slice

PROGRAM = "nvidia-smi"
PATIENCE_S = 30.0
"""Without the persistence daemon the driver initialises each card for each call: seconds a card."""
CARD_FIELDS = (
    "index",
    "uuid",
    "name",
    "pci.bus_id",
    "driver_version",
    "memory.total",
    "compute_cap",
    "mig.mode.current",
)
MIB = 1 << 20

_UNKNOWN = re.compile(r"\[.*\]|N/A|", re.IGNORECASE)
_UNIT = re.compile(r"\s*\[[^\]]*\]$")
_SLICE = re.compile(r"\s+MIG (?P<name>\S+)\s+Device\s+\d+: \(UUID: (?P<uuid>MIG-[^)]+)\)")
_CARD = re.compile(r"GPU (?P<index>\d+): .*\(UUID: (?P<uuid>GPU-[^)]+)\)")
_LOG_LINE = re.compile(r"(?P<indent> *)(?P<key>\S.*?)\s*(?: : ?(?P<value>.*))?$")
_LOG_STEP = 4


def ask(*arguments: str) -> str:
    """What ``nvidia-smi ARGUMENT...`` prints. Raises NoAnswerError when it is not there, fails or hangs."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoAnswerError(f"{PROGRAM} is not on the path", absent=True)
    try:
        done = run_command([program, *arguments], PATIENCE_S)
    except OSError as error:
        raise NoAnswerError(f"{PROGRAM} can not be started: {error.strerror}") from error
    if done.cut is not None:
        raise NoAnswerError(f"{PROGRAM} gave no answer in {PATIENCE_S:.0f} s; the driver may be stuck")
    if done.exit_code:
        said = next((line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()), "")
        raise NoAnswerError(f"{PROGRAM} failed with status {done.exit_code}" + (f": {said[:300]}" if said else ""))
    return done.stdout


def query(kind: str, fields: tuple[str, ...], *arguments: str) -> list[dict[str, str]]:
    """The rows of ``--query-KIND``, e.g. ``gpu``. Raises NoAnswerError."""
    return rows(ask(f"--query-{kind}={','.join(fields)}", "--format=csv,nounits", *arguments))


def cards() -> tuple[Card, ...]:
    """All cards in the order of their index. Raises NoAnswerError."""
    found = cards_of(query("gpu", CARD_FIELDS))
    if any(card.mig for card in found):
        parts = slices_of(ask("-L"))
        found = tuple(_divided(card, parts) if card.mig else card for card in found)
    return found


def memory_and_processes(uuid: str) -> tuple[int, list[tuple[int, int | None]]]:
    """Free bytes of a card, and (pid, used bytes) of each process on it. Raises NoAnswerError."""
    if not uuid.startswith("GPU-"):
        raise NoAnswerError(f"{PROGRAM} does not tell the memory of a MIG device")
    free = [number(row["memory.free"]) for row in query("gpu", ("memory.free",), "-i", uuid)]
    if len(free) != 1 or free[0] is None:
        raise NoAnswerError(f"{PROGRAM} does not tell the free memory of {uuid}")
    return free[0] * MIB, processes_of(query("compute-apps", ("gpu_uuid", "pid", "used_gpu_memory")), uuid)


def rows(text: str) -> list[dict[str, str]]:
    """The rows of a table in CSV with its header, by the names of fields; units in the header are left out.

    Raises NoAnswerError for text that is no such table.
    """
    lines = list(csv.reader(text.splitlines(), skipinitialspace=True))
    if not lines:
        raise NoAnswerError(f"{PROGRAM} printed nothing")
    header = [_UNIT.sub("", name) for name in lines[0]]
    if any(len(line) != len(header) for line in lines[1:]):
        raise NoAnswerError(f"{PROGRAM} printed what is no table: {' '.join(lines[0])[:100]}")
    return [dict(zip(header, line, strict=True)) for line in lines[1:]]


def known(text: str | None) -> str:
    """``text``, empty for the ways in which ``nvidia-smi`` says that there is no value (``[N/A]``, ``N/A``)."""
    text = (text or "").strip()
    return "" if _UNKNOWN.fullmatch(text) else text


def number(text: str | None) -> int | None:
    """The whole number at the start of a value, with or without a unit after it; None when there is none."""
    match = re.match(r"-?\d+(?=[\s.]|$)", known(text))
    return int(match.group()) if match else None


def cards_of(table: list[Mapping[str, str]] | list[dict[str, str]]) -> tuple[Card, ...]:
    """Cards of a table with ``CARD_FIELDS``. Raises NoAnswerError for a table without an index or a UUID."""
    found = []
    for row in table:
        index, uuid = number(row.get("index")), known(row.get("uuid"))
        if index is None:
            raise NoAnswerError(f"{PROGRAM} lists a card without an index: {dict(row)}")
        memory = number(row.get("memory.total"))
        card = Card(
            index=index,
            uuid=uuid,
            name=known(row.get("name")),
            bus_id=known(row.get("pci.bus_id")),
            driver=known(row.get("driver_version")),
            memory_bytes=None if memory is None else memory * MIB,
            capability=known(row.get("compute_cap")),
            mig=known(row.get("mig.mode.current")) == "Enabled",
            fault="" if uuid else f"{PROGRAM} says {row.get('uuid', '')} for its UUID",
        )
        found.append(card)
    return tuple(found)


def slices_of(listing: str) -> dict[str, list[Slice]]:
    """The MIG devices of each card, by the card's UUID, from ``nvidia-smi -L``."""
    found: dict[str, list[Slice]] = {}
    card = ""
    for line in listing.splitlines():
        if match := _CARD.match(line):
            card = match["uuid"]
        elif match := _SLICE.match(line):
            found.setdefault(card, []).append(Slice(match["uuid"], match["name"]))
    return found


def _divided(card: Card, parts: Mapping[str, list[Slice]]) -> Card:
    named = tuple(Slice(part.uuid, f"{card.name} MIG {part.name}") for part in parts.get(card.uuid, ()))
    return Card(**{**card.__dict__, "slices": named})


def processes_of(table: list[dict[str, str]], uuid: str) -> list[tuple[int, int | None]]:
    """(pid, used bytes) of the processes on one card, from a table of compute processes."""
    found: dict[int, int | None] = {}
    for row in table:
        pid, used = number(row.get("pid")), number(row.get("used_gpu_memory"))
        if pid is not None and row.get("gpu_uuid") == uuid:
            found[pid] = None if used is None else used * MIB
    return sorted(found.items())


def log_of(text: str) -> dict[str, dict[str, str]]:
    """``nvidia-smi -q`` by card (its bus id): values by their path, e.g. ``ECC Errors/Volatile/DRAM Correctable``.

    What the driver tells of the whole machine stands in every card, under its plain name (``Driver Version``).
    """
    machine: dict[str, str] = {}
    found: dict[str, dict[str, str]] = {}
    for path, value in _log_lines(text):
        if path[0].startswith("GPU ") and bus_like(path[0][4:]):
            values = found.setdefault(path[0][4:], {})
            if len(path) > 1:
                values["/".join(path[1:])] = value
        elif len(path) == 1:
            machine[path[0]] = value
    return {bus: {**machine, **values} for bus, values in found.items()}


def bus_like(text: str) -> bool:
    """Whether ``text`` looks like ``00000000:00:06.0``."""
    return bool(re.fullmatch(r"[0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+\.[0-9A-Fa-f]", text))


def _log_lines(text: str) -> Iterator[tuple[list[str], str]]:
    path: list[str] = []
    for line in text.splitlines():
        match = _LOG_LINE.match(line)
        if not match or line.startswith("="):
            continue
        depth = len(match["indent"]) // _LOG_STEP
        path = [*path[:depth], match["key"]]
        yield path, (match["value"] or "").strip()
