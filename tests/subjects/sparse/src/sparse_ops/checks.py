"""Argument checks: each fault is one exception that names the argument, what it is, and what it must be."""

from __future__ import annotations

import torch

VALUE_DTYPES = (torch.float32, torch.float64, torch.complex64)
INDEX_DTYPES = (torch.int32, torch.int64)


def _names(dtypes: tuple[torch.dtype, ...]) -> str:
    return ", ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)


def value_dtype(name: str, tensor: torch.Tensor) -> None:
    """Raises TypeError unless ``tensor`` holds values of a supported dtype."""
    if tensor.dtype not in VALUE_DTYPES:
        raise TypeError(f"{name} is {tensor.dtype}, supported are {_names(VALUE_DTYPES)}")


def index_dtype(name: str, tensor: torch.Tensor) -> None:
    """Raises TypeError unless ``tensor`` holds indices of a supported dtype."""
    if tensor.dtype not in INDEX_DTYPES:
        raise TypeError(f"{name} is {tensor.dtype}, supported are {_names(INDEX_DTYPES)}")


def dimensions(name: str, tensor: torch.Tensor, *allowed: int) -> None:
    """Raises ValueError unless ``tensor`` has one of the ``allowed`` numbers of dimensions."""
    if tensor.dim() not in allowed:
        raise ValueError(f"{name} has {tensor.dim()} dimensions, expected {' or '.join(map(str, allowed))}")


def same_dtype(first_name: str, first: torch.Tensor, name: str, tensor: torch.Tensor) -> None:
    """Raises TypeError unless both tensors have one dtype: nothing is promoted."""
    if first.dtype != tensor.dtype:
        raise TypeError(f"{name} is {tensor.dtype}, {first_name} is {first.dtype}: they must be the same")


def same_device(first_name: str, first: torch.Tensor, name: str, tensor: torch.Tensor) -> None:
    """Raises ValueError unless both tensors are on one device: nothing is moved."""
    if first.device != tensor.device:
        raise ValueError(f"{name} is on {tensor.device}, {first_name} is on {first.device}: they must be the same")


def same_length(first_name: str, first: torch.Tensor, name: str, tensor: torch.Tensor) -> None:
    """Raises ValueError unless both tensors have the same first dimension."""
    if first.shape[0] != tensor.shape[0]:
        raise ValueError(f"{name} has length {tensor.shape[0]}, {first_name} has {first.shape[0]}: they must match")


def in_range(name: str, indices: torch.Tensor, size: int) -> None:
    """Raises IndexError unless all ``indices`` lie in [0, size). Waits for the device."""
    if indices.numel() == 0:
        return
    low, high = (int(bound) for bound in torch.aminmax(indices))
    if low < 0 or high >= size:
        raise IndexError(f"{name} holds {low if low < 0 else high}, out of range for size {size}")
