"""Strides and views of dense tensors."""

from tensor_views.strides import contiguous, offset

__all__ = ["contiguous", "offset"]
