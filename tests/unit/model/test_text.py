"""Text of tests on its way to people: no character acts, nothing is lost without a word, and no input takes long."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_toolkit.model.text import clip, encodable, one_line, strip_terminal, visible

ODD = "\x1b\x9b\x9c\x07\x00\x7f\x85\ud800\udcff\u202e\u2066\u200f\u2028\ufeff\ufffe[]0;m\\P_^X \n\r\t~a\u20ac\U0001f600"
TEXT = st.one_of(st.text(st.characters(codec=None)), st.text(st.sampled_from(ODD)))
ACTS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


@given(TEXT)
def test_visible_text_holds_nothing_that_acts_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    assert not ACTS.search(shown)
    assert visible(shown) == shown
    shown.encode()


@given(TEXT)
def test_one_line_is_one_line(text: str) -> None:
    line = one_line(text)
    assert not re.search(r"[\n\r\t]", line)
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line


@given(TEXT)
def test_encodable_text_touches_nothing_else(text: str) -> None:
    made = encodable(text)
    made.encode()
    assert made == text or re.search("[\ud800-\udfff]", text)
    assert encodable(made) == made


@given(TEXT, st.integers(-3, 200))
@example("\u20ac" * 100, 50)
def test_a_clipped_text_fits_and_says_how_much_is_missing(text: str, limit: int) -> None:
    whole = encodable(text).encode()
    cut = clip(text, limit)
    assert len(cut.encode()) <= max(limit, 0)
    assert clip(cut, limit) == cut
    if len(whole) <= limit:
        assert cut.encode() == whole
    mark = re.search(r"\[\.\.\. (\d+) bytes left out \.\.\.\]", cut)
    if mark and "bytes left out" not in text:
        assert int(mark[1]) == len(whole) - len(cut.encode()) + len(mark[0])


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://e.x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x9ctext", "text"),
        ("\x9b31mred", "red"),
        ("\x1bPq#0~\x1b\\x", "x"),
        ("\x1b(Bx", "x"),
        ("no escape", "no escape"),
    ],
)
def test_terminal_sequences_are_removed(raw: str, plain: str) -> None:
    assert strip_terminal(raw) == plain


def test_a_sequence_without_an_end_does_not_hide_the_lines_behind_it() -> None:
    assert visible("\x1b]0;never ended\nE   assert 1 == 2") == "\nE   assert 1 == 2"
    assert "assert" in visible("\x1bPnever ended\nassert")


@pytest.mark.parametrize(
    "unit", ["\x1b]", "\x1b[", "\x1b]0;x", "\x1bP\n", "\x1b", "\x1b[0;1 ", "\x9b0", "\x1b ", "\x1b\x1b]x\x1b"]
)
@pytest.mark.parametrize("glue", ["", "0", " "])
def test_megabytes_of_sequences_without_an_end_are_read_in_one_pass(unit: str, glue: str) -> None:
    # A pattern that looks at a text once for each of its characters would not come back here.
    for text in (unit * (1 << 18), unit + glue * (1 << 20)):
        assert not ACTS.search(visible(text))
