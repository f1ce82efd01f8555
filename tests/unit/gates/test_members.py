"""Member files: what is written is read back, and what is not canonical is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import UsageError
from ci_toolkit.gates.members import parse_members, render_members

IDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Cs"]), min_size=1).map(str.strip)
CASES = st.one_of(IDS, st.builds("{}[{}]".format, IDS, IDS)).filter(lambda case: case and case == case.strip())


@given(st.sets(CASES))
def test_what_is_written_is_read_back(cases: set[str]) -> None:
    text = render_members(cases)
    assert set(parse_members(text, "m.txt")) == cases
    assert render_members(parse_members(text, "m.txt")) == text


def test_a_function_is_one_line_with_its_parameters() -> None:
    text = render_members(["f[a]", "g", "f[b-1]", "C::h[x[y]]"])
    assert text == "C::h\tx[y]\nf\ta\tb-1\ng\n"


@pytest.mark.parametrize("text", ["f\nf\n", "f\ta\ta\n", "f \n", "\n", "f\ta\t\n", "f[a]\nf\ta\n"])
def test_twice_or_untidy_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"m\.txt:[12]: "):
        parse_members(text, "m.txt")
