"""Reads JUnit XML of any producer as a stream, with bounded memory, and never takes a broken file for a green one.

A document type is refused, so that no entity is expanded and nothing outside the file is touched. Counts come from the
cases; what a file claims of itself is compared and never believed.
"""

import math
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.parsers import expat

import msgspec

from ci_toolkit.formats.junit_bytes import BLOCK, Repaired
from ci_toolkit.formats.junit_claims import Claims, Suite
from ci_toolkit.formats.junit_words import (
    MAX_DEPTH,
    OUTCOME_PROPERTY,
    RERUNS,
    RESULTS,
    SUITES,
    TAG_BYTES,
    outcome_by_status,
    outcome_of,
    seconds_of,
)
from ci_toolkit.model.outcome import Outcome, over_phases
from ci_toolkit.model.text import clip, one_line

TEXT_BYTES = 16 << 10
"""What is kept of one text or attribute, in bytes of UTF-8."""

LARGEST_BLOCK = 16 << 20
SUITE_ITSELF = "[suite]"
"""The name of what a suite reports of itself: an error outside any case."""


_CUT = frozenset(
    expat.errors.codes[name]
    for name in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
    )
)
"""How the parser says that a file ends too early."""


class FileVerdict(StrEnum):
    """What a file is, before anybody asks what its cases say."""

    WHOLE = "whole"
    EMPTY = "empty"
    NO_ROOT = "no root element"
    ZERO_TESTS = "zero tests"
    NOT_A_REPORT = "not a test report"
    INCOMPLETE = "incomplete"
    UNREADABLE = "unreadable"
    CONTRADICTION = "claims failures that it does not show"


class JunitCase(msgspec.Struct, frozen=True):
    """One case. ``suites`` are the names of the ``testsuite`` elements around it, the outermost first; ``seconds`` is
    None when the time is not known.

    Of each text at most TEXT_BYTES are kept, with a mark of what is missing.
    """

    suites: tuple[str, ...]
    classname: str
    name: str
    file: str
    line: str
    outcome: Outcome
    seconds: float | None
    message: str
    text: str
    attempts: int

    @property
    def flaky(self) -> bool:
        """Whether it passed after a try that did not."""
        return self.attempts > 1 and self.outcome is Outcome.PASSED


@dataclass(frozen=True)
class JunitSummary:
    """A file as a whole. ``seconds`` is the sum of the known times, ``untimed`` counts cases without one."""

    file: str
    verdict: FileVerdict
    message: str
    counts: dict[Outcome, int]
    flaky: int
    seconds: float
    untimed: int
    warnings: tuple[str, ...]


def read_junit(path: Path, on_case: Callable[[JunitCase], object] = lambda case: None) -> JunitSummary:
    """Reads a file and gives each case to ``on_case`` as soon as it is whole. Never raises for what the file holds."""
    parser = _Parser(path, on_case)
    verdict, message = parser.read()
    return JunitSummary(
        file=str(path),
        verdict=verdict,
        message=message,
        counts=dict(sorted(parser.counts.items())),
        flaky=parser.flaky,
        seconds=round(math.fsum(parser.times), 6),
        untimed=sum(parser.counts.values()) - len(parser.times),
        warnings=parser.claims.warnings(),
    )


class _RefusedError(Exception):
    def __init__(self, verdict: FileVerdict, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict


class _Open:
    """The case that is being read; it began at ``depth``."""

    def __init__(self, attributes: dict[str, str], depth: int) -> None:
        self.attributes = attributes
        self.depth = depth
        self.outcomes: list[Outcome] = []
        self.message = ""
        self.text: list[str] = []
        self.size = 0
        self.reruns = 0


class _Parser:
    def __init__(self, path: Path, on_case: Callable[[JunitCase], object]) -> None:
        self._source = Repaired(path)
        self._on_case = on_case
        self._depth = 0
        self._root = ""
        self._suites: list[Suite] = []
        self._path: tuple[str, ...] = ()
        self._cases: list[_Open] = []
        self._in_result = 0
        self.claims = Claims()
        self.counts: Counter[Outcome] = Counter()
        self.times = array("d")
        self.flaky = 0

    def read(self) -> tuple[FileVerdict, str]:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        try:
            fed = self._feed(parser)
        except _RefusedError as error:
            return error.verdict, f"{error}{self._place(parser)}"
        except expat.ExpatError as error:
            return self._broken(parser, error)
        except (LookupError, UnicodeError) as error:
            return FileVerdict.UNREADABLE, f"{error}; {sum(self.counts.values())} cases before it were read"
        except OSError as error:
            return FileVerdict.UNREADABLE, f"can not be read: {error.strerror}"
        if self._source.count:
            self.claims.warn(f"{self._source.count} characters that XML forbids were made visible")
        if not fed:
            return FileVerdict.EMPTY, "holds nothing but white space" if self._size() else "holds nothing"
        if self.claims.contradiction:
            return FileVerdict.CONTRADICTION, self.claims.contradiction
        if not self.counts:
            return FileVerdict.ZERO_TESTS, "has no test case"
        return FileVerdict.WHOLE, ""

    def _feed(self, parser: "expat.XMLParserType") -> bool:
        """Gives the parser the whole file; false when there was nothing but white space."""
        fed = 0
        blank = True
        for block in self._source.blocks():
            blank = blank and not block.strip()
            parser.Parse(block, False)
            fed += len(block)
            unfinished = fed - max(parser.CurrentByteIndex, 0)
            if unfinished > TAG_BYTES:
                raise _RefusedError(FileVerdict.UNREADABLE, f"holds a tag or comment above {TAG_BYTES >> 20} MiB")
            # The parser starts again at the beginning of an unfinished tag: larger blocks keep that linear.
            self._source.block = min(max(BLOCK, unfinished), LARGEST_BLOCK)
        if not blank:
            parser.Parse(b"", True)
        return not blank

    def _size(self) -> int:
        return self._source.path.stat().st_size

    def _place(self, parser: "expat.XMLParserType") -> str:
        place = self._source.place(parser.CurrentByteIndex)
        return f" ({place})" if place else ""

    def _broken(self, parser: "expat.XMLParserType", error: expat.ExpatError) -> tuple[FileVerdict, str]:
        if not self._root and parser.ErrorCode == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]:
            return FileVerdict.NO_ROOT, "has no root element"
        kept = sum(self.counts.values())
        told = f"{error}{self._place(parser)}; {kept} cases before it were read"
        cut = parser.ErrorCode in _CUT
        return (FileVerdict.INCOMPLETE if cut and self._root else FileVerdict.UNREADABLE), told

    # Handlers ----------------------------------------------------------------------------------------------------

    def _doctype(self, *rest: object) -> None:
        raise _RefusedError(
            FileVerdict.UNREADABLE, "a document type is not accepted: entities could expand or reach outside the file"
        )

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(":")[2]
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _RefusedError(FileVerdict.UNREADABLE, f"is nested deeper than {MAX_DEPTH} elements")
        if self._depth == 1:
            self._root = name
            if name not in SUITES:
                shown = one_line(clip(name, 100))
                raise _RefusedError(FileVerdict.NOT_A_REPORT, f"the root element is <{shown}>, not <testsuites>")
        if name in SUITES:
            self._suites.append(Suite(_short(attributes.get("name", "")), attributes))
            if name == "testsuite":
                self._path = (*self._path, self._suites[-1].name)
        elif name == "testcase":
            self._cases.append(_Open(attributes, self._depth))
        elif self._cases:
            self._child(self._cases[-1], name, attributes)
        elif name in ("error", "failure"):
            self._cases.append(_Open({"name": SUITE_ITSELF}, self._depth))
            self._child(self._cases[-1], name, attributes)

    def _child(self, case: _Open, name: str, attributes: dict[str, str]) -> None:
        if name in RESULTS:
            case.outcomes.append(outcome_of(name, attributes.get("type", "")))
            case.message = case.message or _short(attributes.get("message", ""))
            self._in_result = self._depth
        elif name in RERUNS:
            case.reruns += 1
        elif name == "property" and attributes.get("name") == OUTCOME_PROPERTY:
            value = attributes.get("value", "")
            if value in set(Outcome):
                case.outcomes.append(Outcome(value))

    def _characters(self, text: str) -> None:
        if self._in_result and self._cases:
            case = self._cases[-1]
            if case.size <= TEXT_BYTES:
                case.text.append(text)
            case.size += len(text)

    def _end(self, qualified: str) -> None:
        if self._depth == self._in_result:
            self._in_result = 0
        name = qualified.rpartition(":")[2]
        if self._cases and self._depth == self._cases[-1].depth:
            self._close_case(self._cases.pop())
        elif name in SUITES:
            suite = self._suites.pop()
            if name == "testsuite":
                self._path = self._path[:-1]
            self.claims.compare(suite)
            if self._suites:
                self._suites[-1].adopt(suite)
        self._depth -= 1

    def _close_case(self, case: _Open) -> None:
        attributes = case.attributes
        get = attributes.get
        shown = case.outcomes
        if not shown:
            stated = outcome_by_status(attributes)
            shown = [stated] if stated else _PASSED
        seconds = seconds_of(get("time"))
        name = _short(get("name", ""))
        if seconds is not None:
            self.times.append(seconds)
        elif get("time"):
            self.claims.warn(f"time {attributes['time'][:100]!r} of {name[:100]!r} is no time")
        if not name:
            self.claims.warn("a case has no name")
        made = JunitCase(
            suites=self._path,
            classname=_short(get("classname", "")),
            name=name,
            file=_short(get("file", "")),
            line=_short(get("line", "")),
            outcome=_stands(shown),
            seconds=seconds,
            message=case.message,
            text=_clipped(case) if case.size else "",
            attempts=1 + case.reruns,
        )
        self.counts[made.outcome] += 1
        if case.reruns:
            self.flaky += made.flaky
        if self._suites:
            self._suites[-1].count(made.outcome, shown, case.reruns)
        self._on_case(made)


_PASSED = [Outcome.PASSED]


def _stands(shown: list[Outcome]) -> Outcome:
    """The outcome of a case that shows these. Neither missing nor not_run is one of a phase: they stand as they are."""
    if len(shown) == 1:
        return shown[0]
    return next((one for one in shown if one in (Outcome.MISSING, Outcome.NOT_RUN)), None) or over_phases(shown)


def _short(text: str) -> str:
    return text if len(text) <= TEXT_BYTES // 4 else clip(text, TEXT_BYTES)


def _clipped(case: _Open) -> str:
    text = "".join(case.text)
    if case.size <= len(text):
        return clip(text, TEXT_BYTES)
    return f"{clip(text, TEXT_BYTES)[: TEXT_BYTES // 2]}[... of {case.size} characters the rest is left out ...]"
