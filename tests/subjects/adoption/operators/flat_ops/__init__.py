"""Operators on lists of numbers."""

from flat_ops.pointwise import add, mul
from flat_ops.reduction import sum_dim

__all__ = ["add", "mul", "sum_dim"]
