"""Failures by number: any order of asking gives the same rows as reading the file once."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_toolkit.errors import EvidenceError
from ci_toolkit.formats.documents import write_rows
from ci_toolkit.formats.failures import BLOCK_BYTES, FailureTable
from ci_toolkit.model.case import Failure
from ci_toolkit.model.outcome import Cause, Stage


def failure(number: int, size: int) -> Failure:
    return Failure(stage=Stage.CALL, cause=Cause.EXCEPTION, message=str(number), excerpt="\u20ac" * size)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Failure]]:
    path = tmp_path_factory.mktemp("table") / "failures.jsonl"
    made = [failure(number, (number * 977) % 30_000 if number % 7 else BLOCK_BYTES) for number in range(40)]
    write_rows(path, made)
    return path, made


@settings(deadline=None, max_examples=50)
@given(asked=st.lists(st.integers(0, 39), max_size=60))
def test_any_order_of_asking(rows: tuple[Path, list[Failure]], asked: list[int]) -> None:
    path, made = rows
    table = FailureTable(path)
    assert [table[row] for row in asked] == [made[row] for row in asked]
    assert list(table) == made


@pytest.mark.parametrize("row", [-1, 40])
def test_a_row_that_is_not_there(rows: tuple[Path, list[Failure]], row: int) -> None:
    with pytest.raises(IndexError):
        FailureTable(rows[0])[row]


def test_a_file_that_shrinks_while_it_is_read_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "failures.jsonl"
    write_rows(path, [failure(number, 10) for number in range(3)])
    table = FailureTable(path)
    path.write_bytes(path.read_bytes()[:-20])
    assert table[0].message == "0"
    with pytest.raises(EvidenceError, match=r"failures\.jsonl"):
        table[2]
