"""Kernels that move rows of real matrices. Offsets are 64 bits wide, whatever the indices are; tails are masked."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    dense, indices, out,
    count, width, dense_row, dense_column, index_stride,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr,
):  # fmt: skip
    """``out[k, :] = dense[indices[k], :]``; ``out`` is contiguous."""
    k = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.program_id(1).to(tl.int64) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    mask = (k < count)[:, None] & (column < width)[None, :]
    row = tl.load(indices + k * index_stride, mask=k < count, other=0).to(tl.int64)
    value = tl.load(dense + row[:, None] * dense_row + column[None, :] * dense_column, mask=mask)
    tl.store(out + k[:, None] * width + column[None, :], value, mask=mask)


@triton.jit
def scatter_add_kernel(
    out, indices, values,
    count, width, value_row, value_column, index_stride,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr,
):  # fmt: skip
    """``out[indices[k], :] += values[k, :]``, atomically; ``out`` is contiguous."""
    k = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.program_id(1).to(tl.int64) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    mask = (k < count)[:, None] & (column < width)[None, :]
    row = tl.load(indices + k * index_stride, mask=k < count, other=0).to(tl.int64)
    value = tl.load(values + k[:, None] * value_row + column[None, :] * value_column, mask=mask)
    tl.atomic_add(out + row[:, None] * width + column[None, :], value, mask=mask)


@triton.jit
def last_position_kernel(last, indices, count, index_stride, BLOCK: tl.constexpr):
    """``last[i]`` becomes the largest ``k`` with ``indices[k] == i``; it starts at -1."""
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(indices + k * index_stride, mask=k < count, other=0).to(tl.int64)
    tl.atomic_max(last + row, k, mask=k < count)


@triton.jit
def assign_kernel(
    out, last, values,
    rows, width, value_row, value_column,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr,
):  # fmt: skip
    """``out[i, :] = values[last[i], :]`` where ``last[i]`` is not -1; ``out`` is contiguous."""
    i = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.program_id(1).to(tl.int64) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    source = tl.load(last + i, mask=i < rows, other=-1)
    mask = (source >= 0)[:, None] & (column < width)[None, :]
    value = tl.load(values + source[:, None] * value_row + column[None, :] * value_column, mask=mask)
    tl.store(out + i[:, None] * width + column[None, :], value, mask=mask)
