"""The job summary: within its room, whole in its markdown, and honest about what it leaves out."""

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ci_toolkit.github.commands import SUMMARY_BYTES
from ci_toolkit.model.case import Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage
from ci_toolkit.model.verdict import Drain, Finding, FindingKind, LaneVerdict, Reproduce, Verdict
from ci_toolkit.publish.summary import fill, render

NASTY = "``` | <b>x</b> </details> @user #12 ![i](http://e.x) \n## h\n| a | b |\r\x1b[31m\u202e\ud800 `````` ~~~ <!--"


def finding(number: int = 0, text: str = "why", kind: FindingKind = FindingKind.REGRESSION) -> Finding:
    return Finding(
        kind=kind,
        key=f"k{number}",
        lane="s-cpu",
        message=text,
        cases=(f"a.py::t{number}[{text}]",),
        expected=text,
        observed="failed",
        failure=Failure(stage=Stage.CALL, cause=Cause.ASSERTION, message=text, excerpt=f"{text}\n" * 3),
        file=f"{text}.py",
        line=number,
        reproduce=Reproduce(argv=("python", "-m", "pytest", text), cwd="/r", env={"A": text}),
        blocks=kind is not FindingKind.FLAKY,
        exit_code=1,
    )


def verdict(findings: list[Finding], lanes: int = 1, left_out: dict[str, str] | None = None) -> Verdict:
    red = any(one.blocks for one in findings)
    rows = tuple(
        LaneVerdict(lane=f"s-{n}", result="failed" if red else "passed", counts={Outcome.PASSED: 3}, seconds=61)
        for n in range(lanes)
    )
    return Verdict(
        result="failed" if red else "passed",
        exit_code=int(red),
        today="2026-12-01",
        lanes=rows,
        findings=tuple(findings),
        left_out=left_out or {},
    )


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = {"text", "softbreak", "text_special", "html_inline", "strong_open", "strong_close", "em_open", "em_close"}


def assert_whole(text: str, room: int) -> None:
    """It fits, and a reader of markdown finds nothing in it but what the summary itself is made of."""
    assert len(text.encode()) <= room
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)
    cells: list[int] = []
    for token in MARKDOWN.parse(text):
        assert token.type not in ("html_block", "blockquote_open", "hr", "ordered_list_open", "code_block"), token
        assert token.tag not in ("h1", "h4", "h5", "h6")
        if token.type == "tr_open":
            cells.append(0)
        elif token.type in ("td_open", "th_open"):
            cells[-1] += 1
        elif token.type == "inline":
            in_code = False
            for child in token.children or ():
                assert child.type in OURS, child
                assert child.type != "html_inline" or child.content in ("<code>", "</code>")
                in_code = child.content == "<code>" or (in_code and child.content != "</code>")
                # GitHub calls nobody from code.
                assert in_code or not re.search(r"(?<!\w)[@#]\w", child.content), child
            assert token.content.count("<code>") == token.content.count("</code>")
    assert set(cells) <= {5}
    rows = [line for line in outside_fences(text) if line.startswith("|")]
    assert len(rows) == len(cells) + bool(cells), "a row of the table is none"


def outside_fences(text: str) -> list[str]:
    """The lines that are not in a block of code; each block must be closed."""
    mark, kept = "", []
    for line in text.split("\n"):
        if mark:
            mark = "" if line == mark else mark
        elif opened := re.match(r"`{3,}", line):
            mark = opened.group()
        else:
            kept.append(line)
    assert not mark, "a fence is left open"
    return kept


def test_the_verdict_comes_first_then_lanes_then_causes() -> None:
    text = render(verdict([finding()], left_out={"s-gpu": "no card"}), 1 << 20)
    first, rest = text.split("\n", 1)
    assert "FAILED" in first
    assert rest.index("| Lane |") < rest.index("regression") < rest.index("To reproduce") < rest.index("Left out")
    assert "no card" in text


def test_green_says_so_in_its_first_line() -> None:
    assert render(verdict([]), 1 << 20).startswith("## PASSED: 1 lane, 3 passed\n")


TEXT = st.one_of(st.just(NASTY), st.text(st.characters(codec=None), max_size=80))


@settings(deadline=None, max_examples=80)
@given(st.lists(TEXT, max_size=12), st.integers(0, 20_000), st.integers(0, 4))
def test_it_fits_any_room_and_no_text_breaks_it(texts: list[str], room: int, lanes: int) -> None:
    findings = [finding(number, text) for number, text in enumerate(texts)]
    given_ = verdict(findings, lanes, {text: text for text in texts})
    rows = [LaneVerdict(lane=text, result=text, device=text, findings=1) for text in texts]
    drain = tuple(Drain(runner=text, lanes=(text,) * 3, devices=(text,), reasons=(text, "x")) for text in texts)
    given_ = msgspec.structs.replace(given_, lanes=(*given_.lanes, *rows), drain=drain)
    for size in (room, 1 << 20):
        assert_whole(render(given_, size), size)


@pytest.mark.parametrize("room", [900 << 10, 100_000, 20_000, 3_000, 600, 100, 10])
def test_many_findings_degrade_and_say_what_is_left_out(room: int) -> None:
    many = [finding(number, f"cause {number} " + "x" * 200) for number in range(4000)]
    text = render(verdict(many), room)
    assert_whole(text, room)
    shown = len(re.findall(r"t\d+\\?\[", text))
    if room >= 600:
        assert text.startswith("## FAILED: 4000 findings")
    if room >= 3_000:
        told = re.search(r"([\d,]+) of 4,000 findings are not shown", text)
        assert told, text[-500:]
        left = int(told.group(1).replace(",", ""))
        titles = len(re.findall(r"^(?:###|-) regression", text, re.MULTILINE))
        assert titles == 4000 - left > 0
        assert shown


def test_what_does_not_block_makes_room_first() -> None:
    notes = [finding(number, "note " + "y" * 500, FindingKind.FLAKY) for number in range(2000)]
    text = render(verdict([finding(0, "the cause"), *notes]), 20_000)
    assert "the cause" in text
    assert_whole(text, 20_000)


def test_many_lanes_never_push_out_the_verdict() -> None:
    for lanes, room in ((20_000, 50_000), (2_000, 4_000), (2_000, 1_000)):
        text = render(verdict([finding()], lanes=lanes), room)
        assert text.startswith("## FAILED")
        assert "regression" in text
        told = re.search(r"([\d,]+) of ([\d,]+) lanes are not shown here, ([\d,]+) of them not passed", text)
        assert told
        left, whole, failed = (int(number.replace(",", "")) for number in told.groups())
        assert whole == lanes
        assert left == failed == lanes - text.count("| <code>s-")
        assert_whole(text, room)


def test_failed_lanes_stay_when_lanes_do_not_fit() -> None:
    lanes = [LaneVerdict(lane=f"green-{number}", result="passed") for number in range(2000)]
    lanes[1234] = LaneVerdict(lane="red-lane", result="failed", findings=1)
    text = render(msgspec.structs.replace(verdict([finding()]), lanes=tuple(lanes)), 6_000)
    assert "red-lane" in text
    assert re.search(r"of 2,000 lanes are not shown here, 0 of them not passed", text)
    assert_whole(text, 6_000)


def test_many_lanes_left_out_leave_room_for_findings() -> None:
    text = render(verdict([finding(), finding(1)], left_out={f"lane-{n}": "no card " * 9 for n in range(3000)}), 9_000)
    assert text.count("### regression") == 2
    told = re.search(r"- \.\.\. and ([\d,]+) more lanes", text)
    assert told
    assert int(told.group(1).replace(",", "")) == 3000 - text.count("- <code>lane-")
    assert_whole(text, 9_000)


def test_four_thousand_cases_of_wide_characters_fit_in_bytes() -> None:
    message, excerpt = "\u6e29" * 80, "\u26a0\ufe0f line\n" * 20
    many = [
        Finding(
            kind=FindingKind.REGRESSION,
            key=str(number),
            lane="s-cpu",
            message=message,
            cases=(f"s.t::c{number}",),
            failure=Failure(stage=Stage.CALL, cause=Cause.EXCEPTION, message=message, excerpt=excerpt),
        )
        for number in range(4000)
    ]
    assert sum(len(one.message.encode()) * 6 for one in many) > 1 << 20
    for room in (SUMMARY_BYTES, SUMMARY_BYTES - 812_345, 70_001, 1 << 20):
        text = render(verdict([*many, finding(1, "note", FindingKind.FLAKY)]), room)
        assert_whole(text, room)
        told = re.search(
            r"([\d,]+) of 4,001 findings are not shown here; verdict.json has all. Not shown: (.*)\.\*", text
        )
        assert told
        left = int(told.group(1).replace(",", ""))
        shown = re.findall(r"^(?:###|-) regression .* s\.t::c(\d+)", text, re.MULTILINE)
        assert [int(number) for number in shown] == list(range(4001 - left)), "the first ones, in their order"
        assert told.group(2) == f"{left - 1:,} x regression, 1 x flaky"


def test_a_command_that_is_too_long_is_told_in_another_way() -> None:
    text = render(verdict([finding(1, "y" * 5000)]), 1 << 20)
    assert "ci-toolkit reproduce CASE" in text
    assert_whole(text, 1 << 20)


@given(st.lists(st.text(st.sampled_from("a\u20ac"), min_size=1, max_size=9), max_size=9), st.integers(0, 60))
def test_as_many_pieces_as_fit_and_a_right_note(pieces: list[str], room: int) -> None:
    text = fill(iter(pieces), len(pieces), room, lambda left: f"{left} left")
    assert len(text.encode()) <= room
    whole = "".join(pieces)
    if len(whole.encode()) <= room - len("0 left"):
        assert text == whole
    elif text and text != whole:
        shown, left = text[: -len("0 left")], int(text[-len("0 left") :].split()[0])
        assert shown == "".join(pieces[: len(pieces) - left])
    elif not text:
        assert room < len("0 left") or not pieces
    assert fill((), 1, 99, lambda left: f"{left} left") == "1 left"
