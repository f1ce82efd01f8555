"""Sparse operators on torch tensors: ``gather``, ``scatter``, ``spmv`` and ``spmm`` for CSR and COO matrices.

Values are float32, float64 or complex64, indices int32 or int64. ``backend="torch"`` runs on any device that torch has,
``backend="triton"`` on CUDA; neither ever stands in for the other.
"""

from sparse_ops.backends import Backend, BackendUnavailableError, available_backends
from sparse_ops.formats import COO, CSR
from sparse_ops.gather import gather
from sparse_ops.matmul import spmm, spmv
from sparse_ops.scatter import scatter

__all__ = [
    "COO",
    "CSR",
    "Backend",
    "BackendUnavailableError",
    "available_backends",
    "gather",
    "scatter",
    "spmm",
    "spmv",
]
