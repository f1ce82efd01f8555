"""Gather: the values, or rows, of a dense tensor at given indices."""

from __future__ import annotations

import torch

from sparse_ops import checks
from sparse_ops.backends import Backend, uses_triton


def gather(dense: torch.Tensor, indices: torch.Tensor, *, backend: Backend = "torch") -> torch.Tensor:
    """``out[k] = dense[indices[k]]`` for a vector, or the rows of a matrix. Indices may repeat.

    Nothing is computed, so the result is exact. Raises TypeError (dtypes), ValueError (shapes, devices), IndexError (an
    index outside [0, len(dense)); negative ones do not wrap) and BackendUnavailableError.
    """
    checks.dimensions("dense", dense, 1, 2)
    checks.value_dtype("dense", dense)
    checks.dimensions("indices", indices, 1)
    checks.index_dtype("indices", indices)
    checks.same_device("dense", dense, "indices", indices)
    checks.in_range("indices", indices, dense.shape[0])
    if uses_triton(backend, dense.device):
        from sparse_ops.kernels import launch

        return launch.gather(dense, indices)
    return dense.index_select(0, indices)
