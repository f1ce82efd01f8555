"""Kernels for sparse times dense, real. Offsets are 64 bits wide, whatever the indices are; tails are masked."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def csr_kernel(
    row_offsets, columns, values, dense, out,
    width, offset_stride, column_stride, value_stride, dense_row, dense_column,
    BLOCK_ENTRIES: tl.constexpr, BLOCK_COLUMNS: tl.constexpr,
):  # fmt: skip
    """One program a row and block of columns: sums over the row's entries; ``out`` is contiguous."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1).to(tl.int64) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    begin = tl.load(row_offsets + row * offset_stride).to(tl.int64)
    end = tl.load(row_offsets + (row + 1) * offset_stride).to(tl.int64)
    total = tl.zeros((BLOCK_COLUMNS,), dtype=out.dtype.element_ty)
    for start in range(begin, end, BLOCK_ENTRIES):
        entry = start + tl.arange(0, BLOCK_ENTRIES)
        inside = entry < end
        value = tl.load(values + entry * value_stride, mask=inside, other=0.0)
        source = tl.load(columns + entry * column_stride, mask=inside, other=0).to(tl.int64)
        mask = inside[:, None] & (column < width)[None, :]
        factor = tl.load(dense + source[:, None] * dense_row + column[None, :] * dense_column, mask=mask, other=0.0)
        total += tl.sum(value[:, None] * factor, axis=0)
    tl.store(out + row * width + column, total, mask=column < width)


@triton.jit
def coo_kernel(
    rows, columns, values, dense, out,
    count, width, row_stride, column_stride, value_stride, dense_row, dense_column,
    BLOCK_ENTRIES: tl.constexpr, BLOCK_COLUMNS: tl.constexpr,
):  # fmt: skip
    """One program a block of entries and of columns: adds each product atomically; ``out`` is contiguous zeros."""
    entry = tl.program_id(0).to(tl.int64) * BLOCK_ENTRIES + tl.arange(0, BLOCK_ENTRIES)
    column = tl.program_id(1).to(tl.int64) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    inside = entry < count
    mask = inside[:, None] & (column < width)[None, :]
    value = tl.load(values + entry * value_stride, mask=inside, other=0.0)
    target = tl.load(rows + entry * row_stride, mask=inside, other=0).to(tl.int64)
    source = tl.load(columns + entry * column_stride, mask=inside, other=0).to(tl.int64)
    factor = tl.load(dense + source[:, None] * dense_row + column[None, :] * dense_column, mask=mask, other=0.0)
    tl.atomic_add(out + target[:, None] * width + column[None, :], value[:, None] * factor, mask=mask)
