"""Exit codes combine by the documented precedence, and no code is ever lost."""

from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import BAD_EVIDENCE, PRECEDENCE, ToolkitError, UsageError, Where, worst_exit


def test_precedence() -> None:
    assert worst_exit([]) == 0
    assert worst_exit([0, 0]) == 0
    assert worst_exit([6, 5, 1]) == 1
    assert worst_exit([1, 3]) == 3
    assert worst_exit([3, 4]) == 4
    assert worst_exit([4, 2]) == 2
    assert worst_exit([2, 130, 1]) == 130


@given(st.lists(st.integers(0, 255)))
def test_any_nonzero_code_stays_nonzero(codes: list[int]) -> None:
    result = worst_exit(codes)
    assert (result == 0) == (set(codes) <= {0})
    known = [code for code in PRECEDENCE if code in codes]
    if known:
        assert result == known[0]
    elif set(codes) - {0}:
        assert result == BAD_EVIDENCE


def test_every_class_has_its_own_code() -> None:
    codes = [kind.exit_code for kind in ToolkitError.__subclasses__()]
    assert sorted(codes) == sorted(PRECEDENCE)


def test_an_error_is_one_line_that_says_where_and_what_to_do() -> None:
    error = UsageError("unknown key", Where("conf/suites.yml", 12, "suites.sparse.kidn"), 'did you mean "kind"?')
    assert str(error) == 'conf/suites.yml:12: suites.sparse.kidn: unknown key; did you mean "kind"?'
