"""The device and the backend under test. A device that is asked for and not there is an error, never a skip."""

from __future__ import annotations

import os

import pytest
import torch


@pytest.fixture(scope="session")
def device() -> torch.device:
    """The device that SPARSE_DEVICE names (default: cpu), proven by a small computation on it."""
    asked = torch.device(os.environ.get("SPARSE_DEVICE", "cpu"))
    probe = torch.arange(4, device=asked).sum()
    assert probe.device.type == asked.type
    assert int(probe) == 6
    return asked


@pytest.fixture(scope="session")
def backend() -> str:
    """The implementation that SPARSE_BACKEND names (default: torch)."""
    return os.environ.get("SPARSE_BACKEND", "torch")
