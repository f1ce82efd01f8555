"""Accuracy of SpMV and SpMM against SciPy in wider arithmetic."""

import pytest
import torch

import matrices
import sparse_inputs
import sparse_oracle
from sparse_ops import COO, spmm, spmv


def _dense(key, shape, dtype, device):
    return sparse_inputs.values(sparse_inputs.generator("dense", key, shape), shape, dtype, device)


def _check(sample, dense, backend):
    operator = spmv if dense.dim() == 1 else spmm
    out = operator(sample.matrix, dense, backend=backend)
    exact, allowed = sparse_oracle.matmul(sample.rows, sample.columns, sample.values, sample.matrix.shape, dense)
    assert out.dtype == dense.dtype
    assert out.device == dense.device
    sparse_oracle.assert_within(out, exact, allowed)


@pytest.mark.spmv
@matrices.every_format
@sparse_inputs.every_pattern
@sparse_inputs.every_dtype
@sparse_inputs.every_index_dtype
def test_spmv(layout, pattern, dtype, index_dtype, device, backend):
    sample = matrices.sample(layout, pattern, dtype, index_dtype, device)
    _check(sample, _dense(pattern, sample.matrix.shape[1:], dtype, device), backend)


@pytest.mark.spmm
@matrices.every_format
@sparse_inputs.every_pattern
@sparse_inputs.every_dtype
@sparse_inputs.every_index_dtype
@pytest.mark.parametrize("width", [1, 33])
def test_spmm(layout, pattern, dtype, index_dtype, width, device, backend):
    sample = matrices.sample(layout, pattern, dtype, index_dtype, device)
    _check(sample, _dense(pattern, (sample.matrix.shape[1], width), dtype, device), backend)


@pytest.mark.spmm
@matrices.every_format
@sparse_inputs.every_dtype
@pytest.mark.parametrize("width", [0, 2, 64, 65, 257])
def test_spmm_widths(layout, dtype, width, device, backend):
    sample = matrices.sample(layout, "square", dtype, torch.int32, device)
    _check(sample, _dense("widths", (128, width), dtype, device), backend)


@pytest.mark.spmv
@matrices.every_format
@sparse_inputs.every_dtype
def test_spmv_of_every_second_element(layout, dtype, device, backend):
    sample = matrices.sample(layout, "wide", dtype, torch.int64, device)
    _check(sample, _dense("strided", (1800,), dtype, device)[::2], backend)


@pytest.mark.spmm
@matrices.every_format
@sparse_inputs.every_dtype
@pytest.mark.parametrize("view", ["transposed", "column_slice", "row_step", "expanded"])
def test_spmm_of_a_dense_matrix_that_is_not_contiguous(layout, dtype, view, device, backend):
    sample = matrices.sample(layout, "square", dtype, torch.int64, device)
    dense = {
        "transposed": lambda: _dense(view, (9, 128), dtype, device).T,
        "column_slice": lambda: _dense(view, (128, 20), dtype, device)[:, 3:16],
        "row_step": lambda: _dense(view, (256, 9), dtype, device)[::2],
        "expanded": lambda: _dense(view, (128, 1), dtype, device).expand(128, 9),
    }[view]()
    assert not dense.is_contiguous()
    _check(sample, dense, backend)


@pytest.mark.spmv
@matrices.every_format
def test_spmv_of_a_lazily_conjugated_vector(layout, device, backend):
    sample = matrices.sample(layout, "square", torch.complex64, torch.int64, device)
    dense = _dense("conjugated", (128,), torch.complex64, device).conj()
    assert dense.is_conj()
    _check(sample, dense, backend)


@matrices.every_format
@sparse_inputs.every_dtype
@sparse_inputs.every_index_dtype
@pytest.mark.parametrize("width", [pytest.param(None, marks=pytest.mark.spmv), pytest.param(7, marks=pytest.mark.spmm)])
@pytest.mark.parametrize("order", ["duplicates", "unsorted", "unsorted_duplicates"])
def test_entries_in_any_order_and_more_than_once(layout, dtype, index_dtype, width, order, device, backend):
    where = sparse_inputs.entries("square")
    rng = sparse_inputs.generator(order)
    rows, columns = where.rows, where.columns
    picked = rng.integers(0, len(rows), 3 * len(rows)) if "duplicates" in order else rng.permutation(len(rows))
    if "unsorted" not in order:
        picked.sort()
    elif layout == "csr":
        # Rows ascend in CSR by nature; within a row the order stays random.
        picked = picked[rows[picked].argsort(kind="stable")]
    values = sparse_inputs.values(rng, picked.shape, dtype, device)
    sample = matrices.build(layout, rows[picked], columns[picked], values, where.shape, index_dtype)
    shape = (128,) if width is None else (128, width)
    _check(sample, _dense(order, shape, dtype, device), backend)


@pytest.mark.spmv
@sparse_inputs.every_dtype
def test_csr_and_coo_hold_the_same_matrix(dtype, device):
    csr = matrices.sample("csr", "uneven_rows", dtype, torch.int32, device).matrix
    coo = matrices.sample("coo", "uneven_rows", dtype, torch.int32, device).matrix
    torch.testing.assert_close(csr.entry_rows(), coo.entry_rows(), rtol=0, atol=0)


@pytest.mark.spmm
def test_spmm_in_several_chunks(device, backend, monkeypatch):
    monkeypatch.setattr("sparse_ops.matmul._CHUNK_ELEMENTS", 1000)
    sample = matrices.sample("csr", "square", torch.float64, torch.int64, device)
    _check(sample, _dense("chunks", (128, 10), torch.float64, device), backend)


@pytest.mark.spmv
@sparse_inputs.every_dtype
@pytest.mark.parametrize("special", [float("nan"), float("inf")], ids=str)
def test_what_is_not_finite_reaches_its_row_and_no_other(dtype, special, device, backend):
    index = torch.tensor([0, 1, 2], device=device)
    matrix = COO(index, index, torch.ones(3, dtype=dtype, device=device), (3, 3))
    vector = torch.tensor([1.0, special, 3.0], device=device).to(dtype)
    out = spmv(matrix, vector, backend=backend)
    assert [bool(torch.isfinite(part)) for part in out] == [True, False, True]
