"""Scatter against NumPy: ``add`` in wider arithmetic with a bound, ``assign`` exactly, duplicates included."""

import numpy as np
import pytest
import torch

import sparse_inputs
import sparse_oracle
from sparse_ops import scatter

pytestmark = pytest.mark.scatter

SIZES = {
    "nothing_into_nothing": (0, 0),
    "nothing": (5, 0),
    "one": (1, 1),
    "all_into_one": (1, 3000),
    "duplicates": (50, 700),
    "sparse": (4000, 300),
    "tail": (257, 33),
}
SHAPES = {"vector": (), "one_column": (1,), "columns": (70,)}


def _arguments(size, trailing, dtype, index_dtype, device):
    length, count = SIZES[size]
    rng = sparse_inputs.generator(size, trailing)
    dense = sparse_inputs.values(rng, (length, *SHAPES[trailing]), dtype, device)
    values = sparse_inputs.values(rng, (count, *SHAPES[trailing]), dtype, device)
    picked = rng.integers(0, length, count) if count else []
    return dense, torch.tensor(picked, dtype=index_dtype, device=device), values


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("trailing", SHAPES)
@sparse_inputs.every_dtype
@sparse_inputs.every_index_dtype
def test_add(size, trailing, dtype, index_dtype, device, backend):
    dense, indices, values = _arguments(size, trailing, dtype, index_dtype, device)
    out = scatter(dense, indices, values, mode="add", backend=backend)
    assert out.device == dense.device
    assert out.dtype == dtype
    sparse_oracle.assert_within(out, *sparse_oracle.scatter_add(dense, indices, values))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("trailing", SHAPES)
@sparse_inputs.every_dtype
@sparse_inputs.every_index_dtype
def test_assign_keeps_the_last(size, trailing, dtype, index_dtype, device, backend):
    dense, indices, values = _arguments(size, trailing, dtype, index_dtype, device)
    out = scatter(dense, indices, values, mode="assign", backend=backend)
    assert out.device == dense.device
    assert out.dtype == dtype
    np.testing.assert_array_equal(sparse_oracle.wide(out), sparse_oracle.scatter_assign(dense, indices, values))


@pytest.mark.parametrize("mode", ["add", "assign"])
@sparse_inputs.every_dtype
@pytest.mark.parametrize("view", ["dense", "values", "indices"])
def test_views(mode, dtype, view, device, backend):
    dense, indices, values = _arguments("duplicates", "columns", dtype, torch.int64, device)
    if view == "dense":
        dense = dense.T.contiguous().T
    elif view == "values":
        values = values.T.contiguous().T
    else:
        indices, values = indices[::2], values[::2]
    out = scatter(dense, indices, values, mode=mode, backend=backend)
    if mode == "add":
        sparse_oracle.assert_within(out, *sparse_oracle.scatter_add(dense, indices, values))
    else:
        np.testing.assert_array_equal(sparse_oracle.wide(out), sparse_oracle.scatter_assign(dense, indices, values))


@pytest.mark.parametrize("mode", ["add", "assign"])
def test_the_input_is_unchanged(mode, device, backend):
    dense, indices, values = _arguments("duplicates", "vector", torch.float32, torch.int64, device)
    before = dense.clone()
    scatter(dense, indices, values, mode=mode, backend=backend)
    assert torch.equal(dense, before)


def test_assign_of_a_lazily_conjugated_value(device, backend):
    dense = torch.zeros(2, dtype=torch.complex64, device=device)
    values = torch.tensor([1 + 2j], device=device, dtype=torch.complex64).conj()
    out = scatter(dense, torch.tensor([1], device=device), values, mode="assign", backend=backend)
    assert out.tolist() == [0, 1 - 2j]
