"""The accuracy suite's own teeth: the bound follows its formula, and a result just outside of it is refused."""

import numpy as np
import pytest
import torch

import sparse_inputs
import sparse_oracle


@pytest.mark.parametrize("length", [0, 1, 10, 10_000])
def test_gamma(length):
    unit = 2.0**-24
    assert sparse_oracle.gamma(np.array(length), unit) == pytest.approx(length * unit / (1 - length * unit), rel=1e-15)


def test_gamma_refuses_sums_without_a_bound():
    with pytest.raises(AssertionError, match="the bound says nothing"):
        sparse_oracle.gamma(np.array(2**24), 2.0**-24)


@sparse_inputs.every_dtype
def test_unit_roundoff(dtype):
    assert sparse_oracle.unit_roundoff(dtype) == {torch.float64: 2.0**-53}.get(dtype, 2.0**-24)


@sparse_inputs.every_dtype
@pytest.mark.parametrize("share", [0.5, 1.5])
def test_the_bound_bites(dtype, share, device):
    rng = sparse_inputs.generator("bites")
    index = torch.arange(4, device=device).repeat_interleave(100)
    values = sparse_inputs.values(rng, (400,), dtype, device)
    dense = sparse_inputs.values(rng, (100,), dtype, device)
    columns = torch.arange(100, device=device).repeat(4)
    exact, allowed = sparse_oracle.matmul(index, columns, values, (4, 100), dense)
    off = torch.as_tensor((exact + share * allowed).astype(np.complex128 if dtype.is_complex else np.float64))
    off = off.to(dtype)
    if share < 1:
        sparse_oracle.assert_within(off, exact, allowed)
    else:
        with pytest.raises(AssertionError, match="4 of 4 elements are off"):
            sparse_oracle.assert_within(off, exact, allowed)


@sparse_inputs.every_dtype
def test_nan_is_never_within(dtype):
    actual = torch.full((1,), float("nan"), dtype=dtype)
    with pytest.raises(AssertionError, match="1 of 1 elements are off"):
        sparse_oracle.assert_within(actual, np.zeros(1, sparse_oracle.WIDER[dtype]), np.full(1, np.inf))


def test_zero_tolerance_where_nothing_is_summed():
    exact, allowed = sparse_oracle.matmul(
        torch.tensor([0]), torch.tensor([0]), torch.tensor([0.0]), (2, 1), torch.tensor([1.0])
    )
    assert exact.tolist() == [0, 0]
    assert allowed.tolist() == [0, 0]
