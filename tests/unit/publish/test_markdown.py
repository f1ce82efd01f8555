"""Text of tests in markdown: it stays what it is, and can be copied from where it stands as code."""

import html
import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ci_toolkit.model.text import one_line, visible
from ci_toolkit.publish.markdown import ZERO_WIDTH, code, fence, inline, row

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PARTS = st.lists(
    st.sampled_from(
        ["`", "``", "*", "_", "[", "]", "(", ")", "<", ">", "b>", "&", "amp;", "|", "\\", "~~", "!", "#", "@u", "$"]
        + ["http://e.x", "www.e.x", " ", "\n", "-", "=", "+ ", "1. ", "a", "</code>", "\u20ac"]
    )
).map("".join)
TEXT = st.one_of(PARTS, st.text(st.characters(codec="utf-8")))


def shown(markdown: str) -> tuple[str, set[str]]:
    """The text that a reader sees, and the kinds of marks in it."""
    (paragraph,) = [token for token in MARKDOWN.parse(markdown) if token.type == "inline"]
    children = paragraph.children or []
    text = "".join(child.content for child in children if child.type in ("text", "text_special"))
    marks = {child.content if child.type == "html_inline" else child.type for child in children}
    return text, marks - {"text", "text_special"}


@given(TEXT)
@example("a.py::t[http://www.e.x/|@me #12 `x` </code> ![i](y)]  z ")
def test_code_is_copied_to_the_letter(text: str) -> None:
    seen, marks = shown(f"x {code(text)} y")
    assert seen == f"x {one_line(text)} y"
    assert marks == {"<code>", "</code>"}


@given(TEXT)
def test_prose_reads_as_it_is_and_marks_nothing(text: str) -> None:
    seen, marks = shown(f"x {inline(text)} y")
    assert seen.replace(ZERO_WIDTH, "") == f"x {one_line(text).strip()} y".replace(ZERO_WIDTH, "")
    assert marks == set()
    assert not re.search(r"(?<!\w)[@#]\w|://\w|www\.", seen)


@given(st.lists(TEXT, min_size=2, max_size=5))
def test_a_row_has_as_many_cells_as_were_given(texts: list[str]) -> None:
    for make in (code, inline):
        table = row(["h"] * len(texts)) + row(["---"] * len(texts)) + row([make(text) for text in texts])
        tokens = MARKDOWN.parse(table)
        assert sum(token.type == "td_open" for token in tokens) == len(texts)
        assert tokens[-1].type == "table_close"


@given(TEXT, st.sampled_from(["", "sh"]))
def test_a_fence_holds_its_text_and_ends(text: str, language: str) -> None:
    (block,) = MARKDOWN.parse(fence(text, language))
    assert block.type == "fence"
    assert block.info == language
    plain = visible(text).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    assert html.unescape(block.content) == html.unescape(f"{plain}\n")
