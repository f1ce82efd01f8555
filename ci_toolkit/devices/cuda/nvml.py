"""Asks the NVIDIA driver through NVML, with the package nvidia-ml-py (the extra ``cuda``)."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ci_toolkit.devices.cuda.cards import Card, NoAnswerError, Slice

MIG_ENABLED = 1


@contextmanager
def _library() -> Iterator[Any]:
    """NVML, open. Raises NoAnswerError where it is not, and for each error that it reports in the block."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError as error:
        raise NoAnswerError("nvidia-ml-py is not installed", absent=True) from error
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise NoAnswerError(f"NVML: {error}", isinstance(error, nvml.NVMLError_LibraryNotFound)) from error
    try:
        yield nvml
    except nvml.NVMLError as error:
        raise NoAnswerError(f"NVML: {error}") from error
    finally:
        with suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


def cards() -> tuple[Card, ...]:
    """All cards in NVML's order; one that answers with an error is there, with its fault. Raises NoAnswerError."""
    with _library() as nvml:
        driver = str(nvml.nvmlSystemGetDriverVersion())
        return tuple(_card(nvml, index, driver) for index in range(nvml.nvmlDeviceGetCount()))


def _card(nvml: Any, index: int, driver: str) -> Card:
    uuid = ""
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = nvml.nvmlDeviceGetUUID(handle)
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
        mig = (_optional(nvml, nvml.nvmlDeviceGetMigMode, handle) or (0,))[0] == MIG_ENABLED
        return Card(
            index=index,
            uuid=uuid,
            name=nvml.nvmlDeviceGetName(handle),
            bus_id=_text(nvml.nvmlDeviceGetPciInfo(handle).busId),
            driver=driver,
            memory_bytes=_total_memory(nvml, handle),
            capability=f"{major}.{minor}",
            mig=mig,
            slices=tuple(_slices(nvml, handle)) if mig else (),
        )
    except nvml.NVMLError as error:
        return Card(index=index, uuid=uuid, driver=driver, fault=f"NVML: {error}")


def _slices(nvml: Any, handle: Any) -> Iterator[Slice]:
    for place in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        part = _optional(nvml, nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, place)
        if part is not None:
            yield Slice(nvml.nvmlDeviceGetUUID(part), nvml.nvmlDeviceGetName(part), _total_memory(nvml, part))


def _total_memory(nvml: Any, handle: Any) -> int | None:
    memory = _optional(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    return None if memory is None else int(memory.total)


def memory_and_processes(uuid: str) -> tuple[int, list[tuple[int, int | None]]]:
    """Free bytes of the card or MIG device, and (pid, used bytes) of each process on it. Raises NoAnswerError."""
    with _library() as nvml:
        handle = nvml.nvmlDeviceGetHandleByUUID(uuid)
        free = int(nvml.nvmlDeviceGetMemoryInfo(handle).free)
        found: dict[int, int | None] = {}
        for ask in (nvml.nvmlDeviceGetComputeRunningProcesses, nvml.nvmlDeviceGetGraphicsRunningProcesses):
            for process in _optional(nvml, ask, handle) or ():
                used = process.usedGpuMemory
                found[int(process.pid)] = None if used is None else int(used)
        return free, sorted(found.items())


def _optional(nvml: Any, ask: Callable[..., Any], *arguments: Any) -> Any:
    """The answer, None for what this card or this slot does not have."""
    try:
        return ask(*arguments)
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_NotFound, nvml.NVMLError_FunctionNotFound):
        return None


def _text(value: bytes | str) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else value
