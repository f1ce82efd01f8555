"""NVIDIA cards through CUDA."""

from ci_toolkit.devices.cuda.ailment import ailment
from ci_toolkit.devices.cuda.discovery import discover, is_present, notes
from ci_toolkit.devices.cuda.masking import mask
from ci_toolkit.devices.cuda.usage import usage

__all__ = ["ailment", "discover", "is_present", "mask", "notes", "usage"]
