"""The CUDA devices that this process may use."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ci_toolkit.devices.cuda import driver
from ci_toolkit.devices.cuda.cards import Card, NoAnswerError
from ci_toolkit.devices.cuda.smi import PROGRAM
from ci_toolkit.devices.cuda.visible import visible
from ci_toolkit.model.report import Device


@dataclass(frozen=True)
class Survey:
    """The devices, and what a person should know of those that are not among them."""

    devices: tuple[Device, ...]
    notes: tuple[str, ...] = ()


def survey(env: Mapping[str, str] | None = None, cards: Callable[[], tuple[Card, ...]] = driver.cards) -> Survey:
    """What the driver has, as far as ``env`` (the process's own by default) lets CUDA see it. Opens no device."""
    try:
        found = cards()
    except NoAnswerError as refusal:
        return Survey((), (str(refusal),))
    if not found:
        return Survey((), ("the NVIDIA driver has no card",))
    return Survey(*visible(found, os.environ if env is None else env))


def discover() -> tuple[tuple[Device, ...], str]:
    """The devices that a lane may use, without opening one, and why there is none (empty when there is one)."""
    found = survey()
    return found.devices, "" if found.devices else "; ".join(found.notes) or "no CUDA device on this machine"


def notes() -> tuple[str, ...]:
    """What a person should know of the cards that are not among the devices, and of how the variable was read."""
    return survey().notes


def is_present() -> bool:
    """Whether something of the driver is here, so that finding no device is no matter of course."""
    return driver.LOADED.exists() or shutil.which(PROGRAM) is not None
