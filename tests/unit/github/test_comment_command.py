"""``/ci run SHA`` in a comment: the one form, everything else refused or left to others."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_toolkit.github.comment_command import LINE, Command, NoCommand, read_command

SHA = "0123456789abcdef0123456789abcdef01234567"
ZERO_WIDTH = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066"]
SPACES = ["\t", "\x0b", "\x0c", "\x85", "\u00a0", "\u2003", "\u2028", "\u2029", "\u3000", "\x00", "\x1b", "\r"]


@pytest.mark.parametrize(
    ("body", "command"),
    [
        (f"/ci run {SHA}", Command(SHA)),
        (f"/ci run {SHA}\n", Command(SHA)),
        (f"/ci run {SHA}\r\nI looked at the kernels.\r\n", Command(SHA)),
        (f"/ci run {SHA}   ", Command(SHA)),
        (f"/ci run {SHA} --only ops-*", Command(SHA, ("ops-*",))),
        (f"/ci run {SHA} --only ops-cpu --only [a]?-x --tier nightly", Command(SHA, ("ops-cpu", "[a]?-x"), "nightly")),
        (f"/ci run {SHA} --tier pr --only *", Command(SHA, ("*",), "pr")),
        (f"/ci run {SHA}\n" + "x" * (64 << 10), Command(SHA)),
    ],
)
def test_what_is_asked_for(body: str, command: Command) -> None:
    assert read_command(body) == command


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n",
        "looks good",
        "/ci",
        "/ci rerun",
        "/ci running late",
        "/ci run-all",
        "/ci run_all",
        f"/CI run {SHA}",
        f"/ci  run {SHA}",
        f" /ci run {SHA}",
        f"> /ci run {SHA}",
        f"`/ci run {SHA}`",
        f"```\n/ci run {SHA}\n```",
        f"please\n/ci run {SHA}",
        f"\n/ci run {SHA}",
        f"\r\n/ci run {SHA}",
        f"\r/ci run {SHA}",
        f"<!-- -->/ci run {SHA}",
        f"/\u0441i run {SHA}",
        f"\uff0fci run {SHA}",
        *(f"{hidden}/ci run {SHA}" for hidden in ZERO_WIDTH),
        *(f"/ci{space}run {SHA}" for space in (*SPACES, *ZERO_WIDTH)),
        "x" * (64 << 10),
    ],
)
def test_what_is_meant_for_others(body: str) -> None:
    assert read_command(body) is None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("/ci run", "no commit"),
        ("/ci run ", "no commit"),
        ("/ci run\r\n", "no commit"),
        ("/ci run --only x", "no commit"),
        ("/ci run abc1234", "no whole commit SHA"),
        ("/ci run HEAD", "no whole commit SHA"),
        (f"/ci run {SHA[:39]}", "no whole commit SHA"),
        (f"/ci run {SHA}0", "no whole commit SHA"),
        (f"/ci run {SHA.upper()}", "no whole commit SHA"),
        (f"/ci run {SHA.replace('0', chr(0x0660))}", "no whole commit SHA"),
        (f"/ci run {SHA.replace('a', chr(0x0430))}", "no whole commit SHA"),
        (f"/ci run `{SHA}`", "no whole commit SHA"),
        (f'/ci run "{SHA}"', "no whole commit SHA"),
        (f"/ci run {SHA}.", "no whole commit SHA"),
        (f"/ci run  {SHA}", "one space"),
        (f"/ci run {SHA} please", "one space"),
        (f"/ci run {SHA} {SHA}", "one space"),
        (f"/ci run {SHA} --only", "one space"),
        (f"/ci run {SHA} --only --full", "one space"),
        (f"/ci run {SHA} --only=x", "one space"),
        (f"/ci run {SHA} --only  x", "one space"),
        (f"/ci run {SHA} --only 'x'", "one space"),
        (f"/ci run {SHA} --only x;id", "one space"),
        (f"/ci run {SHA} --only $(id)", "one space"),
        (f"/ci run {SHA} --only ${{{{x}}}}", "one space"),
        (f"/ci run {SHA} --only X", "one space"),
        (f"/ci run {SHA} --full", "one space"),
        (f"/ci run {SHA} --conf /tmp", "one space"),
        (f"/ci run {SHA} --tier --only", "one space"),
        (f"/ci run {SHA} --tier pr --tier nightly", "more than one tier"),
        (f"/ci run {SHA} --only {'x' * LINE}", "longer than"),
        ("/ci run " + "a" * (64 << 10), "longer than"),
        *((f"/ci run{space}{SHA}", "SHA") for space in (*SPACES, *ZERO_WIDTH)),
        *((f"/ci run {SHA}{space}--only x", "SHA") for space in (*SPACES, *ZERO_WIDTH)),
        *((f"/ci run {SHA}{hidden}", "SHA") for hidden in (*SPACES[:-1], *ZERO_WIDTH)),
    ],
)
def test_what_is_refused(body: str, why: str) -> None:
    refused = read_command(body)
    assert isinstance(refused, NoCommand)
    assert why in refused.why


TEXT = st.text(st.sampled_from(f"/ci run-only tier*.{SHA}\r\n\t \u200b`'\"$;{{}}[]?A\u0430"), max_size=90)
FORM = re.compile(r"/ci run [0-9a-f]{40}( --(only|tier) [a-z0-9_.*?\[\]-]+)* *")


@given(TEXT | st.text() | TEXT.map(lambda text: f"/ci run {SHA}{text}") | TEXT.map(lambda text: f"/ci run{text}"))
@example(f"/ci run {SHA} --only -x")
def test_a_command_is_what_its_line_says_and_nothing_else(body: str) -> None:
    command = read_command(body)
    line = body.split("\n")[0].removesuffix("\r")
    if command is None:
        assert not line.startswith("/ci run ")
        assert line != "/ci run"
    elif isinstance(command, NoCommand):
        assert line.startswith("/ci run")
        assert command.why.isascii()
        assert "\n" not in command.why
    else:
        assert FORM.fullmatch(line)
        assert line.split()[:3] == ["/ci", "run", command.commit]
        values = [*command.only, *([command.tier] if command.tier else [])]
        assert sorted(values) == sorted(line.split()[4::2])
        assert not any(value.startswith("-") for value in values)


@given(st.text())
def test_what_stands_below_the_first_line_does_not_matter(rest: str) -> None:
    assert read_command(f"/ci run {SHA}\n{rest}") == Command(SHA)
    assert read_command(f"/ci run\n{rest}") == read_command("/ci run")
