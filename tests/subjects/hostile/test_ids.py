"""Ids that break whatever takes them for file names, XML, markdown, workflow commands or one line of text.

Every id is an id that pytest runs: a NUL, or a surrogate that is no escaped byte, would end pytest itself.
"""

import pytest

IDS = {
    "newline": "two\nlines",
    "carriage_return": "first\rsecond",
    "tab": "a\tb",
    "node_separator": "a::b",
    "brackets": "a[b]c]",
    "star": "a*b?",
    "slashes": "../../etc/passwd",
    "backslashes": "C:\\temp\\con",
    "long": "x" * 5000,
    "right_to_left": "abc\u202egnp.exe",
    "hebrew": "\u05e9\u05dc\u05d5\u05dd",
    "lone_surrogate": "byte\udcff",
    "escape_sequence": "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "bell": "a\x07b",
    "line_separator": "a\u2028b",
    "workflow_command": "::error file=a.py::injected",
    "percent": "100%0A::error::injected",
    "markup": "<script>alert(1)</script>&lt;",
    "cdata": "]]><testcase/>",
    "markdown": "`code` | cell | **bold** [link](https://example.org) @user #1",
    "fence": "```\n</details>\n",
    "combining": "e\u0301\u0301",
    "astral": "\U0001f4a5",
    "spaces": "  a  b  ",
    "empty": "",
    "quotes": "'\"$(id)`id`",
    "dashes": "--collect-only",
    "comma": "a,b;c",
}


@pytest.mark.parametrize("kind", list(IDS), ids=list(IDS.values()))
def test_passes(kind):
    assert kind


@pytest.mark.parametrize("kind", list(IDS), ids=list(IDS.values()))
def test_fails(kind):
    pytest.fail(kind, pytrace=False)
