"""Markers: found only where we wrote them, and nothing that people put into one is believed."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import UsageError
from ci_toolkit.github.marker import Mark, RunAt, check_key, read_mark, write_mark

DAY = datetime.date(2026, 12, 1)
MARK = Mark(RunAt(7, 2), {"0123456789abcdef": DAY})


@pytest.mark.parametrize("mark", [MARK, Mark(RunAt(1, 1))])
def test_what_was_written_is_read(mark: Mark) -> None:
    line = write_mark("issue", "nightly.h200", mark)
    assert line.startswith("<!-- ")
    assert line.endswith(" -->\n")
    assert line.count("--") == 2
    assert read_mark("issue", "nightly.h200", f"{line}text") == mark
    assert read_mark("issue", "nightly.h200", f"{line[:-1]}\r\ntext") == mark
    assert read_mark("issue", "nightly", line) is None
    assert read_mark("comment", "nightly.h200", line) is None
    assert read_mark("issue", "nightly.h200", f"x{line}") is None
    assert read_mark("issue", "nightly.h200", None) is None


OLDEST = Mark(RunAt(0, 0))


@pytest.mark.parametrize(
    ("data", "read"),
    [
        ("", OLDEST),
        ("{", OLDEST),
        ("[]", OLDEST),
        ("[" * 100_000, OLDEST),
        ('{"run": "9", "attempt": true, "first": 3}', OLDEST),
        ('{"run": -1, "attempt": 1e3}', OLDEST),
        ('{"run": 1' + "0" * 40 + ', "attempt": 1}', Mark(RunAt(0, 1))),
        ('{"run": 7, "attempt": 2, "first": {"0123456789abcdef": "2026-12-01", "x": "2026-12-01"}}', MARK),
        ('{"run": 7, "attempt": 2, "first": {"0123456789abcdef": "long ago"}}', Mark(RunAt(7, 2))),
        ('{"run": 7, "attempt": 2, "first": {"0123456789abcdef": 20261201}}', Mark(RunAt(7, 2))),
        ('{"run": 7, "attempt": 2, "first": {"--><script>": "2026-12-01"}}', Mark(RunAt(7, 2))),
    ],
)
def test_a_spoilt_marker_is_still_ours_and_holds_only_what_can_be(data: str, read: Mark) -> None:
    assert read_mark("issue", "k", f"<!-- ci-toolkit:issue:k {data} -->\ntext") == read


@given(st.text())
def test_no_text_of_people_makes_it_fail(text: str) -> None:
    found = read_mark("issue", "k", f"<!-- ci-toolkit:issue:k {text}")
    assert found is not None
    assert write_mark("issue", "k", found).count("\n") == 1


def test_later_runs_and_attempts_are_newer() -> None:
    assert RunAt(6, 3) < RunAt(7, 1) < RunAt(7, 2) < RunAt(10, 1)


@pytest.mark.parametrize("key", ["a", "nightly", "h200-nightly_2.x"])
def test_keys(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize("key", ["", "a--b", "-a", "a-", "A", "a b", "a>", "a\n", "\u0430", "a" * 81])
def test_what_is_no_key(key: str) -> None:
    with pytest.raises(UsageError):
        check_key(key)
