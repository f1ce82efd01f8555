"""Scatter: values, or rows, into a dense tensor at given indices."""

from __future__ import annotations

from typing import Literal

import torch

from sparse_ops import checks
from sparse_ops.backends import Backend, uses_triton

Mode = Literal["add", "assign"]


def scatter(
    dense: torch.Tensor,
    indices: torch.Tensor,
    values: torch.Tensor,
    *,
    mode: Mode = "add",
    backend: Backend = "torch",
) -> torch.Tensor:
    """A copy of ``dense`` (vector or matrix) with ``values[k]`` put at ``indices[k]``; ``dense`` itself is unchanged.

    An index that occurs more than once: ``add`` adds all of its values, in no fixed order; ``assign`` keeps the last
    of them, on every device. Raises TypeError (dtypes), ValueError (shapes, devices, mode), IndexError (an index
    outside [0, len(dense)); negative ones do not wrap) and BackendUnavailableError.
    """
    if mode not in {"add", "assign"}:
        raise ValueError(f"unknown mode {mode!r}, expected 'add' or 'assign'")
    checks.dimensions("dense", dense, 1, 2)
    checks.value_dtype("dense", dense)
    checks.dimensions("indices", indices, 1)
    checks.index_dtype("indices", indices)
    checks.same_dtype("dense", dense, "values", values)
    checks.same_device("dense", dense, "indices", indices)
    checks.same_device("dense", dense, "values", values)
    if values.shape != (indices.shape[0], *dense.shape[1:]):
        expected = (indices.shape[0], *dense.shape[1:])
        raise ValueError(f"values has shape {tuple(values.shape)}, expected {expected}")
    checks.in_range("indices", indices, dense.shape[0])
    if uses_triton(backend, dense.device):
        from sparse_ops.kernels import launch

        return (launch.scatter_add if mode == "add" else launch.scatter_assign)(dense, indices, values)
    if mode == "add":
        return dense.index_add(0, indices, values)
    return _assign(dense, indices, values)


def _assign(dense: torch.Tensor, indices: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    # Plain indexed assignment leaves the winner among duplicates undefined.
    last = torch.full((dense.shape[0],), -1, dtype=torch.int64, device=dense.device)
    positions = torch.arange(indices.shape[0], device=dense.device)
    last.scatter_reduce_(0, indices.long(), positions, "amax")
    targets = (last >= 0).nonzero().squeeze(1)
    return dense.index_copy(0, targets, values.index_select(0, last.index_select(0, targets)))
