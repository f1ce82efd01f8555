"""The machine's own processor, as a device: always one, never masked."""

import platform
from collections.abc import Sequence
from pathlib import Path

import psutil

from ci_toolkit.model.report import Device

_CPUINFO = Path("/proc/cpuinfo")


def discover() -> tuple[tuple[Device, ...], str]:
    """The processor; ``arch`` is the machine type (``x86_64``), the memory is the machine's."""
    memory = psutil.virtual_memory().total
    return (Device(index=0, module="cpu", name=_model(), arch=platform.machine(), memory_bytes=memory),), ""


def mask(devices: Sequence[Device]) -> dict[str, str]:
    """Nothing: a worker always sees the processor."""
    return {}


def _model() -> str:
    if _CPUINFO.exists():
        for line in _CPUINFO.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip().lower() in {"model name", "hardware"} and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()
