"""Inputs by name. Each is a function of its name and dtypes alone, so that every run and device sees the same."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

DTYPES = [torch.float32, torch.float64, torch.complex64]
INDEX_DTYPES = [torch.int32, torch.int64]


def short(dtype: torch.dtype) -> str:
    """``float32`` for ``torch.float32``: what test ids say."""
    return str(dtype).replace("torch.", "")


every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=short)
every_index_dtype = pytest.mark.parametrize("index_dtype", INDEX_DTYPES, ids=short)


def generator(*key: object) -> np.random.Generator:
    """A generator that depends on ``key`` alone."""
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Normal random numbers of both signs, so that sums cancel."""
    array = rng.standard_normal(shape)
    if dtype.is_complex:
        array = array + 1j * rng.standard_normal(shape)
    return torch.as_tensor(array).to(device=device, dtype=dtype)


@dataclass(frozen=True)
class Entries:
    """Where a matrix has entries: row by row, columns ascending, no entry twice."""

    rows: np.ndarray
    columns: np.ndarray
    shape: tuple[int, int]


def _random(rows: int, columns: int, share: float) -> Callable[[np.random.Generator], Entries]:
    def make(rng: np.random.Generator) -> Entries:
        where = np.nonzero(rng.random((rows, columns)) < share)
        return Entries(where[0], where[1], (rows, columns))

    return make


def _every_third_row(rng: np.random.Generator) -> Entries:
    where = np.nonzero((rng.random((90, 40)) < 0.2) & (np.arange(90) % 3 == 1)[:, None])
    return Entries(where[0], where[1], (90, 40))


def _power_law(rng: np.random.Generator) -> Entries:
    lengths = np.minimum(2000, (2000 / np.arange(1, 61) ** 1.5).astype(int) + 1)
    columns = [np.sort(rng.choice(2000, length, replace=False)) for length in lengths]
    return Entries(np.repeat(np.arange(60), lengths), np.concatenate(columns), (60, 2000))


PATTERNS: dict[str, Callable[[np.random.Generator], Entries]] = {
    "empty": _random(0, 0, 1.0),
    "no_rows": _random(0, 5, 1.0),
    "no_columns": _random(5, 0, 1.0),
    "no_entries": _random(7, 5, 0.0),
    "one_element": _random(1, 1, 1.0),
    "one_row": _random(1, 300, 0.5),
    "one_column": _random(300, 1, 0.5),
    "empty_rows": _every_third_row,
    "long_rows": _random(3, 4000, 1.0),
    "uneven_rows": _power_law,
    "wide": _random(17, 900, 0.05),
    "tall": _random(900, 17, 0.05),
    "square": _random(128, 128, 0.1),
    "full": _random(33, 65, 1.0),
}

every_pattern = pytest.mark.parametrize("pattern", PATTERNS)


def entries(pattern: str) -> Entries:
    """The pattern of that name."""
    return PATTERNS[pattern](generator("pattern", pattern))
