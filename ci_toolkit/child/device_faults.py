"""Tells from an exception's text whether the device's context is broken: then no later case of the process can be
trusted. Pure.

Sticky are the errors after which "the process must be terminated and relaunched", as CUDA's list of error codes says,
and ECC or NVLink errors that the hardware could not correct. A refused launch or a missing kernel image is not.
"""

from __future__ import annotations

import re

TEXT_CHARACTERS = 1 << 16
"""Errors of a device tell what they are at their start."""

_WORDS = (
    "an illegal memory access was encountered",
    "an illegal memory access",
    "an illegal instruction was encountered",
    "misaligned address",
    "device-side assert triggered",
    "uncorrectable ECC error",
    "uncorrectable NVLink error",
    "unspecified launch failure",
    "hardware stack error",
    "operation not supported on global/shared address space",
    "invalid program counter",
    "the launch timed out and was terminated",
)
_NAMES = (
    "CUDA_ERROR_(?:ILLEGAL_ADDRESS|ILLEGAL_INSTRUCTION|MISALIGNED_ADDRESS|ASSERT|ECC_UNCORRECTABLE|NVLINK_UNCORRECTABLE"
    "|LAUNCH_FAILED|LAUNCH_TIMEOUT|HARDWARE_STACK_ERROR|INVALID_ADDRESS_SPACE|INVALID_PC)",
    "cudaError(?:IllegalAddress|IllegalInstruction|MisalignedAddress|Assert|ECCUncorrectable|NvlinkUncorrectable"
    "|LaunchFailure|LaunchTimeout|HardwareStackError|InvalidAddressSpace|InvalidPc)",
    "hipError(?:IllegalAddress|Assert|ECCNotCorrectable|LaunchFailure|LaunchTimeOut)",
)
# The words alone are not enough: a library may say "misaligned address" of an argument that it refuses.
_SOURCE = r"(?:\b(?:CUDA|HIP|MUSA)(?: driver| runtime)? error:|Triton Error \[\w+\]:)"
_FAULT = re.compile(
    r"%s[^\n]{0,200}?(?:%s)|\b(?:%s)\b" % (_SOURCE, "|".join(map(re.escape, _WORDS)), "|".join(_NAMES)), re.IGNORECASE
)
_MEMORY = re.compile(
    r"\b(?:CUDA|HIP|MUSA|XPU|NPU) out of memory|%s[^\n]{0,200}?out of memory"
    r"|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bcudaErrorMemoryAllocation\b|\bhipErrorOutOfMemory\b" % _SOURCE,
    re.IGNORECASE,
)


def is_device_fault(text: str) -> bool:
    """Whether ``text`` tells of an error that stays in the device's context until the process ends."""
    return bool(_FAULT.search(text[:TEXT_CHARACTERS]))


def is_out_of_memory(text: str) -> bool:
    """Whether ``text`` tells that a device has no memory left; the context goes on."""
    return bool(_MEMORY.search(text[:TEXT_CHARACTERS]))
