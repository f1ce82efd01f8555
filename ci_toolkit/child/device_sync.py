"""Waits for the devices that a case used, so that what goes wrong on them goes wrong in its own case."""

from __future__ import annotations

import sys

BACKENDS = ("cuda", "xpu", "npu", "musa")


def synchronize() -> None:
    """Waits for the kernels that torch has started; raises what they ended in. Does nothing where none was started."""
    torch = sys.modules.get("torch")
    for name in BACKENDS:
        backend = getattr(torch, name, None)
        is_initialized = getattr(backend, "is_initialized", None)
        if is_initialized is not None and is_initialized():
            backend.synchronize()  # type: ignore[union-attr]
