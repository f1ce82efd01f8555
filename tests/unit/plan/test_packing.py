"""Lanes into jobs and matrices: nothing is lost, nothing is doubled, no limit is passed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_toolkit.catalogue.lanes import Platform
from ci_toolkit.errors import UsageError
from ci_toolkit.model.plan import Container, ExpectedDevice, Lane
from ci_toolkit.plan.packing import CHUNKS, MATRIX_JOBS, pack, patience_s


def platform(name: str, boards: int = 0, container: Container | None = None) -> Platform:
    return Platform(
        name=name, device="cpu", arch="*", count=0, python="", flags=(), runs_on=(name,), boards=boards,
        container=container,
    )  # fmt: skip


def lane(number: int, name: str = "one", expected: float | None = None, timeout: float = 600.0) -> Lane:
    device = ExpectedDevice(module="cpu")
    return Lane(
        id=f"s{number}-{name}", suite=f"s{number}", kind="pytest", platform=name, timeout_s=timeout, device=device,
        expected_s=expected,
    )  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 256, 257, 600, 1024])
def test_each_lane_is_in_one_job_and_each_matrix_holds_its_jobs(count: int) -> None:
    jobs = pack([lane(number) for number in range(count)], {"one": platform("one")})
    assert sorted(name for job in jobs for name in job.lanes) == sorted(lane(number).id for number in range(count))
    for chunk in range(CHUNKS):
        assert sum(job.chunk == chunk for job in jobs) <= MATRIX_JOBS
    assert max((job.chunk for job in jobs), default=-1) == (count + MATRIX_JOBS - 1) // MATRIX_JOBS - 1
    assert len({job.id for job in jobs}) == count


def test_more_than_the_matrices_hold_is_an_error() -> None:
    lanes = [lane(number) for number in range(1025)]
    with pytest.raises(UsageError, match="1025 jobs do not fit into 4 matrices of 256; give platforms"):
        pack(lanes, {"one": platform("one")})
    assert len(pack(lanes, {"one": platform("one", boards=3)})) == 3


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1e4)), max_size=40), st.integers(0, 5), st.integers(0, 5), st.randoms()
)
def test_boards_bound_the_jobs_and_the_order_does_not_matter(times, one: int, two: int, random) -> None:
    lanes = [lane(at, ("one", "two")[at % 2], seconds) for at, seconds in enumerate(times)]
    platforms = {"one": platform("one", one), "two": platform("two", two)}
    jobs = pack(lanes, platforms)
    assert sorted(name for job in jobs for name in job.lanes) == sorted(lane.id for lane in lanes)
    for name, boards in {"one": one, "two": two}.items():
        here = [job for job in jobs if job.platform == name]
        assert all(set(job.lanes) <= {lane.id for lane in lanes if lane.platform == name} for job in here)
        assert not boards or len(here) <= boards
    random.shuffle(lanes)
    assert pack(lanes, platforms) == jobs


def test_a_batch_is_balanced_and_has_time_for_all_its_lanes() -> None:
    jobs = pack([lane(at, expected=float(10 - at)) for at in range(4)], {"one": platform("one", boards=2)})
    assert [job.lanes for job in jobs] == [("s0-one", "s3-one"), ("s1-one", "s2-one")]
    assert [job.id for job in jobs] == ["one-batch-1of2", "one-batch-2of2"]
    assert {job.timeout_minutes for job in jobs} == {30}


def test_a_job_longer_than_github_lets_one_is_an_error() -> None:
    lanes = [lane(at, timeout=86400.0) for at in range(6)]
    with pytest.raises(UsageError, match=r"one-batch-1of1 may take 8650 minutes, GitHub ends it after 7200"):
        pack(lanes, {"one": platform("one", boards=1)})


@pytest.mark.parametrize(
    ("timeout", "expected", "patience"), [(3600, None, 3600), (3600, 10, 600), (3600, 500, 1500), (300, 10, 300)]
)
def test_patience(timeout: float, expected: float | None, patience: float) -> None:
    assert patience_s(timeout, expected) == patience
