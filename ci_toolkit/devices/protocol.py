"""What the toolkit needs to know of a kind of accelerator."""

from collections.abc import Sequence
from typing import Protocol

from ci_toolkit.model.report import Device


class DeviceModule(Protocol):
    """One kind of accelerator; a module with these functions fits.

    It may also have ``usage(device) -> Usage | None`` (free memory, processes), ``notes() -> Iterable[str]`` (what else
    people should know), ``ailment(device, since) -> str`` (why it is sick and must not be used), ``judge(answer,
    devices) -> str`` (why what a worker's probe said is no proof of them), and ``is_present() -> bool`` (whether
    something of its driver is here, though no device is found).
    """

    def discover(self) -> tuple[tuple[Device, ...], str]:
        """The devices of this machine, without opening one, and why there is none (empty when there is one)."""
        ...

    def mask(self, devices: Sequence[Device]) -> dict[str, str]:
        """The environment that lets a worker see these devices only, in this order."""
        ...
