"""Durations and sizes need a unit, and stay within what a runner can mean."""

import pytest

from ci_toolkit.catalogue.quantities import seconds, size


@pytest.mark.parametrize(
    ("text", "value"), [("90s", 90), ("1.5m", 90), ("2h", 7200), ("250ms", 0.25), ("30d", 2592000)]
)
def test_durations(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["90", "", "s", "-1s", "0s", "1 week", "1e3s", "NaNs", "0.0001s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no duration.* such as 90s, 10m or 1h"):
        seconds(text)


@pytest.mark.parametrize("text", ["31d", "9" * 400 + "s"])
def test_a_duration_that_no_runner_has(text: str) -> None:
    with pytest.raises(ValueError, match="is longer than 30 days") as caught:
        seconds(text)
    assert len(str(caught.value)) < 100


def test_sizes() -> None:
    assert size("64MiB") == 64 << 20
    assert size("1GB") == 10**9
    assert size("1TiB") == 1 << 40


@pytest.mark.parametrize("text", ["64", "0MB", "0.1B", "-1MB", "1 m", "1mb", ""])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no size.* such as 64MiB or 1GB"):
        size(text)


@pytest.mark.parametrize("text", ["2000TiB", "9" * 400 + "B"])
def test_a_size_that_no_machine_has(text: str) -> None:
    with pytest.raises(ValueError, match="is larger than 1024 TiB"):
        size(text)
