"""Launches the kernels on the tensors' own device, and maps vectors and complex numbers to the real matrices they take.

A complex matrix product is two real ones: with B's real and imaginary parts side by side, ``P = Re(A) B`` and
``Q = Im(A) B`` hold all four partial products.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton

from sparse_ops.formats import COO, CSR
from sparse_ops.kernels import products, rows

_MAX_BLOCKS = 65535
"""CUDA's limit on the second dimension of a grid."""


def _block_columns(width: int) -> int:
    # Wide enough that the blocks of any width fit into the grid.
    return max(min(triton.next_power_of_2(width), 64), triton.next_power_of_2(-(-width // _MAX_BLOCKS)))


def _as_rows(tensor: torch.Tensor) -> torch.Tensor:
    """A vector or matrix, real or complex, as a real matrix with the same rows."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
        return tensor.reshape(tensor.shape[0], tensor[:1].numel())
    return tensor if tensor.dim() == 2 else tensor.unsqueeze(1)


def _from_rows(matrix: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Undoes ``_as_rows`` for a contiguous ``matrix``, whose trailing shape and dtype are those of ``like``."""
    if like.is_complex():
        return torch.view_as_complex(matrix.view(matrix.shape[0], *like.shape[1:], 2))
    return matrix.view(matrix.shape[0], *like.shape[1:])


def gather(dense: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """See ``sparse_ops.gather``."""
    source = _as_rows(dense)
    count, width = indices.shape[0], source.shape[1]
    out = source.new_empty((count, width))
    if out.numel():
        block = _block_columns(width)
        with torch.cuda.device(dense.device):
            rows.gather_kernel[(triton.cdiv(count, 32), triton.cdiv(width, block))](
                source, indices, out, count, width, *source.stride(), indices.stride(0), 32, block
            )
    return _from_rows(out, dense)


def scatter_add(dense: torch.Tensor, indices: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """See ``sparse_ops.scatter``."""
    out = _as_rows(dense).clone(memory_format=torch.contiguous_format)
    source = _as_rows(values)
    count, width = source.shape
    if source.numel():
        block = _block_columns(width)
        with torch.cuda.device(dense.device):
            rows.scatter_add_kernel[(triton.cdiv(count, 32), triton.cdiv(width, block))](
                out, indices, source, count, width, *source.stride(), indices.stride(0), 32, block
            )
    return _from_rows(out, dense)


def scatter_assign(dense: torch.Tensor, indices: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """See ``sparse_ops.scatter``."""
    out = _as_rows(dense).clone(memory_format=torch.contiguous_format)
    source = _as_rows(values)
    count, width = source.shape
    if source.numel():
        last = torch.full((out.shape[0],), -1, dtype=torch.int64, device=dense.device)
        block = _block_columns(width)
        with torch.cuda.device(dense.device):
            rows.last_position_kernel[(triton.cdiv(count, 256),)](last, indices, count, indices.stride(0), 256)
            rows.assign_kernel[(triton.cdiv(out.shape[0], 32), triton.cdiv(width, block))](
                out, last, source, out.shape[0], width, *source.stride(), 32, block
            )
    return _from_rows(out, dense)


RealProduct = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]
"""(values, dense, out): adds the product with the real ``values`` to ``out``, which is zero."""


def _by_parts(values: torch.Tensor, dense: torch.Tensor, height: int, product: RealProduct) -> torch.Tensor:
    width = dense.shape[1]
    source = _as_rows(dense)
    if not values.is_complex():
        out = source.new_zeros((height, width))
        product(values, source, out)
        return out
    parts = torch.view_as_real(values.resolve_conj())
    by_real = source.new_zeros((height, 2 * width))
    by_imaginary = source.new_zeros((height, 2 * width))
    product(parts[:, 0], source, by_real)
    product(parts[:, 1], source, by_imaginary)
    p, q = by_real.view(height, width, 2), by_imaginary.view(height, width, 2)
    return torch.complex(p[..., 0] - q[..., 1], p[..., 1] + q[..., 0])


def matmul_csr(matrix: CSR, dense: torch.Tensor) -> torch.Tensor:
    """``matrix @ dense``; see ``sparse_ops.spmm``."""

    def product(values: torch.Tensor, source: torch.Tensor, out: torch.Tensor) -> None:
        if not out.numel() or not values.numel():
            return
        block = _block_columns(out.shape[1])
        with torch.cuda.device(out.device):
            products.csr_kernel[(out.shape[0], triton.cdiv(out.shape[1], block))](
                matrix.row_offsets, matrix.columns, values, source, out, out.shape[1],
                matrix.row_offsets.stride(0), matrix.columns.stride(0), values.stride(0), *source.stride(),
                64, block,
            )  # fmt: skip

    return _by_parts(matrix.values, dense, matrix.shape[0], product)


def matmul_coo(matrix: COO, dense: torch.Tensor) -> torch.Tensor:
    """``matrix @ dense``; see ``sparse_ops.spmm``."""

    def product(values: torch.Tensor, source: torch.Tensor, out: torch.Tensor) -> None:
        if not out.numel() or not values.numel():
            return
        block = _block_columns(out.shape[1])
        with torch.cuda.device(out.device):
            products.coo_kernel[(triton.cdiv(values.shape[0], 64), triton.cdiv(out.shape[1], block))](
                matrix.rows, matrix.columns, values, source, out, values.shape[0], out.shape[1],
                matrix.rows.stride(0), matrix.columns.stride(0), values.stride(0), *source.stride(),
                64, block,
            )  # fmt: skip

    return _by_parts(matrix.values, dense, matrix.shape[0], product)
