"""The verdict on a terminal and in a log: nothing acts, nothing is folded, the last line is the verdict."""

import re
import subprocess

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_toolkit.model.case import Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage
from ci_toolkit.model.verdict import Finding, FindingKind, LaneVerdict, Reproduce, Verdict
from ci_toolkit.publish.terminal import FINDINGS_SHOWN, print_values, print_verdict
from ci_toolkit.publish.words import MEANING, headline

NASTY = (
    "\x1b[31mred\x1b[0m \x07\u202e\r::error::x\n::add-mask::y ##[error]z \x9b2J \u20ac" + "w" * 300 + "::error::folded"
)


def finding(number: int = 0, text: str = "why") -> Finding:
    return Finding(
        kind=FindingKind.REGRESSION,
        key=str(number),
        lane="s-cpu",
        message=text,
        count=3,
        cases=(f"a::{text}{number}", f"b::{text}", f"c::{text}"),
        observed=text,
        failure=Failure(stage=Stage.CALL, cause=Cause.EXCEPTION, message=text, excerpt=f"{text}\n" * 20),
        file=f"{text}.py",
        line=3,
        evidence=text,
        reproduce=Reproduce(argv=("echo", f"{text} {number}" + "x" * 500), env={"A": text}),
    )


def verdict(findings: list[Finding], text: str = "dev") -> Verdict:
    lane = LaneVerdict(lane="s-cpu", result="failed", counts={Outcome.FAILED: 1}, seconds=3.0, device=text)
    return Verdict(
        result="failed",
        exit_code=1,
        today="2026-12-01",
        lanes=(lane,),
        findings=tuple(findings),
        left_out={"s-gpu": text},
    )


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.just(NASTY), st.text(st.characters(codec="utf-8"), max_size=60)))
def test_nothing_of_a_test_acts_in_a_log(capsys: pytest.CaptureFixture[str], text: str) -> None:
    given_ = verdict([finding(1, text)], text)
    print_verdict(given_)
    print_values("lane", {"key": {"value": [text], "source": text}})
    printed = capsys.readouterr().out
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", printed)
    assert not [line for line in printed.splitlines() if line.lstrip().startswith("::") or "##[" in line]


def test_the_last_line_is_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    given_ = verdict([finding(1)])
    print_verdict(given_)
    assert capsys.readouterr().out.splitlines()[-1] == headline(given_) == "FAILED: 1 finding; a gate failed (exit 1)"


@pytest.mark.parametrize("code", sorted(MEANING))
def test_every_exit_code_is_told_in_words(code: int) -> None:
    if code:
        text = headline(msgspec.structs.replace(verdict([]), exit_code=code))
        assert text == f"FAILED: {MEANING[code]} (exit {code})"


def test_a_command_to_reproduce_is_copied_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    print_verdict(verdict([finding(7, "it's $HOME\n\x1b[31m")]))
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "reproduce:" in line]
    done = subprocess.run(["bash", "-c", line.partition("reproduce: ")[2]], capture_output=True, text=True, check=True)
    assert done.stdout == "it's $HOME\n\x1b[31m 7" + "x" * 500 + "\n"


def test_the_most_important_finding_stands_next_to_the_verdict_and_the_rest_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_verdict(verdict([finding(number, f"m{number}-") for number in range(FINDINGS_SHOWN + 7)]))
    printed = capsys.readouterr().out
    shown = [int(number) for number in re.findall(r"^  m(\d+)-$", printed, re.MULTILINE)]
    assert shown == list(reversed(range(FINDINGS_SHOWN)))
    assert "... and 7 more findings" in printed


@pytest.mark.parametrize("columns", ["abc", "", "-3", "20"])
def test_a_log_has_no_width(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    print_verdict(verdict([], "device " * 60))
    assert any(line.count("device") >= 60 for line in capsys.readouterr().out.splitlines())
