"""A merge loses no case, invents none, and washes no broken or contradicting file clean."""

from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import EvidenceError, ToolkitError, UsageError
from ci_toolkit.formats import junit_merge
from ci_toolkit.formats.junit_merge import merge_junit
from ci_toolkit.formats.junit_read import FileVerdict, JunitCase, read_junit
from ci_toolkit.model.outcome import Outcome

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=8)
RESULTS = st.sampled_from(["", "<failure>{}</failure>", "<error message='m'/>", "<skipped/>", "<flakyFailure/>"])
BLANK = st.sampled_from(["", " ", "\n", "<!-- > -->", "<properties/>", "<system-out>]]&gt;</system-out>"])


@st.composite
def case(draw: st.DrawFn) -> str:
    start = f"<testcase name={quoteattr(draw(TEXT))} classname={quoteattr(draw(TEXT))} time='0.5'"
    body = draw(RESULTS).format(escape(draw(TEXT)))
    return f"{start}{draw(st.sampled_from(['/>', ' />']))}" if not body else f"{start}>{body}</testcase>"


def element(name: str, body: str, gap: str) -> str:
    """A suite; one without a body may be a single tag."""
    return f"<{name} name='n&gt;'>{gap}{body}</{name}{' ' * (len(gap) % 3)}>" if body or gap else f"<{name} />"


suites = st.recursive(
    st.builds(element, st.just("testsuite"), st.lists(case(), max_size=3).map("".join), BLANK),
    lambda inner: st.builds(
        lambda before, suites, after, gap: element("testsuite", f"{before}{''.join(suites)}{after}", gap),
        case(),
        st.lists(inner, max_size=2),
        case(),
        BLANK,
    ),
    max_leaves=4,
)
files = st.one_of(suites, st.builds(element, st.just("testsuites"), st.lists(suites, max_size=3).map("".join), BLANK))


def cases_of(path: Path) -> list[JunitCase]:
    found: list[JunitCase] = []
    assert read_junit(path, found.append).verdict in (FileVerdict.WHOLE, FileVerdict.ZERO_TESTS)
    return found


@given(st.lists(files, min_size=1, max_size=3), st.sampled_from([5, 64, 1 << 20]))
def test_the_cases_of_a_merge_are_those_of_its_parts(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    sources = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.xml"
        path.write_text(text, encoding="utf-8")
        if cases_of(path):
            sources.append(path)
    if not sources:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(junit_merge, "BLOCK", block)
        merged = merge_junit(folder / "all.xml", sources)
    found = cases_of(folder / "all.xml")
    assert found == [one for source in sources for one in cases_of(source)]
    summary = read_junit(folder / "all.xml")
    assert not [warning for warning in summary.warnings if "claims" in warning]
    skipped = summary.counts.get(Outcome.SKIPPED, 0)
    errors = summary.counts.get(Outcome.ERROR, 0)
    assert (merged.tests, merged.errors, merged.skipped) == (len(found), errors, skipped)
    assert merged.failures == summary.counts.get(Outcome.FAILED, 0)
    assert merged.seconds == pytest.approx(summary.seconds)
    keys = [(one.suites, one.classname, one.name) for one in found]
    assert merged.duplicates == len(keys) - len(set(keys))
    ElementTree.parse(folder / "all.xml")


def source(folder: Path, text: str | bytes, name: str = "source.xml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


GOOD = '<testsuite name="s"><testcase name="a"/></testsuite>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<testsuites failures="3">' + GOOD + "</testsuites>", "claims 3 failures"),
        ("<testsuites>" + GOOD + '<testsuite name="x" errors="2"/></testsuites>', "claims 2 failures"),
        ('<testsuite><testcase name="a"/><testsuite failures="1"/></testsuite>', "claims 1 failures"),
        ("<testsuite>" * 600 + "</testsuite>" * 600, "nested deeper"),
        ("<testsuites>" * 600 + GOOD + "</testsuites>" * 600, "nested deeper"),
        (f"<?xml version='1.0' encoding='utf-16'?>{GOOD}".encode("utf-16"), "only UTF-8"),
        (f"<?xml version='1.0' encoding='latin-1'?>{GOOD}", "only UTF-8"),
        (f"<!DOCTYPE testsuite>{GOOD}", "document type"),
        (GOOD[:-1], "is not whole"),
        (GOOD + GOOD, "is not whole"),
        (GOOD.replace('"a"', '"\x01"'), "is not whole"),
        (GOOD.replace('"a"', '"&unknown;"'), "is not whole"),
        ("<html/>", "is no JUnit file"),
    ],
)
def test_what_can_not_be_merged_is_said(tmp_path: Path, text: str | bytes, said: str) -> None:
    good = source(tmp_path, GOOD, "good.xml")
    with pytest.raises(EvidenceError, match=said) as caught:
        merge_junit(tmp_path / "all.xml", [good, source(tmp_path, text)])
    assert "source.xml" in str(caught.value)
    assert not (tmp_path / "all.xml").exists()


def test_a_claim_that_reruns_explain_is_merged(tmp_path: Path) -> None:
    text = '<testsuite name="s" failures="1"><testcase name="a"><flakyFailure/></testcase></testsuite>'
    merged = merge_junit(tmp_path / "all.xml", [source(tmp_path, text)])
    assert (merged.tests, merged.failures) == (1, 0)


def test_a_suite_keeps_its_own_namespace(tmp_path: Path) -> None:
    text = '<testsuites><testsuite name="s" xmlns:x="u"><testcase name="a" x:y="1"/></testsuite></testsuites>'
    merge_junit(tmp_path / "all.xml", [source(tmp_path, text)])
    assert [one.name for one in cases_of(tmp_path / "all.xml")] == ["a"]


def test_outcomes_that_only_an_attribute_tells_are_counted(tmp_path: Path) -> None:
    text = '<testsuite name="s"><error/><testcase name="a" status="failed"/><testcase name="b" result="skipped"/>'
    merged = merge_junit(tmp_path / "all.xml", [source(tmp_path, text + "</testsuite>")])
    assert (merged.tests, merged.failures, merged.errors, merged.skipped) == (2, 1, 1, 1)


@pytest.mark.parametrize("empty", ["<testsuite/>", "<testsuite name='e' />", "<testsuite></testsuite>"])
def test_a_suite_without_cases_breaks_no_merge(tmp_path: Path, empty: str) -> None:
    errors = '<testsuite name="own"><error/></testsuite>'
    text = f"<testsuites>{empty}{GOOD}{empty}{errors}{empty}</testsuites>"
    merged = merge_junit(tmp_path / "all.xml", [source(tmp_path, text)])
    assert (merged.tests, merged.errors) == (1, 1)
    assert [one.suites for one in cases_of(tmp_path / "all.xml")] == [("s",), ("own",)]


def test_a_target_may_be_one_of_the_sources(tmp_path: Path) -> None:
    target = source(tmp_path, GOOD)
    merge_junit(target, [target, source(tmp_path, GOOD.replace('"s"', '"t"'), "other.xml")])
    assert [one.suites for one in cases_of(target)] == [("s",), ("t",)]


@pytest.mark.parametrize(("target", "kind"), [("no/such/folder.xml", UsageError), (".", UsageError)])
def test_a_target_that_can_not_be_written(tmp_path: Path, target: str, kind: type[ToolkitError]) -> None:
    with pytest.raises(kind):
        merge_junit(tmp_path / target, [source(tmp_path, GOOD)])
    assert [path.name for path in tmp_path.iterdir()] == ["source.xml"]


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="can not be read"):
        merge_junit(tmp_path / "all.xml", [tmp_path / "none.xml"])
