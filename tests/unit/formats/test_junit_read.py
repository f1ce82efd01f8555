"""Files of odd producers, and hostile ones: no failure is hidden, little memory is taken, each fault has its place."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.formats import junit_read
from ci_toolkit.formats.junit_read import FileVerdict, JunitCase, JunitSummary, read_junit
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.publish.junit import exit_code

INPUTS = Path(__file__).parent / "inputs"
SUBJECTS = Path(__file__).parents[2] / "subjects" / "pytest"
LONG = "x" * (64 << 10)


def read(folder: Path, text: str | bytes) -> tuple[JunitSummary, list[JunitCase]]:
    path = folder / "file.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    cases: list[JunitCase] = []
    return read_junit(path, cases.append), cases


# What hides a failure --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "outcome"),
    [
        ('status="failed"', Outcome.FAILED),
        ('status="FAILED"', Outcome.FAILED),
        ('status="run" result="failure"', Outcome.FAILED),
        ('status="run" result="completed"', Outcome.PASSED),
        ('result="error"', Outcome.ERROR),
        ('status="broken"', Outcome.ERROR),
        ('status="timedout"', Outcome.TIMEOUT),
        ('status="notrun"', Outcome.SKIPPED),
        ('status="run" result="suppressed"', Outcome.SKIPPED),
        ('status="passed"', Outcome.PASSED),
        ('status=""', Outcome.PASSED),
    ],
)
def test_a_status_without_an_element_is_heard(tmp_path: Path, attributes: str, outcome: Outcome) -> None:
    summary, _ = read(tmp_path, f'<testsuite><testcase name="a" {attributes}/></testsuite>')
    assert summary.counts == {outcome: 1}


def test_an_error_of_a_suite_itself_is_a_case(tmp_path: Path) -> None:
    text = '<testsuites><testsuite name="s" tests="1" errors="1"><error message="set-up failed">trace</error>'
    summary, cases = read(tmp_path, text + '<testcase name="a"/></testsuite></testsuites>')
    assert summary.counts == {Outcome.ERROR: 1, Outcome.PASSED: 1}
    assert (cases[0].name, cases[0].message, cases[0].text) == ("[suite]", "set-up failed", "trace")
    assert exit_code([summary]) == 1


def test_a_case_in_a_case_hides_neither(tmp_path: Path) -> None:
    text = '<testsuite><testcase name="out"><testcase name="in"><failure>f</failure></testcase><error>e</error>'
    _, cases = read(tmp_path, text + "</testcase></testsuite>")
    assert [(case.name, case.outcome, case.text) for case in cases] == [("in", "failed", "f"), ("out", "error", "e")]


def test_the_worst_of_several_elements_stands(tmp_path: Path) -> None:
    text = '<testsuite tests="1"><testcase name="a"><skipped/><failure message="m"/><error message="n"/></testcase>'
    summary, cases = read(tmp_path, text + "</testsuite>")
    assert (summary.counts, cases[0].message) == ({Outcome.ERROR: 1}, "m")


def test_a_claim_of_failures_that_reruns_explain_is_no_contradiction(tmp_path: Path) -> None:
    text = '<testsuite tests="1" failures="1"><testcase name="a"><flakyFailure/></testcase></testsuite>'
    assert read(tmp_path, text)[0].verdict is FileVerdict.WHOLE
    text = '<testsuite tests="1" failures="2"><testcase name="a"><flakyFailure/></testcase></testsuite>'
    assert read(tmp_path, text)[0].verdict is FileVerdict.CONTRADICTION


def test_two_reports_in_one_file_are_not_half_read(tmp_path: Path) -> None:
    one = '<testsuite><testcase name="a"/></testsuite>'
    summary, cases = read(tmp_path, one + one.replace("/>", "><failure/></testcase>"))
    assert (summary.verdict, len(cases)) == (FileVerdict.UNREADABLE, 1)


# Encodings and forbidden bytes -----------------------------------------------------------------------------------

FAILING = '<?xml version="1.0" encoding="{}"?><testsuite><testcase name="{}"><failure/></testcase></testsuite>'


@pytest.mark.parametrize("codec", ["gbk", "shift_jis", "euc-kr", "big5", "cp1252", "utf-32", "utf-16-le", "utf-16-be"])
def test_encodings_that_the_parser_does_not_know_hide_nothing(tmp_path: Path, codec: str) -> None:
    name = {"cp1252": "\u20ac\xe9", "euc-kr": "\ud55c"}.get(codec, "\u4e2d")
    summary, cases = read(tmp_path, FAILING.format(codec, name).encode(codec))
    assert (summary.verdict, summary.counts, cases[0].name) == (FileVerdict.WHOLE, {Outcome.FAILED: 1}, name)


def test_a_file_that_says_utf_16_and_is_not(tmp_path: Path) -> None:
    summary, cases = read(tmp_path, FAILING.format("utf-16", "\u4e2d"))
    assert (summary.verdict, cases[0].name) == (FileVerdict.WHOLE, "\u4e2d")


@pytest.mark.parametrize("codec", ["rot13", "hex", "martian", "zlib"])
def test_what_is_no_encoding_is_refused(tmp_path: Path, codec: str) -> None:
    summary, _ = read(tmp_path, FAILING.format(codec, "a"))
    assert (summary.verdict, exit_code([summary])) == (FileVerdict.UNREADABLE, 3)
    assert codec in summary.message


def test_white_space_before_the_declaration_costs_nothing(tmp_path: Path) -> None:
    summary, _ = read(tmp_path, "\ufeff \r\n" + FAILING.format("utf-8", "a"))
    assert summary.verdict is FileVerdict.WHOLE


def test_bytes_that_are_no_utf_8_are_named_by_their_place(tmp_path: Path) -> None:
    text = b'<testsuite><testcase name="a"/><testcase name="\xff"/></testsuite>'
    summary, cases = read(tmp_path, text)
    assert summary.verdict is FileVerdict.UNREADABLE
    assert f"(byte {text.index(bytes([255]))})" in summary.message
    assert "1 cases before it were read" in summary.message
    assert [case.name for case in cases] == ["a"]


@given(
    before=st.lists(st.sampled_from(["\x01", "&#2;", "&#x1F;", "\x00", "&amp;", "plain", "\u20ac"]), max_size=300),
    lead=st.sampled_from(["", " \n", "\ufeff"]),
)
def test_the_place_of_a_fault_is_that_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], lead: str
) -> None:
    text = f"{lead}<testsuite><testcase name='a'><failure>{''.join(before)}</failure></testcase><"
    summary, _ = read(tmp_path_factory.getbasetemp(), text + "!></testsuite>")
    # The parser stops behind "<!", which could begin a comment.
    assert f"(byte {len(text.encode()) + 1})" in summary.message


def test_references_are_found_where_blocks_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_toolkit.formats.junit_bytes.BLOCK", 7)
    monkeypatch.setattr("ci_toolkit.formats.junit_read.BLOCK", 7)
    body = "&#x12;" * 400 + "&#10;&amp;&lt;\x01" * 400
    summary, cases = read(tmp_path, f"<testsuite><testcase name='a'><failure>{body}</failure></testcase></testsuite>")
    assert cases[0].text == "\\u0012" * 400 + "\n&<\\x01" * 400
    assert "800 characters that XML forbids" in summary.warnings[0]


def test_what_pytest_itself_writes_is_read_or_refused_aloud(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    shutil.copy(SUBJECTS / "C01_test.py", tmp_path)
    options = ["-p", "no:cacheprovider", "-o", "junit_family=xunit1", "--rootdir", ".", f"--junitxml={report}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", *options, "C01_test.py"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == 1
    summary = read_junit(report)
    assert summary.verdict is FileVerdict.WHOLE
    assert summary.counts == {Outcome.FAILED: 1, Outcome.SKIPPED: 1, Outcome.PASSED: 1}


# Size ------------------------------------------------------------------------------------------------------------


def test_numbers_and_warnings_without_end_are_bounded(tmp_path: Path) -> None:
    cases = "".join(f"<testcase name='c{n}' time='{'9' * 500}x'/>" for n in range(200))
    summary, _ = read(tmp_path, f"<testsuite tests='{'9' * 5000}' failures='{'9' * 5000}'>{cases}</testsuite>")
    assert summary.verdict is FileVerdict.WHOLE
    assert len(summary.warnings) == 51
    assert summary.warnings[-1] == "152 more warnings"
    assert max(len(warning) for warning in summary.warnings) <= 400


def test_each_text_is_clipped_and_says_so(tmp_path: Path) -> None:
    text = f"<testsuite name='{LONG}'><testcase name='{LONG}' classname='{LONG}' file='{LONG}'>"
    summary, cases = read(tmp_path, text + f"<failure message='{LONG}'>{LONG}</failure></testcase></testsuite>")
    case = cases[0]
    for value in (case.name, case.classname, case.file, case.message, case.text, *case.suites):
        assert len(value.encode()) <= junit_read.TEXT_BYTES
        assert "left out" in value
    assert summary.counts == {Outcome.FAILED: 1}


def test_a_tag_that_does_not_fit_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit_read, "TAG_BYTES", 1 << 20)
    for text in (f"<!-- {'x' * (2 << 20)} -->", f"<testcase name='{'x' * (2 << 20)}'/>"):
        summary, _ = read(tmp_path, f"<testsuite><testcase name='a'/>{text}</testsuite>")
        assert (summary.verdict, summary.counts) == (FileVerdict.UNREADABLE, {Outcome.PASSED: 1})
        assert "above 1 MiB" in summary.message


def generated(folder: Path, generator: str, *args: str) -> Path:
    path = folder / "large.xml"
    subprocess.run([sys.executable, str(INPUTS / generator), str(path), *args], check=True)
    return path


@pytest.mark.parametrize("kind", ["cdata", "text", "attr", "deep"])
def test_large_and_deep_files_take_little_memory(tmp_path: Path, kind: str) -> None:
    path = generated(tmp_path, "C15.gen.py", "20", kind)
    program = (
        "import resource, sys; from pathlib import Path; from ci_toolkit.formats.junit_read import read_junit\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "summary = read_junit(Path(sys.argv[1]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, dict(summary.counts), summary.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    grown, _, told = done.stdout.partition(" ")
    kib = int(grown) // (1024 if sys.platform == "darwin" else 1)
    # A tag is held as a whole by the parser and once more by Python; a text is not.
    assert kib < (150 << 10 if kind == "attr" else 8 << 10)
    assert "'failed'" in told if kind != "deep" else "nested deeper than 500" in told


def test_entities_are_refused_before_they_cost_anything(tmp_path: Path) -> None:
    summary = read_junit(generated(tmp_path, "C16.quadratic.gen.py"))
    assert summary.verdict is FileVerdict.UNREADABLE
    assert "document type is not accepted" in summary.message
    assert "(byte 12)" in summary.message, "the declaration has begun, and no entity is read"
