"""Reads JUnit XML of any producer as a stream, with bounded memory, and never takes a broken file for a green one.

A document type is refused, so that no entity is expanded and nothing outside the file is touched. Counts come from the
cases; what a file claims of itself is compared and never believed.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from xml.parsers import expat

from ci_toolkit.formats.junit_bytes import Repaired
from ci_toolkit.model.outcome import Outcome, over_phases
from ci_toolkit.model.text import clip, one_line

TEXT_BYTES = 16 << 10
MAX_DEPTH = 500
WARNINGS = 50
OUTCOME_PROPERTY = "ci-toolkit.outcome"
_NUMBER = re.compile(r"\s*(\d{1,12}(?:,\d{3})*(?:\.\d*)?(?:[eE][+-]?\d{1,3})?|\.\d+)\s*(s|sec|seconds)?\s*")
_RESULTS = {"failure": Outcome.FAILED, "error": Outcome.ERROR, "skipped": Outcome.SKIPPED}
_RERUNS = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError"})
_SKIP_TYPES = {"pytest.xfail": Outcome.XFAILED, "not_run": Outcome.NOT_RUN}
_ERROR_TYPES = {outcome.value: outcome for outcome in (Outcome.CRASHED, Outcome.TIMEOUT, Outcome.MISSING)}
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "ignored"})


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


@dataclass(frozen=True)
class JunitCase:
    """One case. ``suites`` are the names from the outermost in; ``seconds`` is None when the time is not known."""

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
    parser = _Parser(on_case)
    verdict, message = parser.read(path)
    if parser.source.count:
        parser.warn(f"{parser.source.count} characters that XML forbids were made visible")
    return JunitSummary(
        file=str(path),
        verdict=verdict,
        message=message,
        counts=dict(sorted(parser.counts.items())),
        flaky=parser.flaky,
        seconds=round(math.fsum(parser.times), 6),
        untimed=sum(parser.counts.values()) - len(parser.times),
        warnings=tuple(parser.warnings),
    )


def seconds_of(text: str | None) -> float | None:
    """A time as producers write it: ``1.5``, ``1,234.5``, ``2s``. None for what is no finite time above or at zero."""
    match = _NUMBER.fullmatch(text or "")
    if not match:
        return None
    value = float(match[1].replace(",", ""))
    return value if math.isfinite(value) and value < 10**8 else None


class _RefusedError(Exception):
    def __init__(self, verdict: FileVerdict, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict


@dataclass
class _Suite:
    name: str
    claims: dict[str, str]
    own: Counter[str] = field(default_factory=Counter)
    below: Counter[str] = field(default_factory=Counter)


@dataclass
class _Open:
    """The case that is being read."""

    attributes: dict[str, str]
    outcomes: list[Outcome] = field(default_factory=list)
    message: str = ""
    text: list[str] = field(default_factory=list)
    size: int = 0
    reruns: int = 0


class _Parser:
    def __init__(self, on_case: Callable[[JunitCase], object]) -> None:
        self._on_case = on_case
        self._depth = 0
        self._root = ""
        self._suites: list[_Suite] = []
        self._case: _Open | None = None
        self._in_result = 0
        self._contradiction = ""
        self.counts: Counter[Outcome] = Counter()
        self.times: list[float] = []
        self.flaky = 0
        self.warnings: list[str] = []

    def read(self, path: Path) -> tuple[FileVerdict, str]:
        self.source = Repaired(path)
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        blank = True
        try:
            for block in self.source.blocks():
                blank = blank and not block.strip(b" \t\r\n\xef\xbb\xbf")
                parser.Parse(block, False)
            if blank:
                return FileVerdict.EMPTY, "holds nothing"
            parser.Parse(b"", True)
        except _RefusedError as error:
            return error.verdict, f"{error} (byte {parser.CurrentByteIndex})"
        except (expat.ExpatError, LookupError, ValueError) as error:
            return self._broken(parser, error)
        except OSError as error:
            return FileVerdict.UNREADABLE, f"can not be read: {error.strerror}"
        if not sum(self.counts.values()):
            if self._contradiction:
                return FileVerdict.CONTRADICTION, self._contradiction
            return FileVerdict.ZERO_TESTS, "has no test case"
        if self._contradiction:
            return FileVerdict.CONTRADICTION, self._contradiction
        return FileVerdict.WHOLE, ""

    def warn(self, text: str) -> None:
        if len(self.warnings) < WARNINGS:
            self.warnings.append(one_line(clip(text, 400)))

    def _broken(self, parser: "expat.XMLParserType", error: Exception) -> tuple[FileVerdict, str]:
        byte = parser.CurrentByteIndex
        if not self._root and parser.ErrorCode == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]:
            return FileVerdict.NO_ROOT, "has no root element"
        kept = sum(self.counts.values())
        told = f"{error} (byte {byte}); {kept} cases before it were read"
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
            if name not in ("testsuites", "testsuite"):
                shown = one_line(clip(name, 100))
                raise _RefusedError(FileVerdict.NOT_A_REPORT, f"the root element is <{shown}>, not <testsuites>")
        if name in ("testsuite", "testsuites"):
            self._suites.append(_Suite(attributes.get("name", ""), attributes))
        elif name == "testcase":
            self._case = _Open(attributes)
        elif self._case is not None:
            self._child(self._case, name, attributes)

    def _child(self, case: _Open, name: str, attributes: dict[str, str]) -> None:
        if name in _RESULTS:
            outcome = _RESULTS[name]
            kind = attributes.get("type", "")
            if name == "skipped":
                outcome = _SKIP_TYPES.get(kind, outcome)
            elif name == "error":
                outcome = _ERROR_TYPES.get(kind.partition(":")[0], outcome)
            case.outcomes.append(outcome)
            case.message = case.message or clip(attributes.get("message", ""), TEXT_BYTES)
            self._in_result = self._depth
        elif name in _RERUNS:
            case.reruns += 1
        elif name == "property" and attributes.get("name") == OUTCOME_PROPERTY:
            value = attributes.get("value", "")
            if value in set(Outcome):
                case.outcomes.append(Outcome(value))

    def _characters(self, text: str) -> None:
        case = self._case
        if case is not None and self._in_result and case.size <= TEXT_BYTES:
            case.text.append(text[: TEXT_BYTES + 1])
            case.size += len(text)

    def _end(self, qualified: str) -> None:
        name = qualified.rpartition(":")[2]
        if self._depth == self._in_result:
            self._in_result = 0
        self._depth -= 1
        if name == "testcase" and self._case is not None:
            self._close_case(self._case)
            self._case = None
        elif name in ("testsuite", "testsuites") and self._suites:
            self._close_suite(self._suites.pop())

    def _close_case(self, case: _Open) -> None:
        attributes = case.attributes
        status = (attributes.get("status") or attributes.get("result") or "").lower()
        if not case.outcomes and status in _NOT_RUN:
            case.outcomes.append(Outcome.SKIPPED)
        outcome = over_phases(case.outcomes or [Outcome.PASSED])
        if outcome is Outcome.MISSING:
            # Neither missing nor not_run is the outcome of a phase: they stand as they were written.
            outcome = case.outcomes[0]
        seconds = seconds_of(attributes.get("time"))
        if seconds is not None:
            self.times.append(seconds)
        elif attributes.get("time"):
            self.warn(f"time {attributes['time']!r} of {attributes.get('name', '')!r} is no time")
        if not attributes.get("name"):
            self.warn("a case has no name")
        made = JunitCase(
            suites=tuple(suite.name for suite in self._suites),
            classname=attributes.get("classname", ""),
            name=attributes.get("name", ""),
            file=attributes.get("file", ""),
            line=attributes.get("line", ""),
            outcome=outcome,
            seconds=seconds,
            message=case.message,
            text=clip("".join(case.text), TEXT_BYTES),
            attempts=1 + case.reruns,
        )
        self.counts[outcome] += 1
        self.flaky += made.flaky
        if self._suites:
            own = self._suites[-1].own
            own["tests"] += 1
            own["reruns"] += case.reruns
            own["failures"] += Outcome.FAILED in case.outcomes
            own["errors"] += any(one in (Outcome.ERROR, *_ERROR_TYPES.values()) for one in case.outcomes)
            own["skipped"] += outcome in (Outcome.SKIPPED, Outcome.XFAILED, Outcome.NOT_RUN)
        self._on_case(made)

    def _close_suite(self, suite: _Suite) -> None:
        whole = suite.own + suite.below
        if self._suites:
            self._suites[-1].below += whole
        shown = suite.name or "the whole file"
        bad = 0
        for name in ("tests", "failures", "errors", "skipped"):
            claim = suite.claims.get(name)
            if claim is None or claim == "":
                continue
            if not (claim.isascii() and claim.isdigit()):
                self.warn(f"{shown}: {name}={claim!r} is no count")
                continue
            if int(claim) not in (suite.own[name], whole[name]):
                self.warn(f"{shown}: claims {name}={claim}, its cases show {whole[name]}")
            if name in ("failures", "errors"):
                bad += max(int(claim) - whole["failures"] - whole["errors"], 0)
        if bad > whole["reruns"] and not whole["failures"] + whole["errors"]:
            self._contradiction = f"{one_line(shown)} claims {bad} failures or errors, its cases show none"
