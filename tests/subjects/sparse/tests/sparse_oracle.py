"""The trusted computation and the bound on what a correct implementation may differ from it.

Error bound: a sum of products of length n, in any order of summation, has ``|computed - exact| <= gamma(n) * sum(|a_i|
|b_i|)`` with ``gamma(n) = n u / (1 - n u)`` and unit roundoff u (Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., section 3.1, eq. 3.5). A complex product is four real ones, so each part of a complex sum is a real
one of length 2 n, and its magnitudes are bounded with ``|re| + |im|``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch

WIDER = {
    torch.float32: np.float64,
    torch.float64: np.longdouble,
    torch.complex64: np.complex128,
}
"""The dtype in which the oracle computes."""


def gamma(length: np.ndarray, unit: float) -> np.ndarray:
    """Higham's gamma for each length of summation."""
    product = length * unit
    assert np.all(product < 1), "the bound says nothing for sums this long"
    return product / (1 - product)


def unit_roundoff(dtype: torch.dtype) -> float:
    """Half the distance from 1 to the next number, of the real parts of ``dtype``."""
    return torch.finfo(dtype).eps / 2


def wide(tensor: torch.Tensor) -> np.ndarray:
    """``tensor`` as an array in the oracle's dtype."""
    return tensor.detach().resolve_conj().cpu().numpy().astype(WIDER[tensor.dtype])


def magnitude(array: np.ndarray) -> np.ndarray:
    """``|x|``, or ``|re| + |im|``, as real numbers of the same width."""
    return np.abs(array.real) + np.abs(array.imag) if np.iscomplexobj(array) else np.abs(array)


def matmul(
    rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, int], dense: torch.Tensor
):
    """The product by SciPy in wider arithmetic, and the largest allowed difference of each of its elements."""
    where = (rows.cpu().numpy(), columns.cpu().numpy())
    exact = scipy.sparse.coo_array((wide(values), where), shape=shape).tocsr() @ wide(dense)
    sizes = scipy.sparse.coo_array((magnitude(wide(values)), where), shape=shape).tocsr() @ magnitude(wide(dense))
    lengths = np.bincount(where[0], minlength=shape[0]).astype(np.float64)
    lengths = lengths.reshape(-1, *([1] * (dense.dim() - 1)))
    return exact, _allowed(lengths, sizes, values.dtype)


def scatter_add(dense: torch.Tensor, indices: torch.Tensor, values: torch.Tensor):
    """The sums by NumPy in wider arithmetic, and the largest allowed difference of each of them."""
    where = indices.cpu().numpy()
    exact, sizes = wide(dense), magnitude(wide(dense))
    np.add.at(exact, where, wide(values))
    np.add.at(sizes, where, magnitude(wide(values)))
    lengths = np.bincount(where, minlength=dense.shape[0]).astype(np.float64)
    return exact, _allowed(lengths.reshape(-1, *([1] * (dense.dim() - 1))), sizes, dense.dtype)


def scatter_assign(dense: torch.Tensor, indices: torch.Tensor, values: torch.Tensor) -> np.ndarray:
    """What one assignment after the other leaves."""
    out = wide(dense)
    for index, value in zip(indices.tolist(), wide(values), strict=True):
        out[index] = value
    return out


def _allowed(lengths: np.ndarray, sizes: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    terms = 2 * lengths if dtype.is_complex else lengths
    oracle_unit = float(np.finfo(WIDER[dtype]).eps) / 2
    return (gamma(terms, unit_roundoff(dtype)) + gamma(terms, oracle_unit)) * sizes


def assert_within(actual: torch.Tensor, exact: np.ndarray, allowed: np.ndarray) -> None:
    """Each real and imaginary part of ``actual`` differs from ``exact`` by at most ``allowed``; NaN never does."""
    assert tuple(actual.shape) == exact.shape
    difference = wide(actual) - exact
    parts = np.maximum(np.abs(difference.real), np.abs(difference.imag))
    bad = ~(parts <= allowed)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"{int(bad.sum())} of {bad.size} elements are off; first at {where}: {wide(actual)[where]} instead of "
            f"{exact[where]}, allowed is {float(allowed[where]):.3g}"
        )
