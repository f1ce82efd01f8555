"""A lane's evidence as JUnit XML: legal whatever the tests printed, and one case at a time.

The elements are junitparser's. Flaky runs are written in the xunit2 way (``flakyFailure``, ``rerunFailure``). An
outcome that JUnit has no element for is told by the ``type`` of the nearest one, and by a property where it has none.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from junitparser import Property, xunit2
from junitparser.junitparser import Element, Error, Skipped
from junitparser.junitparser import Failure as FailureElement

from ci_toolkit.formats.junit_words import AS_ERROR, AS_SKIPPED, OUTCOME_PROPERTY, outcome_of
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.ids import split_case
from ci_toolkit.model.outcome import Outcome, is_flaky
from ci_toolkit.model.report import Report
from ci_toolkit.model.text import visible

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
HEAD_BYTES = 4096


def legal(text: str) -> str:
    """``text`` that XML 1.0 can hold: terminal sequences are removed, what is left of controls is made visible."""
    return _ILLEGAL.sub(lambda match: f"\\u{ord(match.group()):04x}", visible(text))


class JunitWriter:
    """Writes a lane's JUnit file while the lane runs; ``close`` fills in the head, for which room was left."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._file.write(b" " * HEAD_BYTES)

    def add(self, case: Case, failures: Sequence[Failure]) -> None:
        """Writes a case with its failures."""
        self._file.write(_bytes(_element(case, failures)) + b"\n")

    def close(self, report: Report) -> None:
        """Ends the file. ``report.counts`` must be the counts of the cases that were added."""
        for element in _execution_errors(report):
            self._file.write(_bytes(element) + b"\n")
        self._file.write(b"</testsuite>\n</testsuites>\n")
        head = _head(report)
        if len(head) > HEAD_BYTES:
            self._move(len(head) - HEAD_BYTES)
        self._file.seek(0)
        # White space is allowed behind the last property.
        self._file.write(head + b" " * (HEAD_BYTES - len(head)))
        self._file.close()

    def _move(self, distance: int) -> None:
        """Makes more room for a head that is longer than expected."""
        self._file.close()
        with self._path.open("rb") as old:
            self._path.unlink()
            self._file = self._path.open("wb")
            old.seek(HEAD_BYTES)
            self._file.seek(HEAD_BYTES + distance)
            shutil.copyfileobj(old, self._file)


def _head(report: Report) -> bytes:
    lane = report.lane
    failed = report.counts.get(Outcome.FAILED, 0)
    errors = sum(report.counts.get(outcome, 0) for outcome in AS_ERROR) + len(report.errors)
    skipped = sum(report.counts.get(outcome, 0) for outcome in AS_SKIPPED)
    tests = sum(report.counts.values()) + len(report.errors)
    counters = f'tests="{tests}" failures="{failed}" errors="{errors}" skipped="{skipped}"'
    devices = ", ".join(dict.fromkeys(device.name for device in report.devices))
    builds = report.provenance.builds or {"commit": report.provenance.commit}
    properties = {
        "lane": lane.id,
        "device": devices,
        "attempt": str(report.provenance.attempt),
        "build": ", ".join(f"{name}={value}" for name, value in builds.items()),
    }
    suite = f"<testsuite name={quoteattr(lane.id)} {counters} timestamp={quoteattr(report.started)}>\n<properties>"
    lines = [
        b"<?xml version='1.0' encoding='utf-8'?>\n",
        f"<testsuites {counters}>\n".encode(),
        suite.encode(),
        *(_bytes(Property(name, legal(value))) for name, value in properties.items()),
        b"</properties>\n",
    ]
    return b"".join(lines)


def _bytes(element: Element) -> bytes:
    """An element in ASCII; a raw carriage return, which a parser would fold, is written as a reference.

    Always by the standard library: junitparser makes lxml's elements where that is installed, and lxml writes others.
    """
    raw: bytes = ElementTree.tostring(element._elem)
    return raw.replace(b"\r", b"&#13;")


def _element(case: Case, failures: Sequence[Failure]) -> xunit2.TestCase:
    file, rest = split_case(case.id)
    element = xunit2.TestCase(legal(rest or file), classname=legal(file))
    if case.seconds is not None:
        element.time = round(case.seconds, 6)
    element._elem.set("file", legal(case.file or file))
    if case.line is not None:
        element._elem.set("line", str(case.line))
    shown: list[Failure | None] = [*failures] or [None]
    if case.outcome is Outcome.FAILED:
        element.result = [_filled(FailureElement, case, failure) for failure in shown]
    elif case.outcome in AS_ERROR:
        element.result = [_filled(Error, case, failure) for failure in shown]
    elif case.outcome in AS_SKIPPED:
        kind = {Outcome.SKIPPED: "pytest.skip", Outcome.XFAILED: "pytest.xfail"}.get(case.outcome, case.outcome.value)
        element.result = [Skipped(legal(case.reason), kind)]
    elif case.outcome is not Outcome.PASSED:
        element.add_property(OUTCOME_PROPERTY, case.outcome.value)
    for rerun in _reruns(case):
        element.add_interim_result(rerun)
    return element


def _filled(kind: type[FailureElement] | type[Error], case: Case, failure: Failure | None) -> FailureElement | Error:
    if failure is None:
        return kind(legal(case.reason), case.outcome.value)
    name = failure.exception or failure.signal or failure.cause.value
    if case.outcome is not Outcome.FAILED and outcome_of("error", name) is not case.outcome:
        name = f"{case.outcome.value}: {name}"
    element = kind(legal(failure.message), legal(name))
    element.text = legal(failure.excerpt)
    return element


def _reruns(case: Case) -> Iterator[xunit2.InterimResult]:
    """The tries before the one that stands."""
    flaky = is_flaky(case.tries) and case.outcome is Outcome.PASSED
    for outcome in case.tries[:-1]:
        if outcome is Outcome.FAILED:
            yield xunit2.FlakyFailure() if flaky else xunit2.RerunFailure()
        elif outcome in AS_ERROR:
            yield xunit2.FlakyError() if flaky else xunit2.RerunError()


def _execution_errors(report: Report) -> Iterator[xunit2.TestCase]:
    """Faults of the run itself as cases in error, so that no reader of this file takes it for green."""
    for error in report.errors:
        element = xunit2.TestCase(legal(f"[{error.kind.value}]"), classname=legal(error.unit or report.lane.id))
        element.result = [Error(legal(error.message), error.kind.value)]
        yield element
