"""Merges JUnit files as a stream: each file is checked while the bytes of its suites are copied.

The root's counters are computed from the cases. What can not be read whole is refused, and nothing is written then.
"""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from ci_toolkit.errors import EvidenceError, InfrastructureError, UsageError, Where
from ci_toolkit.formats.junit_words import (
    AS_ERROR,
    LONGEST_S,
    MAX_DEPTH,
    RERUNS,
    SUITES,
    TAG_BYTES,
    count_of,
    outcome_by_status,
    seconds_of,
)
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.text import clip, one_line

BLOCK = 1 << 20
HEAD_BYTES = 200
DUPLICATES_NAMED = 20


@dataclass
class Merged:
    """What a merge found: counts of all cases, known seconds, and cases that are in it more than once."""

    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float = 0.0
    duplicates: int = 0
    named: list[str] = field(default_factory=list)


def merge_junit(target: Path, sources: Iterable[Path]) -> Merged:
    """Writes the suites that hold cases into one file, in their order; ``target`` is replaced only by a whole file.

    Raises EvidenceError for a file that is not whole, is no JUnit file, holds no case, claims failures that it does not
    show, or is not UTF-8 without a document type and namespaces of its root; UsageError or InfrastructureError for a
    target that can not be written.
    """
    files = list(sources)
    if not files:
        raise UsageError("names no file to merge")
    if target.is_dir():
        raise UsageError("is a folder", Where(str(target)))
    merged = Merged()
    seen: set[int] = set()
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    except OSError as error:
        raise UsageError(f"can not be written: {error.strerror}", Where(str(target))) from error
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(b" " * HEAD_BYTES)
            for path in files:
                _Copy(path, merged, seen).run(out)
            out.write(b"\n</testsuites>\n")
            out.seek(0)
            out.write(_head(merged))
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except OSError as error:
        raise InfrastructureError(f"can not be written: {error.strerror}", Where(str(target))) from error
    finally:
        Path(name).unlink(missing_ok=True)
    return merged


def _head(merged: Merged) -> bytes:
    counters = f'tests="{merged.tests}" failures="{merged.failures}" errors="{merged.errors}"'
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {counters} skipped="{merged.skipped}"'
    head += f' time="{merged.seconds:.6f}"'
    return head.encode().ljust(HEAD_BYTES - 2) + b">\n"


@dataclass
class _Suite:
    """A suite that is open: where it starts, what it claims, and what was shown before it."""

    start: int
    claimed: int
    shown: int
    reruns: int
    cases: int
    place: int
    copied: bool


class _Copy:
    """One file on its way into the merged one: the bytes between the start and the end of its suites are copied."""

    def __init__(self, path: Path, merged: Merged, seen: set[int]) -> None:
        self._path = path
        self._merged = merged
        self._seen = seen
        self._rooted = False
        self._suites: list[_Suite] = []
        self._place = 0
        self._cases = 0
        self._reruns = 0
        self._in_case = False
        self._bit = 0
        self._copying = False
        self._spans: list[tuple[int, int]] = []
        self._prefixes: tuple[str, ...] = ()

    def run(self, out: BinaryIO) -> None:
        """Copies the file; raises EvidenceError for one that is not whole."""
        parser = self._parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.XmlDeclHandler = self._declaration
        try:
            file = self._path.open("rb")
        except OSError as error:
            raise self._unreadable(error) from error
        with file:
            try:
                self._parse(file)
            except (expat.ExpatError, LookupError, ValueError) as error:
                raise self._error(f"is not whole: {error}") from error
            if not self._cases:
                raise self._error("has no test case")
            self._merged.tests += self._cases
            for start, end in self._spans:
                self._copy(file, out, start, end)
                out.write(b"</testsuite>\n")

    def _parse(self, file: BinaryIO) -> None:
        fed = 0
        unfinished = BLOCK
        # The parser starts again at the beginning of an unfinished tag: larger blocks keep that linear.
        while block := self._read(file, max(BLOCK, unfinished)):
            self._parser.Parse(block, False)
            fed += len(block)
            unfinished = fed - max(self._parser.CurrentByteIndex, 0)
            if unfinished > TAG_BYTES:
                raise self._error(f"holds a tag or comment above {TAG_BYTES >> 20} MiB")
        self._parser.Parse(b"", True)

    def _copy(self, file: BinaryIO, out: BinaryIO, start: int, end: int) -> None:
        try:
            file.seek(start)
        except OSError as error:
            raise self._unreadable(error) from error
        while start < end:
            block = self._read(file, min(BLOCK, end - start))
            if not block:
                raise self._error("changed while it was read")
            start += len(block)
            out.write(block)

    def _read(self, file: BinaryIO, size: int) -> bytes:
        try:
            return file.read(size)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> EvidenceError:
        return self._error(f"can not be read: {error.strerror}")

    def _error(self, message: str) -> EvidenceError:
        return EvidenceError(message, Where(str(self._path)), "ci-toolkit junit check says more")

    def _doctype(self, *rest: object) -> None:
        raise self._error("has a document type, which is not accepted")

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if (encoding or "utf-8").lower() not in ("utf-8", "ascii", "us-ascii"):
            raise self._error(f"is in {one_line(encoding or '')}, only UTF-8 can be merged")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._prefixes and any(key.startswith(self._prefixes) for key in (name, *attributes)):
            raise self._error("uses a namespace that its root declares, which can not be merged")
        if name == "testcase":
            self._enter_case(attributes)
        elif name in SUITES:
            self._enter_suite(name, attributes)
        elif not self._rooted:
            raise self._error(f"is no JUnit file: its root element is <{one_line(name[:100])}>")
        elif name in _BITS:
            self._result(_BITS[name])
        elif name in RERUNS:
            self._reruns += 1

    def _enter_suite(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._suites) >= MAX_DEPTH:
            raise self._error(f"is nested deeper than {MAX_DEPTH} elements")
        if not self._rooted:
            self._rooted = True
            if name == "testsuites":
                self._prefixes = tuple(f"{key[6:]}:" for key in attributes if key.startswith("xmlns:"))
        merged = self._merged
        suite = _Suite(
            start=self._parser.CurrentByteIndex,
            claimed=sum(count_of(attributes.get(key, "")) or 0 for key in ("failures", "errors")),
            shown=merged.failures + merged.errors,
            reruns=self._reruns,
            cases=self._cases,
            place=self._place,
            copied=name == "testsuite" and not self._copying,
        )
        self._suites.append(suite)
        self._copying = self._copying or suite.copied
        if name == "testsuite":
            self._place = hash((self._place, attributes.get("name")))

    def _end(self, name: str) -> None:
        if name == "testcase":
            self._in_case = False
        elif name in SUITES:
            self._leave_suite(self._suites.pop())

    def _leave_suite(self, suite: _Suite) -> None:
        self._place = suite.place
        shown = self._merged.failures + self._merged.errors - suite.shown
        if not shown and suite.claimed > self._reruns - suite.reruns:
            raise self._error(f"claims {suite.claimed} failures or errors, its cases show none")
        if suite.copied:
            self._copying = False
            # One that shows nothing is left out: it may be a single tag, whose end the parser tells in another way.
            if shown or self._cases > suite.cases:
                self._spans.append((suite.start, self._parser.CurrentByteIndex))

    def _enter_case(self, attributes: dict[str, str]) -> None:
        if not self._copying:
            raise self._error("has a test case outside any test suite")
        get = attributes.get
        self._cases += 1
        self._in_case = True
        self._bit = 0
        time = get("time")
        if time:
            try:
                seconds: float | None = float(time)
            except ValueError:
                seconds = seconds_of(time)
            # NaN fails the comparison; Python reads 1_000 as a number, nobody else does.
            if seconds is not None and 0 <= seconds < LONGEST_S and "_" not in time:
                self._merged.seconds += seconds
        if "status" in attributes or "result" in attributes:
            self._stated(attributes)
        key = hash((self._place, get("classname"), get("name"))) & _HASH_BITS
        if key in self._seen:
            self._again(attributes)
        else:
            self._seen.add(key)

    def _again(self, attributes: dict[str, str]) -> None:
        self._merged.duplicates += 1
        if len(self._merged.named) < DUPLICATES_NAMED:
            shown = f"{attributes.get('classname', '')}::{attributes.get('name', '')}"
            self._merged.named.append(one_line(clip(shown, 400)))

    def _stated(self, attributes: dict[str, str]) -> None:
        outcome = outcome_by_status(attributes)
        if outcome:
            kind = "error" if outcome in AS_ERROR else "failure" if outcome is Outcome.FAILED else "skipped"
            self._result(_BITS[kind])

    def _result(self, bit: int) -> None:
        """Counts a case once, by the worst of its elements; an error of a suite itself counts too."""
        merged = self._merged
        if not self._in_case:
            if bit > _BITS["skipped"]:
                setattr(merged, _NAMES[bit], getattr(merged, _NAMES[bit]) + 1)
        elif bit > self._bit:
            if self._bit:
                setattr(merged, _NAMES[self._bit], getattr(merged, _NAMES[self._bit]) - 1)
            setattr(merged, _NAMES[bit], getattr(merged, _NAMES[bit]) + 1)
            self._bit = bit


_HASH_BITS = (1 << 60) - 1
"""An int of up to 60 bits takes a third less memory than one of 61 to 64."""

_BITS = {"skipped": 1, "failure": 2, "error": 3}
_NAMES = {1: "skipped", 2: "failures", 3: "errors"}
