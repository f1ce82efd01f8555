"""Sparse matrix times dense vector (SpMV) and dense matrix (SpMM)."""

from __future__ import annotations

import torch

from sparse_ops import checks
from sparse_ops.backends import Backend, uses_triton
from sparse_ops.formats import CSR, Matrix

_CHUNK_ELEMENTS = 1 << 22
"""Products held at a time by the torch path, so that its memory does not grow with entries times columns."""


def spmv(matrix: Matrix, vector: torch.Tensor, *, backend: Backend = "torch") -> torch.Tensor:
    """``matrix @ vector`` as a new dense vector of the same dtype and device.

    Products of a row are summed in that dtype, in no fixed order. Raises TypeError (dtypes), ValueError (shapes,
    devices) and BackendUnavailableError.
    """
    checks.dimensions("vector", vector, 1)
    return _matmul("vector", matrix, vector.unsqueeze(1), backend).squeeze(1)


def spmm(matrix: Matrix, dense: torch.Tensor, *, backend: Backend = "torch") -> torch.Tensor:
    """``matrix @ dense`` as a new dense matrix of the same dtype and device; see ``spmv``."""
    checks.dimensions("dense", dense, 2)
    return _matmul("dense", matrix, dense, backend)


def _matmul(name: str, matrix: Matrix, dense: torch.Tensor, backend: Backend) -> torch.Tensor:
    checks.same_dtype("matrix", matrix.values, name, dense)
    checks.same_device("matrix", matrix.values, name, dense)
    if dense.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} has length {dense.shape[0]}, the matrix has {matrix.shape[1]} columns")
    if uses_triton(backend, dense.device):
        from sparse_ops.kernels import launch

        return launch.matmul_csr(matrix, dense) if isinstance(matrix, CSR) else launch.matmul_coo(matrix, dense)
    return _matmul_torch(matrix, dense)


def _matmul_torch(matrix: Matrix, dense: torch.Tensor) -> torch.Tensor:
    out = dense.new_zeros((matrix.shape[0], dense.shape[1]))
    rows = matrix.entry_rows()
    step = max(1, _CHUNK_ELEMENTS // max(1, dense.shape[1]))
    for start in range(0, matrix.values.shape[0], step):
        part = slice(start, start + step)
        products = matrix.values[part].unsqueeze(1) * dense.index_select(0, matrix.columns[part])
        out.index_add_(0, rows[part], products)
    return out
