"""Joins a device's module, this host's leases and an admission policy into how devices are come by."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ci_toolkit.devices.admission import Admission, admit
from ci_toolkit.devices.leases import Holder, default_folder, me, open_folder, try_lease
from ci_toolkit.devices.probe import judge_answer
from ci_toolkit.devices.protocol import DeviceModule
from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.report import Device
from ci_toolkit.workers.broker import Broker
from ci_toolkit.workers.devices import Access, Lease

HEALTH_S = 30.0
"""How long a look at a device's health counts."""
SHARED = frozenset({"cpu"})
"""Devices that workers share, as programs do: nobody asks for them."""


def access_to(
    module: DeviceModule,
    folder: str,
    policy: Admission,
    purpose: str,
    program: str = "",
    broker: Sequence[str] = (),
) -> Access:
    """How devices of ``module`` are come by. ``folder`` holds the leases, empty for the system's own.

    With ``broker``, a site's command grants them instead.

    ``purpose`` is what others are told of us, ``program`` the interpreter whose proofs are judged. Raises UsageError
    for a folder that can not be used.
    """
    site = Broker(broker, purpose) if broker else None
    leases = None if broker else open_folder(Path(folder) if folder else default_folder())

    def lease(device: Device) -> Lease | str:
        if leases is None:
            assert site is not None
            return site.lease(device)
        held = try_lease(leases, lease_id(device), me(purpose))
        return f"{named(device)} is held by {held}" if isinstance(held, Holder) else held

    health = _Health(module)

    def may_be_used(device: Device) -> str:
        health.require(device)
        usage = getattr(module, "usage", None)
        return admit(named(device), usage(device) if usage else None, policy)

    judge = getattr(module, "judge", None) or _judge(program)
    if site is None:
        return Access(module.mask, lease, may_be_used, judge, policy.wait_s)
    return Access(module.mask, lease, may_be_used, judge, policy.wait_s, site.release, site.renew)


class _Health:
    """Looks at the health of devices, not more often than they change."""

    def __init__(self, module: DeviceModule) -> None:
        self._ailment = getattr(module, "ailment", None)
        self._since = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else 0.0
        self._looked: dict[int, float] = {}

    def require(self, device: Device) -> None:
        """Raises InfrastructureError for a device that is sick."""
        now = time.monotonic()
        if self._ailment is None or now - self._looked.get(device.index, -HEALTH_S) < HEALTH_S:
            return
        why = self._ailment(device, self._since)
        if why:
            raise InfrastructureError(f"{named(device)} is sick: {why}")
        self._looked[device.index] = now


def lease_id(device: Device) -> str:
    """What a device is leased by: its hardware id, or its place where it has none."""
    return device.uuid or f"{device.module}-{device.index}"


def named(device: Device) -> str:
    """A device in words."""
    return device.uuid or f"{device.module} {device.index}"


def _judge(program: str) -> Callable[[object, Sequence[Device]], str]:
    return lambda answer, devices: judge_answer(answer, devices, program or "python")
