"""The outcome algebra."""

from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.model.outcome import WORST_FIRST, Outcome, is_flaky, over_phases

PHASES = st.sampled_from(WORST_FIRST)


def test_no_phase_is_never_a_pass() -> None:
    assert over_phases([]) is Outcome.MISSING


@given(st.lists(PHASES, min_size=1), st.lists(PHASES, min_size=1))
def test_the_worst_phase_stands_in_any_order_and_grouping(left: list[Outcome], right: list[Outcome]) -> None:
    whole = over_phases(left + right)
    assert whole == over_phases(right + left) == over_phases([over_phases(left), over_phases(right)])
    assert WORST_FIRST.index(whole) == min(WORST_FIRST.index(outcome) for outcome in left + right)


@given(st.lists(PHASES, min_size=1))
def test_passed_only_when_every_phase_passed(phases: list[Outcome]) -> None:
    assert (over_phases(phases) is Outcome.PASSED) == (set(phases) == {Outcome.PASSED})


def test_flaky_is_a_difference_between_tries_that_ran() -> None:
    assert is_flaky([Outcome.FAILED, Outcome.PASSED])
    assert not is_flaky([Outcome.FAILED, Outcome.FAILED])
    assert not is_flaky([Outcome.NOT_RUN, Outcome.PASSED])
    assert not is_flaky([])
