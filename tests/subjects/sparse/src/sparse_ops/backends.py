"""Which implementation runs: chosen by the caller, checked here, never replaced silently."""

from __future__ import annotations

import importlib.util
from typing import Literal

import torch

Backend = Literal["torch", "triton"]


class BackendUnavailableError(RuntimeError):
    """The backend that was asked for can not run on this machine or for these tensors."""


def _triton_trouble(device: torch.device) -> str:
    if importlib.util.find_spec("triton") is None:
        return "the triton package is not installed"
    if not torch.cuda.is_available():
        return "torch sees no CUDA device"
    if device.type != "cuda":
        return f"the tensors are on {device}, its kernels run on CUDA"
    return ""


def available_backends(device: torch.device) -> tuple[Backend, ...]:
    """The backends that can run on tensors of ``device``."""
    return ("torch",) if _triton_trouble(device) else ("torch", "triton")


def uses_triton(backend: Backend, device: torch.device) -> bool:
    """Whether ``backend`` is Triton. Raises ValueError for an unknown name, BackendUnavailableError if it can't run."""
    if backend not in {"torch", "triton"}:
        raise ValueError(f"unknown backend {backend!r}, expected 'torch' or 'triton'")
    if backend == "torch":
        return False
    if trouble := _triton_trouble(device):
        raise BackendUnavailableError(f"backend 'triton' can not run: {trouble}")
    return True
