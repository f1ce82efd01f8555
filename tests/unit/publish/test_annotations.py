"""Annotations: ten at most, each within what GitHub takes, on lines of the checkout, and none forged."""

import re
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.github.commands import relative_file
from ci_toolkit.model.case import Failure
from ci_toolkit.model.outcome import Cause, Stage
from ci_toolkit.model.verdict import Finding, FindingKind, LaneVerdict, Verdict
from ci_toolkit.publish.annotations import PER_STEP, annotations
from ci_toolkit.publish.words import headline

LIMIT = 64_000
TEXT = st.text(st.characters(codec=None))


def finding(name: str, file: str = "", line: int | None = None, message: str = "why", excerpt: str = "") -> Finding:
    return Finding(
        kind=FindingKind.REGRESSION,
        key=name[:20],
        lane="s-cpu",
        message=message,
        cases=(name,),
        file=file,
        line=line,
        failure=Failure(stage=Stage.CALL, cause=Cause.EXCEPTION, message=message, excerpt=excerpt),
    )


def verdict(findings: list[Finding]) -> Verdict:
    lanes = (LaneVerdict(lane="s-cpu", result="failed"),)
    return Verdict(result="failed", exit_code=1, today="2026-12-01", lanes=lanes, findings=tuple(findings))


def read(line: str) -> tuple[dict[str, str], str]:
    """A command as a runner reads it: properties and message, unescaped."""
    assert line.startswith("::error")
    assert len(line.encode()) <= LIMIT
    assert not re.search(r"[\u2028\u2029\x00-\x08\x0a-\x1f]", line)
    head, _, message = line[2:].partition("::")
    pairs = [one.partition("=") for one in head.removeprefix("error").strip().split(",") if one]
    return {key: _plain(value, ":,") for key, _, value in pairs}, _plain(message)


def _plain(text: str, extra: str = "") -> str:
    for character in f"{extra}\r\n%":
        text = text.replace(f"%{ord(character):02X}", character)
    return text


@pytest.mark.parametrize(("count", "left"), [(0, 0), (1, 0), (9, 0), (10, 2), (140, 132), (10_000, 9992)])
def test_nine_at_most_and_the_last_counts_the_rest(count: int, left: int) -> None:
    lines = annotations(verdict([finding(f"t::{number}") for number in range(count)]), lambda file: "")
    assert len(lines) == max(min(count, PER_STEP), 1)
    if left:
        assert f"and {left} more findings" in read(lines[-1])[1]
    told = re.findall(r"t::(\d+)", "\n".join(read(line)[0]["title"] for line in lines))
    assert told == [str(number) for number in range(count - left)], "the most important ones, in their order"


def test_odd_names_places_and_lines(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/t.py").write_text("x")
    odd = "C:\\w\\a,b:c.py"
    (tmp_path / "a,b:c%.py").write_text("x")
    environ = {"GITHUB_WORKSPACE": str(tmp_path)}
    findings = [
        finding("N" * 70_000, "tests/t.py", 1),
        finding("abs", sys.executable, 3),
        finding("odd", odd, None, "l1\nl2%25"),
        finding("minus", "tests/t.py", -1),
        finding("zero", "tests/t.py", 0),
        finding("long", "x" * 70_000, 1),
        finding("comma", "a,b:c%.py", 7, "m, with: commas"),
        finding("up", "../outside.py", 7),
    ]
    found = [read(line) for line in annotations(verdict(findings), lambda file: relative_file(file, environ))]
    places = [(given.get("file"), given.get("line")) for given, _ in found]
    inside = "tests/t.py"
    none = (None, None)
    assert places == [(inside, "1"), none, none, (inside, None), (inside, None), none, ("a,b:c%.py", "7"), none]
    assert found[2][1].startswith("l1\nl2%25")
    assert found[6][1].startswith("m, with: commas")


@given(TEXT, TEXT)
def test_no_text_breaks_out_of_its_annotation(name: str, message: str) -> None:
    (line,) = annotations(verdict([finding(name, name, 1, message, message)]), lambda file: file)
    given, told = read(line)
    assert set(given) <= {"file", "line", "title"}
    assert "\x1b" not in told
    line.encode()


@pytest.mark.parametrize("text", ["%", "\n", "\u20ac", "\x00", "\u202e", "##[", "::error::x\n", "\ud800"])
def test_a_huge_message_is_cut_whatever_it_is_made_of(text: str) -> None:
    huge = text * 100_000
    (line,) = annotations(verdict([finding(huge, huge, 1, huge, huge)]), lambda file: file)
    read(line)


def test_what_does_not_block_is_no_error() -> None:
    note = msgspec.structs.replace(finding("flaky"), blocks=False)
    green = msgspec.structs.replace(verdict([note]), result="passed", exit_code=0)
    assert annotations(green, lambda file: "") == []


def test_a_red_without_findings_is_told() -> None:
    given, message = read(annotations(verdict([]), lambda file: "")[0])
    assert message.startswith("FAILED: a gate failed")
    assert given == {"title": "ci-toolkit"}


def test_a_verdict_whose_code_and_result_disagree_is_no_pass() -> None:
    odd = msgspec.structs.replace(verdict([]), result="passed", exit_code=3)
    assert headline(odd).startswith("FAILED")
    assert annotations(odd, lambda file: file)
