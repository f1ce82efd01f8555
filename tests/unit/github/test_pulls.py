"""The pull request of a head: of all open ones, exactly one."""

import pytest

from ci_toolkit.errors import NothingSelectedError, UsageError
from ci_toolkit.github.pulls import pull_request_of

HEAD = "c" * 40


def test_the_open_one_is_found_on_any_page(github, rest) -> None:
    for number in range(1, 251):
        github.add_pull(number, f"{number:040x}")
    github.add_pull(300, HEAD)
    github.add_pull(301, HEAD, state="closed")
    assert pull_request_of(rest, "o/r", HEAD) == 300


def test_none_and_several_are_told(github, rest) -> None:
    github.add_pull(3, HEAD, state="closed")
    with pytest.raises(NothingSelectedError, match="no open pull request has the head cccccccccccc"):
        pull_request_of(rest, "o/r", HEAD)
    github.add_pull(8, HEAD)
    github.add_pull(5, HEAD)
    with pytest.raises(UsageError, match="#5, #8"):
        pull_request_of(rest, "o/r", HEAD)


@pytest.mark.parametrize("head", ["", "c" * 39, "C" * 40, "main", "../pulls", "c" * 40 + "\n", "--help"])
def test_what_is_no_commit_is_not_asked_for(github, rest, head: str) -> None:
    with pytest.raises(UsageError, match="no whole commit"):
        pull_request_of(rest, "o/r", head)
    assert github.requests == []
