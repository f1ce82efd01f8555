"""What goes through GitHub's API: within its limits, whole in its markdown, and hostile text stays text."""

import datetime
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ci_toolkit.github.comments import comment_room
from ci_toolkit.model.case import Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage
from ci_toolkit.model.verdict import Finding, FindingKind, LaneVerdict, Reproduce, Verdict
from ci_toolkit.publish.check_run import ANNOTATIONS, conclusion, render_check
from ci_toolkit.publish.comment import render_comment
from ci_toolkit.publish.issue import cause, render_issue

RUN = "[Run 7](https://github.com/o/r/actions/runs/7), attempt 1"
NASTY = "``` | <b>x</b> </details> @user #12 ![i](http://e.x) \n## h\n| a | b |\r\x1b[31m\u202e\ud800 ~~~ --> <!--"
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
TEXT = st.one_of(st.just(NASTY), st.text(st.characters(codec=None), max_size=80))
DAY = datetime.date(2026, 12, 1)


def finding(number: int = 0, text: str = "why", kind: FindingKind = FindingKind.REGRESSION, file: str = "") -> Finding:
    return Finding(
        kind=kind,
        key=f"k{number}",
        lane="s-cpu",
        message=text,
        cases=(f"a.py::t{number}[{text}]",),
        observed=text,
        failure=Failure(stage=Stage.CALL, cause=Cause.ASSERTION, message=text, excerpt=f"{text}\n" * 3),
        file=file or f"{text}.py",
        line=number,
        reproduce=Reproduce(argv=("pytest", text)),
        blocks=kind is FindingKind.REGRESSION,
    )


def verdict(findings: list[Finding], results: tuple[str, ...] = (), today: str = "2026-12-02") -> Verdict:
    red = any(one.blocks for one in findings)
    lanes = results or (("failed" if red else "passed"),)
    return Verdict(
        result="failed" if red else "passed",
        exit_code=int(red),
        today=today,
        lanes=tuple(LaneVerdict(lane="s-cpu", result=result, counts={Outcome.PASSED: 3}) for result in lanes),
        findings=tuple(findings),
    )


def assert_harmless(text: str, room: int) -> None:
    """It fits, and a reader of markdown finds in it only what we put there."""
    assert len(text.encode()) <= room
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)
    cells: list[int] = []
    for token in MARKDOWN.parse(text):
        assert token.type not in ("html_block", "hr", "ordered_list_open", "code_block"), token
        assert token.tag not in ("h1", "h4", "h5", "h6")
        cells += [0] if token.type == "tr_open" else []
        if token.type in ("td_open", "th_open"):
            cells[-1] += 1
        in_code = False
        for child in token.children or ():
            assert child.type != "image"
            assert child.type != "html_inline" or child.content in ("<code>", "</code>")
            assert child.type != "link_open" or child.attrs["href"] == "https://github.com/o/r/actions/runs/7"
            in_code = child.content == "<code>" or (in_code and child.content != "</code>")
            assert in_code or child.type == "link_open" or not re.search(r"(?<!\w)[@#]\w|://\w", child.content), child
    assert set(cells) <= {5}


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXT, st.booleans()), max_size=8), st.integers(2_000, 70_000), st.booleans())
def test_no_text_breaks_out_of_comment_check_or_issue(
    texts: list[tuple[str, bool]], room: int, from_fork: bool
) -> None:
    kinds = [FindingKind.INHERITED if inherited else FindingKind.REGRESSION for _, inherited in texts]
    found = verdict([finding(at, text, kind) for at, ((text, _), kind) in enumerate(zip(texts, kinds, strict=True))])
    rows = [LaneVerdict(lane=text, result=text, device=text, findings=1) for text, _ in texts]
    found = msgspec.structs.replace(found, lanes=(*found.lanes, *rows), left_out={text: text for text, _ in texts})
    assert_harmless(render_comment(found, room, RUN, from_fork=from_fork), room)
    assert_harmless(render_issue(found, DAY, {}, room, RUN), room)
    check = render_check(found, "/checkout")
    assert_harmless(check.summary, 65_535)
    assert check.title.isprintable()
    for note in check.annotations:
        assert note.path
        assert "\n" not in note.path + note.title
        assert not note.path.startswith(("/", ".."))
        assert note.line > 0
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", note.message + note.title + note.path)


def test_a_comment_of_a_huge_verdict_is_cut_with_a_sentence_and_names_its_run() -> None:
    many = [finding(number, f"cause {number} " + "\u20ac" * 500) for number in range(4000)]
    many += [finding(number, "old " + "x" * 500, FindingKind.INHERITED) for number in range(4000)]
    found = verdict(many)
    rows = tuple(LaneVerdict(lane=f"s-{number}", result="failed") for number in range(5000))
    text = render_comment(msgspec.structs.replace(found, lanes=rows), comment_room("k"), RUN)
    assert_harmless(text, comment_room("k"))
    assert text.endswith(f"\n{RUN}\n")
    assert re.search(r"of 4,000 findings are not shown here", text)
    assert re.search(r"\.\.\. and [\d,]+ more inherited findings", text)
    assert re.search(r"of 5,000 lanes are not shown here", text)


def test_introduced_and_inherited_stand_apart() -> None:
    found = verdict([finding(1, "new"), finding(2, "old one", FindingKind.INHERITED), finding(3, "also new")])
    text = render_comment(found, 60_000, RUN)
    head, _, inherited = text.partition("### Inherited: 1 finding\n")
    assert head.startswith("## FAILED: 2 findings")
    assert "**2 findings not known from the base; 1 inherited from it.**" in head
    assert "old one" in inherited
    assert "old one" not in head
    assert "new" not in inherited


def test_without_an_inherited_finding_nothing_is_said_of_a_base() -> None:
    assert "base" not in render_comment(verdict([finding(1)]), 60_000, RUN)


def test_what_a_forks_run_reports_is_said_to_be_its_word() -> None:
    assert render_comment(verdict([]), 60_000, RUN, from_fork=True).startswith("> Reported by a run of the fork's own")


@pytest.mark.parametrize(
    ("result", "code", "lanes", "expected"),
    [
        ("passed", 0, ("passed",), "success"),
        ("passed", 0, ("passed", "advisory"), "success"),
        ("passed", 0, ("advisory",), "neutral"),
        ("passed", 0, (), "neutral"),
        ("failed", 1, ("failed",), "failure"),
        ("failed", 4, ("passed",), "failure"),
        ("passed", 3, ("passed",), "failure"),
        ("", 0, ("passed",), "failure"),
    ],
)
def test_a_check_is_green_only_when_a_lane_that_counts_passed(result, code, lanes, expected: str) -> None:
    rows = tuple(LaneVerdict(lane="s", result=lane) for lane in lanes)
    found = Verdict(result=result, exit_code=code, today="2026-12-01", lanes=rows)
    assert conclusion(found) == expected


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("tests/test_a.py", "tests/test_a.py"),
        ("/checkout/tests/../src/a.py", "src/a.py"),
        ("./a,b:c%.py", "a,b:c%.py"),
        ("/usr/lib/python3/pytest.py", ""),
        ("../../etc/passwd", ""),
        ("/checkout", ""),
        ("a\nb.py", ""),
        ("a\u202eb.py", ""),
        ("x" * 5000, ""),
    ],
)
def test_annotations_are_on_files_of_the_checkout_only(file: str, path: str) -> None:
    notes = render_check(verdict([finding(3, file=file)]), "/checkout").annotations
    assert [note.path for note in notes] == ([path] if path else [])


def test_annotations_come_by_weight_and_are_bounded() -> None:
    many = [finding(number, "n", FindingKind.FLAKY, "a.py") for number in range(ANNOTATIONS)]
    check = render_check(verdict([*many, *[finding(number, "r", file="b.py") for number in range(7)]]), "/checkout")
    assert [note.level for note in check.annotations[:8]] == ["failure"] * 7 + ["notice"]
    assert len(check.annotations) == ANNOTATIONS
    assert check.summary.startswith("... and 7 more findings without an annotation.")


def test_a_huge_message_is_cut() -> None:
    (note,) = render_check(verdict([finding(1, "\u20ac" * 100_000, file="a.py")]), "/checkout").annotations
    assert len(note.message.encode()) <= 16 << 10
    assert len(note.title) <= 255


def test_an_issue_names_each_cause_with_its_first_day_the_oldest_first() -> None:
    new, old = finding(1, "new one"), finding(2, "old one")
    text = render_issue(verdict([new, old]), DAY, {cause(old): datetime.date(2026, 11, 3)}, 60_000, RUN)
    assert text.startswith("Red since 2026-12-01.")
    assert text.index("- since 2026-11-03: regression") < text.index("- since 2026-12-02: regression")
    assert text.endswith(f"\n{RUN}\n")


def test_a_cause_is_the_same_from_run_to_run_and_in_no_other_lane() -> None:
    same = msgspec.structs.replace(finding(1), message="another text", count=9)
    assert cause(same) == cause(finding(1))
    assert re.fullmatch(r"[0-9a-f]{16}", cause(finding(1, "\ud800")))
    assert cause(msgspec.structs.replace(finding(1), lane="s-gpu")) != cause(finding(1))
