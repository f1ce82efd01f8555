"""Which exceptions mean that the device's context is broken: their texts are what libraries really write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.child.device_faults import is_device_fault, is_out_of_memory
from ci_toolkit.child.failures import cause
from ci_toolkit.model.outcome import Cause

STICKY = [
    "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported",
    "CUDA error: misaligned address",
    "CUDA error: device-side assert triggered\nCompile with `TORCH_USE_CUDA_DSA`",
    "CUDA error: uncorrectable ECC error encountered",
    "CUDA error: unspecified launch failure",
    "CUDA error: the launch timed out and was terminated",
    "CUDA error: an illegal instruction was encountered",
    "CUDA error: operation not supported on global/shared address space",
    "CUDA driver error: an illegal memory access was encountered",
    "Triton Error [CUDA]: an illegal memory access was encountered",
    "Triton Error [CUDA]: device-side assert triggered",
    "HIP error: an illegal memory access was encountered",
    "Call to cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS",
    "cudaErrorIllegalAddress: an illegal memory access was encountered",
    "CUDA runtime error: unspecified launch failure",
    "NCCL failed\n  what():  CUDA error: device-side assert triggered",
]
PASSING = [
    "CUDA error: no kernel image is available for execution on the device",
    "CUDA error: invalid configuration argument",
    "CUDA error: invalid argument",
    "CUDA error: too many resources requested for launch",
    "Triton Error [CUDA]: invalid argument",
    "misaligned address",
    "view has an illegal memory access pattern",
    "CUDA_ERROR_INVALID_VALUE",
    "cudaErrorAssertion",
    "",
]
MEMORY = [
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 139.80 GiB",
    "CUDA error: out of memory",
    "Triton Error [CUDA]: out of memory",
    "HIP out of memory. Tried to allocate",
    "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY",
    "cudaErrorMemoryAllocation: out of memory",
]


class AcceleratorError(RuntimeError):
    """As torch names it."""


@pytest.mark.parametrize("text", STICKY)
@pytest.mark.parametrize("kind", [RuntimeError, AcceleratorError, ValueError])
def test_a_broken_context_is_the_devices_trouble(text: str, kind: type[Exception]) -> None:
    assert is_device_fault(text)
    assert not is_out_of_memory(text)
    assert cause(kind(text)) == Cause.DEVICE


@pytest.mark.parametrize("text", PASSING)
def test_what_leaves_the_context_whole(text: str) -> None:
    assert not is_device_fault(text)
    assert cause(RuntimeError(text)) == Cause.EXCEPTION


@pytest.mark.parametrize("text", MEMORY)
def test_too_little_memory_is_a_matter_of_resources(text: str) -> None:
    assert is_out_of_memory(text)
    assert not is_device_fault(text)
    assert cause(RuntimeError(text)) == Cause.RESOURCE


def test_an_assertion_that_quotes_a_fault_is_an_assertion() -> None:
    assert cause(AssertionError(f"expected {STICKY[0]!r}")) == Cause.ASSERTION
    with pytest.raises(BaseException, match="CUDA") as raised:
        pytest.fail(STICKY[0])
    assert cause(raised.value) != Cause.DEVICE


def test_a_fault_stays_one_when_it_is_wrapped_or_asserted_about() -> None:
    def wrapped(outer: BaseException, **chain: BaseException) -> BaseException:
        for name, link in chain.items():
            setattr(outer, name, link)
        return outer

    fault = RuntimeError(STICKY[0])
    assert cause(wrapped(ValueError("can not compare"), __cause__=fault)) == Cause.DEVICE
    assert cause(wrapped(AssertionError("raised"), __context__=fault)) == Cause.DEVICE
    assert cause(wrapped(ValueError("x"), __context__=wrapped(KeyError("y"), __cause__=fault))) == Cause.DEVICE


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert cause(first) == Cause.EXCEPTION


@given(st.text(), st.sampled_from(STICKY))
def test_what_follows_does_not_hide_a_fault(after: str, text: str) -> None:
    assert is_device_fault(text + after if after[:1].strip() == "" else text + " " + after)


def test_a_huge_text_costs_no_time() -> None:
    assert not is_device_fault("CUDA error: " * 1_000_000)
    assert not is_out_of_memory("CUDA error: " * 1_000_000)
