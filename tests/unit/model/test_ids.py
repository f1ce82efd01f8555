"""Ids: one special character in globs, and file names that any system and any artifact can hold."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_toolkit.model.ids import SAFE_NAME_LENGTH, is_lane_id, lane_id, matches, safe_name, split_case

TEXT = st.text(st.characters(codec=None), max_size=120)
SMALL = st.text(st.sampled_from("ab[]?.*\n"), max_size=12)
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


@given(SMALL, SMALL.map(lambda text: text.replace("*", "")))
def test_only_the_star_is_special(glob: str, text: str) -> None:
    pattern = ".*".join(re.escape(part) for part in glob.split("*"))
    assert matches(glob, text) == bool(re.fullmatch(pattern, text, re.DOTALL))


@given(TEXT)
def test_a_text_without_a_star_fits_itself(text: str) -> None:
    plain = text.replace("*", "")
    assert matches(plain, plain)
    assert matches(f"*{plain}*", plain)


@pytest.mark.parametrize(
    ("glob", "text", "fits"),
    [
        ("t.py::f[a-*]", "t.py::f[a-1]", True),
        ("t.py::f[a-*]", "t.py::fa", False),
        ("f?", "fx", False),
        ("ab*ba", "aba", False),
        ("*", "", True),
        ("", "", True),
        ("**", "x\ny", True),
        ("F", "f", False),
    ],
)
def test_globs(glob: str, text: str, fits: bool) -> None:
    assert matches(glob, text) is fits


def test_a_glob_of_many_stars_ends() -> None:
    assert not matches("*a" * 40 + "b", "a" * 20_000)
    assert not matches("*ab" * 40 + "*c*", "ab" * 10_000)


@given(TEXT)
@example("CON")
@example("nul.txt")
@example("-con.x")
@example("com1.")
@example("LPT9")
@example("trailing.")
@example("")
@example("..")
@example("-rf")
@example('a/b:c"<>|*?\r\n\\')
def test_a_safe_name_is_legal_everywhere_and_stays(text: str) -> None:
    name = safe_name(text)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*|_[A-Za-z0-9_.-]+", name)
    assert not RESERVED.match(name)
    assert not name.endswith(".")
    assert len(name) <= SAFE_NAME_LENGTH + 14
    assert safe_name(text) == name


@given(st.lists(st.one_of(TEXT, st.text(st.sampled_from("ab/:._-"), max_size=4)), unique=True, max_size=30))
def test_two_texts_never_share_a_name(texts: list[str]) -> None:
    taken = [*texts, *(safe_name(text) for text in texts)]
    names = {text: safe_name(text) for text in taken}
    assert len(set(names.values())) == len(set(taken))


def test_plain_names_are_kept() -> None:
    assert safe_name("test_a.py") == "test_a.py"
    assert safe_name("a" * SAFE_NAME_LENGTH) == "a" * SAFE_NAME_LENGTH
    assert safe_name("a" * 81) != safe_name("a" * 82)


def test_lane_ids() -> None:
    assert lane_id("sparse", "cpu") == "sparse-cpu"
    assert lane_id("sparse", "cpu", "x", (2, 3)) == "sparse-cpu-x-2of3"
    for good in ("sparse-cpu", "a.b_c-1"):
        assert is_lane_id(good)
    for bad in ("", ".", "..", "A", "a/b", "a b", "a\n", "\u0661"):
        assert not is_lane_id(bad)


def test_cases_in_two_parts() -> None:
    assert split_case("a.py::C::t[x::y]") == ("a.py", "C::t[x::y]")
    assert split_case("a.py") == ("a.py", "")
