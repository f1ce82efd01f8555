"""JUnit: what we write is legal whatever the text holds; what anybody writes is read, and broken is never green."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_toolkit.errors import EvidenceError
from ci_toolkit.formats.junit_merge import merge_junit
from ci_toolkit.formats.junit_read import FileVerdict, JunitCase, JunitSummary, read_junit, seconds_of
from ci_toolkit.formats.junit_write import legal
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import BAD, Cause, Outcome, Stage
from ci_toolkit.model.report import ErrorKind, ExecutionError
from ci_toolkit.publish.junit import exit_code

INPUTS = Path(__file__).parent / "inputs"


def read(name: str | Path) -> tuple[JunitSummary, list[JunitCase]]:
    cases: list[JunitCase] = []
    return read_junit(INPUTS / name, cases.append), cases


def text_file(folder: Path, text: str | bytes) -> Path:
    path = folder / "file.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Writing ---------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec=None), max_size=60)
FAILED = (Outcome.FAILED, Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(TEXT.filter(bool), st.sampled_from(list(Outcome)), TEXT, TEXT, TEXT)
def test_any_text_is_legal_and_read_back(tmp_path_factory, identity, outcome, message, excerpt, reason) -> None:
    from ci_toolkit.formats.evidence import EvidenceWriter
    from ci_toolkit.formats.evidence import read_evidence as believed

    folder = tmp_path_factory.mktemp("any") / "e"
    writer = EvidenceWriter(folder)
    failure = Failure(stage=Stage.CALL, cause=Cause.EXCEPTION, exception=message, message=message, excerpt=excerpt)
    rows = (writer.add_failure(failure),) if outcome in FAILED else ()
    writer.add_case(Case(id=f"a.py::{identity}", outcome=outcome, reason=reason, failures=rows))
    writer.close(_head())
    believed(folder)
    root = ElementTree.parse(folder / "junit.xml").getroot()
    assert len(list(root.iter("testcase"))) == 1
    cases: list[JunitCase] = []
    summary = read_junit(folder / "junit.xml", cases.append)
    assert (summary.verdict, cases[0].outcome, summary.warnings) == (FileVerdict.WHOLE, outcome, ())
    assert cases[0].name == legal(identity)
    if rows:
        assert cases[0].message == legal(message)
        assert cases[0].text == legal(excerpt)


def _head():
    from ci_toolkit.model.plan import ExpectedDevice, Lane
    from ci_toolkit.model.provenance import Provenance
    from ci_toolkit.model.report import Report

    lane = Lane(id="s", suite="s", kind="pytest", platform="cpu", timeout_s=1, device=ExpectedDevice(module="cpu"))
    return Report(lane=lane, provenance=Provenance(toolkit="0"), root="", started="", ended="", units=())


def test_a_message_survives_to_the_letter(write) -> None:
    message = 'row 1\nrow 2\ttabbed\r\nrow 3  two <b> & "quoted" &#10; &amp;lt; ]]>'
    failure = Failure(stage=Stage.CALL, cause=Cause.ASSERTION, message=message, excerpt=message)
    folder = write([(Case(id="a.py::t", outcome=Outcome.FAILED), [failure])])
    _, cases = read(folder / "junit.xml")
    assert (cases[0].message, cases[0].text) == (message, message)


def test_colours_go_and_controls_become_visible() -> None:
    assert legal("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x00\x08\ud800\ufffe") == (
        "red link \\x00\\x08\\ud800\\ufffe"
    )


def test_an_execution_error_makes_the_file_red(write, passed) -> None:
    error = ExecutionError(kind=ErrorKind.COLLECTION, message="could not import x", unit="b.py")
    summary, cases = read(write(passed, [error]) / "junit.xml")
    assert exit_code([summary]) == 1
    assert cases[-1].message == "could not import x"


def test_properties_and_a_head_longer_than_its_room(write, passed) -> None:
    root = ElementTree.parse(write(passed) / "junit.xml").getroot()
    properties = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert properties == {"lane": "s-cpu", "device": "a card", "attempt": "2", "build": "commit=abc"}
    long = ElementTree.parse(write(passed, device="x" * 9000, folder="long") / "junit.xml").getroot()
    assert [one.get("value") for one in long.iter("property") if one.get("name") == "device"] == ["x" * 9000]
    assert len(list(long.iter("testcase"))) == 1


def test_flaky_runs_are_written_as_xunit2_has_them(write) -> None:
    tries = (Outcome.FAILED, Outcome.PASSED)
    folder = write([(Case(id="a.py::t", outcome=Outcome.PASSED, tries=tries), ())])
    summary, cases = read(folder / "junit.xml")
    assert b"<flakyFailure" in (folder / "junit.xml").read_bytes()
    assert (summary.flaky, cases[0].attempts) == (1, 2)


# Reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("C13.empty.xml", FileVerdict.EMPTY),
        ("C13.ws.xml", FileVerdict.EMPTY),
        ("C13.decl.xml", FileVerdict.NO_ROOT),
        ("C13.zero.xml", FileVerdict.ZERO_TESTS),
        ("C13.coverage.xml", FileVerdict.NOT_A_REPORT),
        ("C08.xml", FileVerdict.CONTRADICTION),
        ("C03.naive.xml", FileVerdict.UNREADABLE),
        ("C16.expand.xml", FileVerdict.UNREADABLE),
        ("C16.external.xml", FileVerdict.UNREADABLE),
    ],
)
def test_what_is_no_whole_report_has_its_own_verdict_and_is_never_green(name: str, verdict: FileVerdict) -> None:
    summary, cases = read(name)
    assert summary.verdict is verdict
    assert exit_code([summary]) == 3
    assert summary.message
    canary = (INPUTS / "C16.canary.txt").read_text(encoding="utf-8").strip()
    assert canary not in repr((summary, cases))


@pytest.mark.parametrize("name", ["C01.raw.xml", "C01.ref.xml"])
def test_forbidden_characters_cost_no_case(name: str) -> None:
    summary, cases = read(name)
    assert summary.verdict is FileVerdict.WHOLE
    assert [case.outcome for case in cases] == ["failed", "passed"] or len(cases) == 2
    assert "made visible" in summary.warnings[0]


def test_split_cdata_is_joined() -> None:
    _, cases = read("C03.split.xml")
    assert "]]>" in cases[0].text


def test_times_that_are_none_are_unknown_and_poison_no_sum() -> None:
    summary, cases = read("C05.xml")
    assert summary.counts == {Outcome.PASSED: 13}
    assert 0 <= summary.seconds < 10
    assert summary.untimed == sum(case.seconds is None for case in cases) > 5


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), ("0", 0), (".5", 0.5), ("1,234.5", 1234.5), ("2s", 2), (" 3 ", 3), ("1e-3", 0.001)]
    + [(text, None) for text in ("", "NaN", "inf", "-1", "1_000", "0:01", "PT2S", "1767225600", "x", None)],
)
def test_times(text: str | None, value: float | None) -> None:
    assert seconds_of(text) == value


def test_nested_suites_keep_their_paths_and_count_once() -> None:
    summary, cases = read("C06.xml")
    assert summary.counts == {Outcome.PASSED: 3, Outcome.FAILED: 1, Outcome.ERROR: 1, Outcome.SKIPPED: 1}
    assert len({(case.suites, case.classname, case.name) for case in cases}) == 6
    assert summary.warnings == ()


def test_counters_that_disagree_are_warnings_and_claimed_failures_are_red(tmp_path: Path) -> None:
    summary, _ = read("C08.xml")
    assert any("less_than_real" in warning for warning in summary.warnings)
    assert any("'many' is no count" in warning for warning in summary.warnings)
    claims = '<testsuite name="s" tests="2" failures="1"><testcase name="a"/><testcase name="b"/></testsuite>'
    assert exit_code([read(text_file(tmp_path, claims))[0]]) == 3


def test_tries_are_counted_and_are_no_failures() -> None:
    summary, cases = read("C10.xml")
    found = {case.name: (case.outcome.value, case.attempts) for case in cases}
    assert found == {
        "recovers": ("passed", 2),
        "recovers_err": ("passed", 3),
        "never": ("failed", 3),
        "plain": ("passed", 1),
    }
    assert summary.flaky == 2


DECLARED = '<?xml version="1.0" encoding="{}"?><testsuite><testcase name="{}"><failure/></testcase></testsuite>'


@pytest.mark.parametrize(
    "text",
    [
        '<x:testsuite xmlns:x="u" name="s"><x:testcase name="a"><x:failure/></x:testcase></x:testsuite>',
        '<testsuite xmlns="u" name="s"><testcase name="a"><failure/></testcase></testsuite>',
        '\ufeff<testsuite name="s"><testcase name="a"><failure/></testcase></testsuite>',
        DECLARED.format("latin-1", "\xe9").encode("latin-1"),
        DECLARED.format("utf-16", "a").encode("utf-16"),
    ],
)
def test_namespaces_and_encodings_hide_no_failure(tmp_path: Path, text: str | bytes) -> None:
    summary, _ = read(text_file(tmp_path, text))
    assert (summary.verdict, summary.counts) == (FileVerdict.WHOLE, {Outcome.FAILED: 1})


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    summary, _ = read(text_file(tmp_path, '<?xml version="1.0" encoding="martian"?><testsuite/>'))
    assert summary.verdict is FileVerdict.UNREADABLE
    assert "encoding" in summary.message


def test_what_pytest_itself_writes_with_a_bad_property_name_is_loud(tmp_path: Path) -> None:
    text = '<testsuite><testcase name="a"/><testcase name="b"><properties><property name="<&" value=""/>'
    summary, cases = read(text_file(tmp_path, text + "</properties></testcase></testsuite>"))
    assert summary.verdict is FileVerdict.UNREADABLE
    assert "byte" in summary.message
    assert [case.name for case in cases] == ["a"]


@given(st.integers(1, 10**6))
def test_a_cut_file_is_never_whole(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    raw = (INPUTS / "C06.xml").read_bytes().rstrip()
    cut = raw[: at % len(raw)]
    path = text_file(tmp_path_factory.getbasetemp(), cut)
    assert read_junit(path).verdict is not FileVerdict.WHOLE


def test_depth_and_size_are_bounded(tmp_path: Path) -> None:
    deep = "<testsuite>" * 20_000
    assert "nested deeper" in read(text_file(tmp_path, deep))[0].message
    large = "<testsuite><testcase name='a'><failure>" + "x" * (8 << 20) + "</failure></testcase><testcase name='after'>"
    summary, cases = read(text_file(tmp_path, large + "<error/></testcase></testsuite>"))
    assert summary.counts == {Outcome.FAILED: 1, Outcome.ERROR: 1}
    assert len(cases[0].text.encode()) <= 16 << 10
    assert "left out" in cases[0].text


# Merging ---------------------------------------------------------------------------------------------------------


def test_a_merge_holds_every_case_with_true_counters(tmp_path: Path) -> None:
    target = tmp_path / "all.xml"
    merged = merge_junit(target, [INPUTS / "C06.xml", INPUTS / "C10.xml", INPUTS / "C03.split.xml"])
    summary, cases = read(target)
    assert summary.verdict is FileVerdict.WHOLE
    parts = [case for name in ("C06.xml", "C10.xml", "C03.split.xml") for case in read(name)[1]]
    key = [(case.classname, case.name, case.outcome, case.attempts, case.text, case.message) for case in parts]
    assert [(c.classname, c.name, c.outcome, c.attempts, c.text, c.message) for c in cases] == key
    assert merged.tests == len(parts)
    assert merged.failures + merged.errors == sum(case.outcome in BAD for case in parts)
    root = ElementTree.parse(target).getroot()
    assert (root.get("tests"), root.get("failures")) == (str(merged.tests), str(merged.failures))


def test_cases_that_are_in_it_twice_are_named(tmp_path: Path) -> None:
    merged = merge_junit(tmp_path / "all.xml", [INPUTS / "C06.xml", INPUTS / "C06.xml"])
    assert merged.duplicates == 6
    assert "p::enum" in merged.named


@pytest.mark.parametrize(
    "name", ["C13.zero.xml", "C13.empty.xml", "C13.coverage.xml", "C16.expand.xml", "C03.naive.xml"]
)
def test_a_part_that_is_not_whole_leaves_the_target_as_it_was(tmp_path: Path, name: str) -> None:
    target = tmp_path / "all.xml"
    target.write_text("before", encoding="utf-8")
    with pytest.raises(EvidenceError, match=name) as caught:
        merge_junit(target, [INPUTS / "C06.xml", INPUTS / name])
    assert caught.value.exit_code == 3
    assert target.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_a_case_outside_any_suite_is_not_lost_in_silence(tmp_path: Path) -> None:
    source = text_file(tmp_path, '<testsuites><testcase name="a"/></testsuites>')
    with pytest.raises(EvidenceError, match="outside any test suite"):
        merge_junit(tmp_path / "all.xml", [source])


def test_a_prefix_of_the_root_is_not_lost_in_silence(tmp_path: Path) -> None:
    text = '<testsuites xmlns:x="u"><testsuite name="s"><testcase name="a" x:y="1"/></testsuite></testsuites>'
    with pytest.raises(EvidenceError, match="namespace"):
        merge_junit(tmp_path / "all.xml", [text_file(tmp_path, text)])
