"""Asks the driver in the way that this machine has: NVML first, ``nvidia-smi`` where that can not answer."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ci_toolkit.devices.cuda import nvml, smi
from ci_toolkit.devices.cuda.cards import Card, NoAnswerError

T = TypeVar("T")

LOADED = Path("/proc/driver/nvidia/version")
"""Exists where the kernel has the driver."""


def cards() -> tuple[Card, ...]:
    """The cards of this machine. Raises NoAnswerError with a reason for people."""
    return first_answer(nvml.cards, smi.cards)


def memory_and_processes(uuid: str) -> tuple[int, list[tuple[int, int | None]]]:
    """Free bytes, and (pid, used bytes) of each process. Raises NoAnswerError."""
    return first_answer(lambda: nvml.memory_and_processes(uuid), lambda: smi.memory_and_processes(uuid))


def first_answer(*ways: Callable[[], T]) -> T:
    """The answer of the first way that has one. Raises NoAnswerError that tells of all of them."""
    refusals = []
    for way in ways:
        try:
            return way()
        except NoAnswerError as refusal:
            refusals.append(refusal)
    told = [str(refusal) for refusal in refusals if not refusal.absent]
    if told:
        raise NoAnswerError("the NVIDIA driver does not answer: " + "; ".join(told))
    if LOADED.exists():
        asked = " and ".join(map(str, refusals))
        raise NoAnswerError(f"the NVIDIA driver is loaded, but can not be asked: {asked}")
    raise NoAnswerError("no NVIDIA driver on this machine", absent=True)
