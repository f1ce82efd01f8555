"""Wrong arguments: the right exception, and a message that names the argument and what is wrong with it."""

import re

import pytest
import torch

from sparse_ops import COO, CSR, gather, scatter, spmm, spmv


def _tensor(*data, dtype=torch.float32, device):
    return torch.tensor(data, dtype=dtype, device=device)


def _csr(device, dtype=torch.float32):
    index = {"dtype": torch.int64, "device": device}
    return CSR(_tensor(0, 1, 2, **index), _tensor(0, 2, **index), _tensor(1, 2, dtype=dtype, device=device), (2, 3))


def _index(*data, dtype=torch.int64, device):
    return torch.tensor(data, dtype=dtype, device=device)


GATHER = {
    "too_large": (IndexError, "indices holds 3, out of range for size 3", lambda f, i: (f(1, 2, 3), i(0, 3))),
    "negative": (IndexError, "indices holds -1, out of range for size 3", lambda f, i: (f(1, 2, 3), i(-1, 9))),
    "from_nothing": (IndexError, "indices holds 0, out of range for size 0", lambda f, i: (f(), i(0))),
    "float_indices": (TypeError, "indices is torch.float32, supported are int32, int64", lambda f, i: (f(1), f(0))),
    "half_values": (TypeError, "dense is torch.float16, supported are", lambda f, i: (f(1).half(), i(0))),
    "integer_values": (TypeError, "dense is torch.int64, supported are", lambda f, i: (i(1), i(0))),
    "scalar": (ValueError, "dense has 0 dimensions, expected 1 or 2", lambda f, i: (f(1)[0], i(0))),
    "three_dimensions": (ValueError, "dense has 3 dimensions", lambda f, i: (f(1)[None, None], i(0))),
    "matrix_of_indices": (ValueError, "indices has 2 dimensions, expected 1", lambda f, i: (f(1), i(0)[None])),
    "other_device": (ValueError, "indices is on meta, dense is on", lambda f, i: (f(1), i(0).to("meta"))),
}
SCATTER = {
    "too_large": (IndexError, "indices holds 2, out of range", lambda f, i: (f(1, 2), i(0, 2), f(1, 2))),
    "negative": (IndexError, "indices holds -1, out of range", lambda f, i: (f(1, 2), i(0, -1), f(1, 2))),
    "value_dtype": (
        TypeError,
        "values is torch.float64, dense is torch.float32",
        lambda f, i: (f(1), i(0), f(1).double()),
    ),
    "complex_into_real": (TypeError, "values is torch.complex64", lambda f, i: (f(1), i(0), f(1).to(torch.complex64))),
    "too_few_values": (ValueError, "values has shape (1,), expected (2,)", lambda f, i: (f(1, 2), i(0, 1), f(1))),
    "too_many_values": (ValueError, "values has shape (3,), expected (2,)", lambda f, i: (f(1), i(0, 0), f(1, 2, 3))),
    "matrix_values": (ValueError, "values has shape (1, 1), expected (1,)", lambda f, i: (f(1), i(0), f(1)[None])),
    "vector_values": (ValueError, "values has shape (1,), expected (1, 2)", lambda f, i: (f(1, 2)[None], i(0), f(1))),
    "float_indices": (TypeError, "indices is torch.float32", lambda f, i: (f(1), f(0), f(1))),
    "other_device": (ValueError, "values is on meta", lambda f, i: (f(1), i(0), f(1).to("meta"))),
}
CSR_FAULTS = {
    "offsets_length": (
        ValueError,
        "row_offsets has length 2, expected rows + 1 = 3",
        lambda f, i: (i(0, 1), i(0), f(1), (2, 2)),
    ),
    "offsets_start": (
        ValueError,
        "row_offsets runs from 1 to 1, expected 0 to 1",
        lambda f, i: (i(1, 1), i(0), f(1), (1, 1)),
    ),
    "offsets_end": (
        ValueError,
        "row_offsets runs from 0 to 2, expected 0 to 1",
        lambda f, i: (i(0, 2), i(0), f(1), (1, 1)),
    ),
    "offsets_decrease": (ValueError, "row_offsets decreases", lambda f, i: (i(0, 2, 1, 2), i(0, 0), f(1, 1), (3, 1))),
    "column_too_large": (
        IndexError,
        "columns holds 3, out of range for size 3",
        lambda f, i: (i(0, 1), i(3), f(1), (1, 3)),
    ),
    "column_negative": (IndexError, "columns holds -1", lambda f, i: (i(0, 1), i(-1), f(1), (1, 3))),
    "lengths": (ValueError, "columns has length 2, values has 1", lambda f, i: (i(0, 1), i(0, 1), f(1), (1, 3))),
    "index_dtypes": (
        TypeError,
        "columns is torch.int32, row_offsets is torch.int64",
        lambda f, i: (i(0, 1), i(0).int(), f(1), (1, 1)),
    ),
    "value_dtype": (TypeError, "values is torch.bfloat16", lambda f, i: (i(0, 1), i(0), f(1).bfloat16(), (1, 1))),
    "value_matrix": (
        ValueError,
        "values has 2 dimensions, expected 1",
        lambda f, i: (i(0, 1), i(0), f(1)[None], (1, 1)),
    ),
    "negative_shape": (ValueError, "shape is (-1, 1)", lambda f, i: (i(0), i(), f(), (-1, 1))),
    "shape_of_three": (ValueError, "shape is (1, 1, 1)", lambda f, i: (i(0, 1), i(0), f(1), (1, 1, 1))),
    "other_device": (ValueError, "columns is on meta", lambda f, i: (i(0, 1), i(0).to("meta"), f(1), (1, 1))),
}
COO_FAULTS = {
    "row_too_large": (IndexError, "rows holds 2, out of range for size 2", lambda f, i: (i(2), i(0), f(1), (2, 2))),
    "row_negative": (IndexError, "rows holds -2, out of range for size 2", lambda f, i: (i(-2), i(0), f(1), (2, 2))),
    "column_too_large": (
        IndexError,
        "columns holds 2, out of range for size 2",
        lambda f, i: (i(0), i(2), f(1), (2, 2)),
    ),
    "row_lengths": (ValueError, "rows has length 2, values has 1", lambda f, i: (i(0, 1), i(0), f(1), (2, 2))),
    "column_lengths": (ValueError, "columns has length 2, values has 1", lambda f, i: (i(0), i(0, 1), f(1), (2, 2))),
    "index_dtypes": (
        TypeError,
        "columns is torch.int32, rows is torch.int64",
        lambda f, i: (i(0), i(0).int(), f(1), (1, 1)),
    ),
    "float_rows": (TypeError, "rows is torch.float32", lambda f, i: (f(0), i(0), f(1), (1, 1))),
    "entry_in_nothing": (IndexError, "rows holds 0, out of range for size 0", lambda f, i: (i(0), i(0), f(1), (0, 0))),
}


def _raises(case, call, device):
    error, message, arguments = case
    with pytest.raises(error, match=re.escape(message)):
        call(*arguments(lambda *data: _tensor(*data, device=device), lambda *data: _index(*data, device=device)))


@pytest.mark.gather
@pytest.mark.parametrize("fault", GATHER)
def test_gather(fault, device):
    _raises(GATHER[fault], gather, device)


@pytest.mark.scatter
@pytest.mark.parametrize("mode", ["add", "assign"])
@pytest.mark.parametrize("fault", SCATTER)
def test_scatter(fault, mode, device):
    _raises(SCATTER[fault], lambda *arguments: scatter(*arguments, mode=mode), device)


@pytest.mark.scatter
def test_scatter_in_an_unknown_mode(device):
    one = _tensor(1, device=device)
    with pytest.raises(ValueError, match="unknown mode 'max', expected 'add' or 'assign'"):
        scatter(one, _index(0, device=device), one, mode="max")


@pytest.mark.spmv
@pytest.mark.parametrize("fault", CSR_FAULTS)
def test_csr(fault, device):
    _raises(CSR_FAULTS[fault], CSR, device)


@pytest.mark.spmv
@pytest.mark.parametrize("fault", COO_FAULTS)
def test_coo(fault, device):
    _raises(COO_FAULTS[fault], COO, device)


@pytest.mark.spmv
@pytest.mark.parametrize("length", [2, 4])
def test_spmv_of_another_length(length, device):
    with pytest.raises(ValueError, match=f"vector has length {length}, the matrix has 3 columns"):
        spmv(_csr(device), torch.ones(length, device=device))


@pytest.mark.spmv
def test_spmv_of_a_matrix(device):
    with pytest.raises(ValueError, match="vector has 2 dimensions, expected 1"):
        spmv(_csr(device), torch.ones(3, 1, device=device))


@pytest.mark.spmv
def test_spmv_promotes_nothing(device):
    with pytest.raises(TypeError, match=r"vector is torch\.float64, matrix is torch\.float32"):
        spmv(_csr(device), torch.ones(3, dtype=torch.float64, device=device))


@pytest.mark.spmv
def test_spmv_moves_nothing(device):
    with pytest.raises(ValueError, match="vector is on meta, matrix is on"):
        spmv(_csr(device), torch.ones(3, device="meta"))


@pytest.mark.spmm
def test_spmm_of_a_vector(device):
    with pytest.raises(ValueError, match="dense has 1 dimensions, expected 2"):
        spmm(_csr(device), torch.ones(3, device=device))


@pytest.mark.spmm
def test_spmm_of_another_length(device):
    with pytest.raises(ValueError, match="dense has length 2, the matrix has 3 columns"):
        spmm(_csr(device), torch.ones(2, 5, device=device))


@pytest.mark.spmm
def test_spmm_promotes_nothing(device):
    with pytest.raises(TypeError, match=r"dense is torch\.complex64, matrix is torch\.float64"):
        spmm(_csr(device, torch.float64), torch.ones(3, 2, dtype=torch.complex64, device=device))
