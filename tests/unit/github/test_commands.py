"""Workflow commands: ours are escaped, others' are defused, GitHub's files are written within their limits."""

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import UsageError
from ci_toolkit.github.commands import (
    SUMMARY_BYTES,
    append_summary,
    command,
    commands_stopped,
    defuse,
    relative_file,
    summary_room,
    write_output,
)

FORGED = (Path(__file__).parent / "C33.txt").read_text(encoding="utf-8", errors="surrogateescape")
TEXT = st.text(st.characters(codec=None))
ON = {"GITHUB_ACTIONS": "true"}


def carried_out(text: str) -> list[str]:
    """The lines in which a runner finds a command, by the runner's own two rules."""
    lines = re.split(r"[\r\n]", text)
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


def test_forged_commands_do_nothing_and_stay_readable() -> None:
    assert carried_out(FORGED)
    assert carried_out(defuse(FORGED)) == []
    assert "plain C++ a::b::c and ::std::vector<int> lines stay readable" in defuse(FORGED)


@given(TEXT.map(lambda text: "\n".join(("::error::x", text, "##[x]", text + "::add-mask::y"))))
def test_no_text_carries_a_command(text: str) -> None:
    assert carried_out(defuse(text)) == []


@given(TEXT, TEXT)
def test_our_commands_are_one_line_whatever_they_say(message: str, title: str) -> None:
    line = command("error", message, title=title, file="a,b:c.py")
    assert line.startswith("::error ")
    assert len(re.split(r"[\r\n\u2028]", line)) == 1
    head, _, _ = line[2:].partition("::")
    properties = head.removeprefix("error ").split(",")
    assert all(re.fullmatch(r"(file|title)=[^:,]*", one) for one in properties)
    line.encode()


def test_properties_without_a_value_are_left_out() -> None:
    assert command("error", "50% done\nnext", file="", line=None) == "::error::50%25 done%0Anext"


def test_commands_are_stopped_until_a_token_that_nobody_knows_even_on_an_error() -> None:
    tokens = set()
    for _ in range(2):
        stream = io.StringIO()
        with pytest.raises(KeyError), commands_stopped(stream, ON):
            raise KeyError(stream.write("::error::from a test\n"))
        first, *_, last = stream.getvalue().split()
        token = first.removeprefix("::stop-commands::")
        assert last == f"::{token}::"
        assert len(token) >= 32
        tokens.add(token)
    assert len(tokens) == 2


def test_outputs_can_not_be_forged_by_their_values(tmp_path: Path) -> None:
    path = tmp_path / "output"
    write_output({"GITHUB_OUTPUT": str(path)}, {"result": "failed\nEOF\nresult=passed"})
    name, *lines, last = path.read_text(encoding="utf-8").splitlines()
    assert lines == ["failed", "EOF", "result=passed"]
    assert name == f"result<<{last}"


def test_the_summary_counts_what_the_step_wrote_already(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    assert summary_room({}) == 0
    assert summary_room(environ) == SUMMARY_BYTES
    path.write_bytes(b"x" * 1000)
    assert summary_room(environ) == SUMMARY_BYTES - 1000
    append_summary(environ, "more")
    assert path.read_bytes() == b"x" * 1000 + b"more"
    path.write_bytes(b"x" * (SUMMARY_BYTES + 1))
    assert summary_room(environ) == 0


def test_a_file_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="GITHUB_STEP_SUMMARY names"):
        append_summary({"GITHUB_STEP_SUMMARY": str(tmp_path / "no/folder")}, "text")


def test_only_files_of_the_checkout_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    environ = {"GITHUB_WORKSPACE": str(tmp_path)}
    assert relative_file("a.py", environ) == "a.py"
    assert relative_file(str(tmp_path / "a.py"), environ) == "a.py"
    for other in ("", "b.py", "../a.py", "/etc/passwd"):
        assert relative_file(other, environ) == ""


@given(st.lists(st.sampled_from(["::", ":", "#", "##[", "[", "error", "]", " ", "\n", "\r", "\t", "\x1b[31m", "\xa0"])))
def test_no_arrangement_of_its_parts_makes_a_command(parts: list[str]) -> None:
    assert carried_out(defuse("".join(parts))) == []


def test_a_text_of_empty_lines_is_read_in_one_pass() -> None:
    assert defuse("\n" * 3_000_000 + "::error::x").endswith("\n: :error::x")


def test_what_is_no_command_is_left_as_it_is() -> None:
    for text in ("a::b::c", "std::vector<int>", "tests/a.py::test_x[p]", "# [1]", "f::g: x\n  y::z"):
        assert defuse(text) == text


def test_stopped_commands_resume_on_a_line_of_their_own() -> None:
    stream = io.StringIO()
    with commands_stopped(stream, ON):
        stream.write("no end of line")
    assert re.search(r"\n::[0-9a-f]{32,}::\n$", stream.getvalue())
    silent = io.StringIO()
    with commands_stopped(silent, {}):
        pass
    assert silent.getvalue() == ""


@pytest.mark.parametrize("kind", ["folder", "no folder", "below a file"])
def test_a_summary_that_can_not_be_had_is_said_once_it_is_written(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("x")
    path = {"folder": tmp_path, "no folder": tmp_path / "no/s", "below a file": tmp_path / "file/s"}[kind]
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    assert summary_room(environ) > 0
    with pytest.raises(UsageError, match="can not be written"):
        append_summary(environ, "text")


def test_half_a_character_can_be_written(tmp_path: Path) -> None:
    environ = {"GITHUB_OUTPUT": str(tmp_path / "o"), "GITHUB_STEP_SUMMARY": str(tmp_path / "s")}
    write_output(environ, {"verdict": "out\udcff"})
    append_summary(environ, "x\ud800")
    assert "out\\udcff" in (tmp_path / "o").read_text(encoding="utf-8")


def test_a_name_that_no_file_can_have_is_outside_the_checkout(tmp_path: Path) -> None:
    environ = {"GITHUB_WORKSPACE": str(tmp_path)}
    for name in ("x" * 70_000, "a\0b", "\ud800"):
        assert relative_file(name, environ) == ""
