"""The devices of a run: which are free, and what a worker is given with one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.report import Device


class Lease(Protocol):
    """A device that is held for as long as any copy of the descriptor is open."""

    def fileno(self) -> int:
        """The descriptor."""

    def close(self) -> None:
        """Closes this process's copy."""


@dataclass(frozen=True)
class Grant:
    """Devices for one worker: what shows them to it, and the leases that its keeper is to hold."""

    devices: tuple[Device, ...]
    mask: dict[str, str]
    leases: tuple[Lease, ...]


@dataclass(frozen=True)
class Access:
    """How devices are come by.

    ``mask`` gives the environment that shows a worker some devices only. ``lease`` takes one for the whole host, or
    says who holds it. ``admit`` says why a device is not used now, empty when it may be; it raises InfrastructureError
    for one that must not be used at all. ``judge`` says why a worker's own proof of its devices is none, empty when it
    is one. A worker waits for at most ``wait_s`` seconds. ``release`` is told of each device whose worker has ended,
    ``renew`` is called now and then.
    """

    mask: Callable[[Sequence[Device]], dict[str, str]]
    lease: Callable[[Device], Lease | str]
    admit: Callable[[Device], str] = lambda device: ""
    judge: Callable[[object, Sequence[Device]], str] = lambda answer, devices: ""
    wait_s: float = 600.0
    release: Callable[[Device], None] = lambda device: None
    renew: Callable[[], None] = lambda: None


NO_ACCESS = Access(mask=lambda devices: {}, lease=lambda device: "this run has no devices")


class DevicePool:
    """Gives each device to one worker at a time. ``reason`` says why the last wish was not met."""

    def __init__(self, devices: Sequence[Device], access: Access) -> None:
        self.devices = tuple(devices)
        self.access = access
        self.reason = ""
        self._busy: set[int] = set()

    def take(self, width: int) -> Grant | None:
        """``width`` devices, or none at all: a part of them is never held while waiting for the rest."""
        found: list[tuple[Device, Lease]] = []
        self.reason = f"all {len(self.devices)} devices are in use by this run"
        try:
            for device in self.devices:
                if len(found) == width:
                    break
                if device.index not in self._busy and (lease := self._try(device)) is not None:
                    found.append((device, lease))
        except BaseException:
            self._let_all_go(found)
            raise
        if len(found) < width:
            self._let_all_go(found)
            return None
        devices = tuple(device for device, _ in found)
        self._busy.update(device.index for device in devices)
        return Grant(devices, self.access.mask(devices), tuple(lease for _, lease in found))

    def _try(self, device: Device) -> Lease | None:
        held = self.access.lease(device)
        if isinstance(held, str):
            self.reason = held
            return None
        try:
            why = self.access.admit(device)
        except InfrastructureError:
            self._let_go(device, held)
            raise
        if why:
            self.reason = why
            self._let_go(device, held)
            return None
        return held

    def _let_all_go(self, found: Sequence[tuple[Device, Lease]]) -> None:
        for device, lease in found:
            self._let_go(device, lease)

    def _let_go(self, device: Device, lease: Lease) -> None:
        lease.close()
        self.access.release(device)

    def give_back(self, devices: Sequence[Device]) -> None:
        """Frees what a worker that has ended was given."""
        for device in devices:
            self._busy.discard(device.index)
            self.access.release(device)
