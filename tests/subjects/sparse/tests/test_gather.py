"""Gather moves values: results are equal, bit by bit."""

import pytest
import torch

import sparse_inputs
from sparse_ops import gather

pytestmark = pytest.mark.gather

SIZES = {
    "nothing_of_nothing": (0, 0),
    "nothing": (5, 0),
    "one": (1, 1),
    "repeats": (3, 200),
    "many": (5000, 5000),
    "tail": (257, 33),
}
SHAPES = {"vector": (), "one_column": (1,), "no_column": (0,), "columns": (70,)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("trailing", SHAPES)
@sparse_inputs.every_dtype
@sparse_inputs.every_index_dtype
def test_gather(size, trailing, dtype, index_dtype, device, backend):
    length, count = SIZES[size]
    rng = sparse_inputs.generator(size, trailing)
    dense = sparse_inputs.values(rng, (length, *SHAPES[trailing]), dtype, device)
    picked = rng.integers(0, length, count) if count else []
    indices = torch.tensor(picked, dtype=index_dtype, device=device)
    out = gather(dense, indices, backend=backend)
    assert out.device == dense.device
    torch.testing.assert_close(out.cpu(), dense.cpu()[picked], rtol=0, atol=0)


@sparse_inputs.every_dtype
@pytest.mark.parametrize("view", ["reversed_columns", "transposed", "stepped", "expanded", "strided_indices"])
def test_gather_from_views(dtype, view, device, backend):
    rng = sparse_inputs.generator(view)
    indices = torch.tensor(rng.integers(0, 40, 64), device=device)
    dense = {
        "reversed_columns": lambda: sparse_inputs.values(rng, (40, 12), dtype, device)[:, 6:],
        "transposed": lambda: sparse_inputs.values(rng, (12, 40), dtype, device).T,
        "stepped": lambda: sparse_inputs.values(rng, (80, 12), dtype, device)[::2],
        "expanded": lambda: sparse_inputs.values(rng, (40, 1), dtype, device).expand(40, 12),
        "strided_indices": lambda: sparse_inputs.values(rng, (40,), dtype, device),
    }[view]()
    if view == "strided_indices":
        indices = indices[::3]
    out = gather(dense, indices, backend=backend)
    torch.testing.assert_close(out.cpu(), dense.cpu()[indices.cpu()], rtol=0, atol=0)


def test_gather_keeps_bits_of_nan_and_signed_zero(device, backend):
    dense = torch.tensor([-0.0, float("nan"), float("-inf"), 1e-45], device=device)
    out = gather(dense, torch.tensor([3, 2, 1, 0], device=device), backend=backend)
    assert torch.equal(out.cpu().view(torch.int32), dense.cpu().flip(0).view(torch.int32))


def test_gather_returns_a_copy(device, backend):
    dense = torch.ones(3, device=device)
    out = gather(dense, torch.tensor([0, 1, 2], device=device), backend=backend)
    out += 1
    assert dense.tolist() == [1, 1, 1]
