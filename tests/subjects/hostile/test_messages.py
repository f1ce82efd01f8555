"""Failures whose text, type or traceback is hostile. Every case of this file fails."""

import pytest

MESSAGES = {
    "surrogate_of_any_kind": "lone \ud800 surrogate",
    "controls": "".join(map(chr, range(32))) + "\x7f\x9b31m",
    "not_in_xml": "\ufffe\uffff ]]> <!-- -- --> &amp;",
    "workflow_commands": "\n::error file=a.py,line=1::injected\n::add-mask::passed\n##[error]injected\n",
    "percent": "100%\r\n%0A::error::injected",
    "escape_sequences": "\x1b[2J\x1b[1;1H\x1b]0;title\x07\x1b]8;;https://example.org\x07link\x1b]8;;\x07 \x1b[31m",
    "fences": "````\n```\n</details></summary>\n| a | b |\n",
    "mentions": "@octocat #1 GH-1 https://example.org",
    "markup": "<img src=x onerror=alert(1)></pre></td></table>",
    "right_to_left": "\u202eabc\u2066",
    "long_line": "y" * 1_000_000,
    "many_lines": "z\n" * 100_000,
    "empty": "",
    "blank": " \n\t ",
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_message(kind):
    raise AssertionError(MESSAGES[kind])


class UnprintableError(Exception):
    """Can be shown neither as text nor by ``repr``."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


def test_exception_without_text():
    raise UnprintableError


def test_exception_that_is_no_ordinary_one():
    raise BaseException("neither Exception nor exit")


def test_system_exit():
    raise SystemExit(0)


def test_exception_with_a_hostile_name():
    raise type("Evil\n::error::<b>\u202e", (Exception,), {})("hostile type")


def test_endless_recursion():
    def deeper():
        return deeper()

    deeper()


def test_long_chain_of_causes():
    error = ValueError("first")
    for number in range(200):
        following = ValueError(f"cause {number}")
        following.__cause__ = error
        error = following
    raise error


def test_huge_values_in_a_comparison():
    assert list(range(200_000)) == list(range(1, 200_001))


def test_code_that_has_no_file():
    exec(compile("raise ValueError('from nowhere')", "<a\n\x1b[31m/../b>", "exec"))
