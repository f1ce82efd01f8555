"""The two matrix formats. Both are checked once, when they are made, so that the operators can trust them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sparse_ops import checks


def _shape(shape: tuple[int, int]) -> None:
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"shape is {shape}, expected two sizes of at least 0")


def _arrays(values: torch.Tensor, **indices: torch.Tensor) -> None:
    checks.dimensions("values", values, 1)
    checks.value_dtype("values", values)
    first_name, first = next(iter(indices.items()))
    for name, tensor in indices.items():
        checks.dimensions(name, tensor, 1)
        checks.index_dtype(name, tensor)
        checks.same_dtype(first_name, first, name, tensor)
        checks.same_device("values", values, name, tensor)


@dataclass(frozen=True)
class CSR:
    """Compressed sparse rows.

    Row ``i`` holds ``values[row_offsets[i]:row_offsets[i + 1]]`` in the columns ``columns[...]`` of the same range.
    Columns of a row need no order; an entry that occurs twice counts as the sum. Raises TypeError, ValueError or
    IndexError for arrays that are no matrix of ``shape``.
    """

    row_offsets: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        _shape(self.shape)
        _arrays(self.values, row_offsets=self.row_offsets, columns=self.columns)
        checks.same_length("values", self.values, "columns", self.columns)
        rows, columns = self.shape
        if self.row_offsets.shape[0] != rows + 1:
            raise ValueError(f"row_offsets has length {self.row_offsets.shape[0]}, expected rows + 1 = {rows + 1}")
        first, last = int(self.row_offsets[0]), int(self.row_offsets[-1])
        if first != 0 or last != self.values.shape[0]:
            raise ValueError(f"row_offsets runs from {first} to {last}, expected 0 to {self.values.shape[0]}")
        if bool((self.row_offsets.diff() < 0).any()):
            raise ValueError("row_offsets decreases")
        checks.in_range("columns", self.columns, columns)

    def entry_rows(self) -> torch.Tensor:
        """The row of each entry, as COO holds it."""
        rows = torch.arange(self.shape[0], device=self.values.device, dtype=self.columns.dtype)
        return torch.repeat_interleave(rows, self.row_offsets.diff(), output_size=self.values.shape[0])


@dataclass(frozen=True)
class COO:
    """Coordinates: entry ``k`` is ``values[k]`` at (``rows[k]``, ``columns[k]``).

    Entries need no order; one that occurs twice counts as the sum. Raises TypeError, ValueError or IndexError for
    arrays that are no matrix of ``shape``.
    """

    rows: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        _shape(self.shape)
        _arrays(self.values, rows=self.rows, columns=self.columns)
        for name, indices, size in (("rows", self.rows, self.shape[0]), ("columns", self.columns, self.shape[1])):
            checks.same_length("values", self.values, name, indices)
            checks.in_range(name, indices, size)

    def entry_rows(self) -> torch.Tensor:
        """The row of each entry."""
        return self.rows


Matrix = CSR | COO
