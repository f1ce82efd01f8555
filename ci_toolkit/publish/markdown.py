"""Text from tests inside GitHub's markdown: it can not break a table, a fence, or call anybody."""

import re

from ci_toolkit.model.text import one_line, visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~>$-])")
_RUN = re.compile("`+")
_WORDS = re.compile(r"(?<=[@#])(?=\w)|(?<=://)|(?<=www)(?=\.)|(?<=\bGH)(?=-\d)")
_IN_CODE = re.compile(r"[&<>|\\`*_\[\]~$!]|:(?=//)|(?<=www)\.|^\s|\s(?=\s|$)", re.IGNORECASE)
"""Markdown is read inside the ``code`` element too. Nobody is called from there, but addresses become links."""
ZERO_WIDTH = "\u200b"


def inline(text: str) -> str:
    """``text`` on one line, as it is: no markdown, no HTML, no mention, no link."""
    safe = one_line(text).strip().replace("&", "&amp;").replace("<", "&lt;")
    return _WORDS.sub(ZERO_WIDTH, _SPECIAL.sub(r"\\\1", safe))


def code(text: str) -> str:
    """``text`` on one line as code, also inside a table. What a reader copies is ``text``, with nothing in between."""
    return f"<code>{_IN_CODE.sub(lambda match: f'&#{ord(match.group())};', one_line(text))}</code>"


def fence(text: str, language: str = "") -> str:
    """``text`` as a block of code; the fence is longer than any run of backticks in it."""
    safe = visible(text).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    longest = max((len(run) for run in _RUN.findall(safe)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{language}\n{safe}\n{mark}\n"


def row(cells: list[str]) -> str:
    """A row of a table, from cells that are safe already."""
    return "| " + " | ".join(cells) + " |\n"
