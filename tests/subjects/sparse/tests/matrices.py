"""A matrix in either format, with the plain arrays that the oracle takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

import sparse_inputs
from sparse_ops import COO, CSR

every_format = pytest.mark.parametrize("layout", ["csr", "coo"])


@dataclass(frozen=True)
class Sample:
    """``matrix`` and what it was made of."""

    matrix: CSR | COO
    rows: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor


def build(
    layout: str,
    rows: np.ndarray,
    columns: np.ndarray,
    values: torch.Tensor,
    shape: tuple[int, int],
    index_dtype: torch.dtype,
) -> Sample:
    """``rows`` must ascend for CSR."""
    device = values.device
    row_tensor = torch.as_tensor(rows).to(device, index_dtype)
    column_tensor = torch.as_tensor(columns).to(device, index_dtype)
    if layout == "coo":
        matrix: CSR | COO = COO(row_tensor, column_tensor, values, shape)
    else:
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
        matrix = CSR(torch.as_tensor(offsets).to(device, index_dtype), column_tensor, values, shape)
    return Sample(matrix, row_tensor, column_tensor, values)


def sample(layout: str, pattern: str, dtype: torch.dtype, index_dtype: torch.dtype, device: torch.device) -> Sample:
    """The matrix of a named pattern with random values."""
    where = sparse_inputs.entries(pattern)
    values = sparse_inputs.values(sparse_inputs.generator("values", pattern), where.rows.shape, dtype, device)
    return build(layout, where.rows, where.columns, values, where.shape, index_dtype)
