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

from ci_toolkit.errors import EvidenceError, UsageError, Where
from ci_toolkit.formats.junit_read import seconds_of
from ci_toolkit.model.text import one_line

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
    """Writes the suites of all files into one, in their order; ``target`` is replaced only by a whole file.

    Raises EvidenceError for a file that is not whole, is no JUnit file, holds no case, or is not UTF-8 without a
    document type and namespaces.
    """
    files = list(sources)
    if not files:
        raise UsageError("names no file to merge")
    merged = Merged()
    seen: set[int] = set()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
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
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return merged


def _head(merged: Merged) -> bytes:
    counters = f'tests="{merged.tests}" failures="{merged.failures}" errors="{merged.errors}"'
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {counters} skipped="{merged.skipped}"'
    head += f' time="{merged.seconds:.6f}"'
    return head.encode().ljust(HEAD_BYTES - 2) + b">\n"


class _Copy:
    """One file on its way into the merged one: the bytes between the start and the end of its suites are copied."""

    def __init__(self, path: Path, merged: Merged, seen: set[int]) -> None:
        self._path = path
        self._merged = merged
        self._seen = seen
        self._rooted = False
        self._suites: list[str] = []
        self._place = 0
        self._cases = 0
        self._state = 0
        self._spans: list[tuple[int, int | None]] = []
        self._prefixes: tuple[str, ...] = ()

    def run(self, out: BinaryIO) -> None:
        """Copies the file; raises EvidenceError for one that is not whole."""
        parser = self._parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.XmlDeclHandler = self._declaration
        try:
            with self._path.open("rb") as file:
                while block := file.read(BLOCK):
                    parser.Parse(block, False)
                parser.Parse(b"", True)
                if not self._cases:
                    raise self._error("has no test case")
                for start, end in self._spans:
                    file.seek(start)
                    self._copy(file, out, (end or 0) - start)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise self._error(f"is not whole: {error}") from error
        except OSError as error:
            raise self._error(f"can not be read: {error.strerror}") from error

    def _copy(self, file: BinaryIO, out: BinaryIO, size: int) -> None:
        left = size
        while left:
            block = file.read(min(BLOCK, left))
            if not block:
                raise self._error("changed while it was read")
            left -= len(block)
            if not left:
                # The span ends where the end tag begins; what follows it up to ">" belongs to the suite.
                block += self._rest_of_tag(file, block)
            out.write(block)
        out.write(b"\n")

    def _rest_of_tag(self, file: BinaryIO, block: bytes) -> bytes:
        if block.endswith(b"/>"):
            return b""
        rest = file.read(256)
        return rest[: rest.index(b">") + 1]

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
            self._case(attributes)
        elif self._state and name in _BITS:
            self._result(_BITS[name])
        elif name == "testsuite":
            if not self._suites:
                self._spans.append((self._parser.CurrentByteIndex, None))
            self._enter([*self._suites, attributes.get("name", "")])
        elif not self._rooted and name == "testsuites":
            self._prefixes = tuple(f"{key[6:]}:" for key in attributes if key.startswith("xmlns:"))
        elif not self._rooted:
            raise self._error(f"is no JUnit file: its root element is <{one_line(name[:100])}>")
        self._rooted = True

    def _end(self, name: str) -> None:
        if name == "testcase":
            self._state = 0
        elif name == "testsuite":
            self._enter(self._suites[:-1])
            if not self._suites:
                start = self._spans[-1][0]
                self._spans[-1] = (start, self._parser.CurrentByteIndex)

    def _enter(self, suites: list[str]) -> None:
        self._suites = suites
        self._place = hash(tuple(suites))

    def _case(self, attributes: dict[str, str]) -> None:
        if not self._suites:
            raise self._error("has a test case outside any test suite")
        merged, get = self._merged, attributes.get
        self._cases += 1
        self._state = _OPEN
        merged.tests += 1
        time = get("time")
        if time:
            try:
                seconds: float | None = float(time)
            except ValueError:
                seconds = seconds_of(time)
            # NaN fails the comparison; Python reads 1_000 as a number, nobody else does.
            if seconds is not None and 0 <= seconds < _LONGEST_S and "_" not in time:
                merged.seconds += seconds
        key = hash((self._place, get("classname"), get("name")))
        if key in self._seen:
            merged.duplicates += 1
            if len(merged.named) < DUPLICATES_NAMED:
                merged.named.append(one_line(f"{get('classname', '')}::{get('name', '')}"))
        else:
            self._seen.add(key)

    def _result(self, bit: int) -> None:
        """Counts a case once, by the worst of its elements."""
        merged = self._merged
        before, after = self._state & 7, max(self._state & 7, bit)
        if after == before:
            return
        for value, name in _NAMES.items():
            change = (value == after) - (value == before)
            if change:
                setattr(merged, name, getattr(merged, name) + change)
        self._state = _OPEN | after


_OPEN = 8
_LONGEST_S = 10**8
_BITS = {"skipped": 1, "failure": 2, "error": 3}
_NAMES = {1: "skipped", 2: "failures", 3: "errors"}
