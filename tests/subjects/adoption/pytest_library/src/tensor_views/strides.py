"""Strides, in elements."""

from collections.abc import Sequence


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a dense tensor, the last axis fastest."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def offset(strides: Sequence[int], index: Sequence[int]) -> int:
    """Where an element lies."""
    return sum(stride * at for stride, at in zip(strides, index, strict=True))
