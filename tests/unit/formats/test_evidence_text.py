"""Whatever text tests produce, their evidence is read back, and its JUnit file tells the same outcomes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from ci_toolkit.formats.evidence import EvidenceWriter, read_evidence
from ci_toolkit.formats.junit_read import FileVerdict, JunitCase, read_junit
from ci_toolkit.model.case import EXCERPT_BYTES, MESSAGE_BYTES, Case, Failure, Frame
from ci_toolkit.model.outcome import BAD, Cause, Outcome, Stage
from ci_toolkit.model.plan import ExpectedDevice, Lane
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import Report
from ci_toolkit.model.text import clip, encodable

TEXT = st.one_of(
    st.text(st.characters(codec=None), max_size=30),
    st.sampled_from(["null", ":null,", "]]>", "&#10;", "\r\n", "\x1b]8;;x", "x" * 5000, "crashed", "missing: no"]),
)
OUTCOMES = st.sampled_from(list(Outcome))
failures = st.builds(
    Failure,
    stage=st.sampled_from(list(Stage)),
    cause=st.sampled_from(list(Cause)),
    exception=TEXT,
    message=TEXT,
    excerpt=TEXT,
    signal=TEXT,
    frames=st.lists(st.builds(Frame, file=TEXT, line=st.integers(0, 10**6), function=TEXT), max_size=2).map(tuple),
)
cases = st.builds(
    Case,
    id=TEXT,
    outcome=OUTCOMES,
    reason=TEXT,
    file=TEXT,
    nodeid=TEXT,
    seconds=st.none() | st.floats(0, 10**6),
    tries=st.lists(OUTCOMES, max_size=3).map(tuple),
)


def kept(failure: Failure) -> Failure:
    """A failure as evidence holds it: bounded, surrogates escaped."""
    frames = tuple(
        Frame(file=encodable(frame.file), line=frame.line, function=encodable(frame.function))
        for frame in failure.frames
    )
    return Failure(
        stage=failure.stage,
        cause=failure.cause,
        exception=encodable(failure.exception),
        message=clip(failure.message, MESSAGE_BYTES),
        excerpt=clip(failure.excerpt, EXCERPT_BYTES),
        signal=encodable(failure.signal),
        frames=frames,
    )


@given(st.lists(st.tuples(cases, failures), max_size=4, unique_by=lambda pair: encodable(pair[0].id)))
def test_what_tests_said_is_read_back(tmp_path_factory: pytest.TempPathFactory, pairs: list) -> None:
    writer = EvidenceWriter(tmp_path_factory.mktemp("text") / "a1")
    for case, failure in pairs:
        rows = (writer.add_failure(failure),) if case.outcome in BAD else ()
        writer.add_case(Case(**{**{f: getattr(case, f) for f in Case.__struct_fields__}, "failures": rows}))
    lane = Lane(id="s", suite="s", kind="pytest", platform="cpu", timeout_s=1, device=ExpectedDevice(module="cpu"))
    provenance = Provenance(toolkit="0")
    writer.close(Report(lane=lane, provenance=provenance, root="", started="", ended="", units=()))

    evidence = read_evidence(writer.folder)
    assert [case.id for case in evidence.cases] == [encodable(case.id) for case, _ in pairs]
    assert list(evidence.failures) == [kept(failure) for case, failure in pairs if case.outcome in BAD]

    read: list[JunitCase] = []
    summary = read_junit(writer.folder / "junit.xml", read.append)
    assert summary.verdict is (FileVerdict.WHOLE if pairs else FileVerdict.ZERO_TESTS)
    assert [case.outcome for case in read] == [case.outcome for case, _ in pairs]
    assert not [warning for warning in summary.warnings if "claims" in warning]
    for case, (wrote, _) in zip(read, pairs, strict=True):
        known = None if wrote.seconds is None else pytest.approx(wrote.seconds, abs=1e-6)
        assert case.seconds == known

    by_peer = [case for suite in JUnitXml.fromfile(str(writer.folder / "junit.xml")) for case in suite]
    assert len(by_peer) == len(pairs)
