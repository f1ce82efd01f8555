"""Reads the events of a pytest worker into the story of its session."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from ci_toolkit.model.case import Failure
from ci_toolkit.model.documents import Record
from ci_toolkit.model.outcome import Outcome


class Row(Record, frozen=True, kw_only=True):
    """A collected case; ``withheld`` is the reason why it is never executed."""

    id: str
    line: int | None = None
    file: str = ""
    nodeid: str = ""
    withheld: str | None = None


class Event(Record, frozen=True, kw_only=True, rename={"kind": "e", "nonce": "n", "at": "t"}):
    """Any event of the plug-in or of the child itself; ``kind`` says which fields count.

    A ``finish`` with ``when`` tells of that phase too, and that it passed. ``at`` counts seconds since the worker
    began, ``boot`` is when that was, in seconds since the machine was started.
    """

    kind: str
    nonce: str = ""
    at: float = 0.0
    boot: float | None = None
    id: str = ""
    rows: tuple[Row, ...] = ()
    count: int = 0
    declared: bool = True
    ids: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    when: str = ""
    outcome: str = ""
    seconds: float | None = None
    reason: str = ""
    failure: Failure | None = None
    rerun: bool = False
    orphans: tuple[int, ...] = ()
    by: str = ""
    exitstatus: int | None = None
    pytest: str = ""
    python: str = ""
    implementation: str = ""
    executable: str = ""
    packages: dict[str, str] = {}


@dataclass
class Try:
    """One execution of a case: its phases as they were reported."""

    phases: list[Event] = field(default_factory=list)

    @property
    def outcomes(self) -> list[Outcome]:
        return [_outcome(phase.outcome) for phase in self.phases]


@dataclass
class Progress:
    """How far a case came."""

    row: Row
    started: bool = False
    finished: bool = False
    began: float = 0.0
    ended: float = math.inf
    orphans: tuple[int, ...] = ()
    tries: list[Try] = field(default_factory=list)


@dataclass
class Story:
    """All that a worker's events say, in order. ``torn`` is a last line that was cut short."""

    cases: dict[str, Progress] = field(default_factory=dict)
    duplicates: list[str] = field(default_factory=list)
    collected: int | None = None
    reported: int = 0
    declared: int = 0
    undeclared: list[Event] = field(default_factory=list)
    collect_errors: list[Event] = field(default_factory=list)
    stopped: list[Event] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    exitstatus: int | None = None
    pytest: str = ""
    hello: Event | None = None
    strangers: int = 0
    garbled: int = 0
    torn: bool = False


def _outcome(text: str) -> Outcome:
    try:
        return Outcome(text)
    except ValueError:
        return Outcome.ERROR


_DECODER = msgspec.json.Decoder(Event)


def read(lines: Iterable[bytes], nonce: str) -> Story:
    """The story that the lines of ``events.jsonl`` tell; a line without the worker's nonce is a stranger's."""
    story = Story()
    for line in lines:
        if not line.endswith(b"\n"):
            story.torn = True
            continue
        try:
            event = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            story.garbled += 1
            continue
        if event.nonce != nonce:
            story.strangers += 1
        else:
            _take(story, event)
    return story


def _take(story: Story, event: Event) -> None:
    if event.kind in {"start", "phase", "finish"}:
        progress = story.cases.get(event.id)
        if progress is None:
            if event.id not in story.unknown:
                story.unknown.append(event.id)
            return
        _advance(progress, event)
    elif event.kind == "cases":
        story.reported += len(event.rows)
        for row in event.rows:
            if row.id in story.cases:
                story.duplicates.append(row.id)
            else:
                story.cases[row.id] = Progress(row)
    elif event.kind == "collected":
        story.collected = event.count
        story.duplicates += [case for case in event.duplicates if case not in story.duplicates]
    elif event.kind == "deselected":
        if event.declared:
            story.declared += event.count
        else:
            story.undeclared.append(event)
    elif event.kind == "collect_error":
        story.collect_errors.append(event)
    elif event.kind == "stopped":
        story.stopped.append(event)
    elif event.kind == "hello":
        story.hello = event
    elif event.kind == "end":
        story.exitstatus, story.pytest = event.exitstatus, event.pytest


def _advance(progress: Progress, event: Event) -> None:
    if event.kind == "start":
        if not progress.started:
            progress.began = event.at
        progress.started, progress.finished = True, False
        progress.tries.append(Try())
        return
    if not progress.tries:
        progress.tries.append(Try())
    if event.kind == "finish":
        progress.finished, progress.ended = True, event.at
        progress.orphans += event.orphans
        if event.when:
            progress.tries[-1].phases.append(msgspec.structs.replace(event, outcome=Outcome.PASSED))
        return
    phases = progress.tries[-1].phases
    if event.when == "setup" and any(phase.when == "teardown" or phase.rerun for phase in phases):
        progress.tries.append(Try())
        phases = progress.tries[-1].phases
    phases.append(event)
