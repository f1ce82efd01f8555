"""Joins what conf, the device's module and this host's leases say into how a lane's workers come by devices."""

import functools
from collections.abc import Sequence
from pathlib import Path

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.devices.admission import Admission, Foreign, admit
from ci_toolkit.devices.leases import Holder, default_folder, me, open_folder, try_lease
from ci_toolkit.devices.probe import judge_answer
from ci_toolkit.devices.registry import find
from ci_toolkit.model.report import Device
from ci_toolkit.workers.devices import Access, DevicePool, Lease

UNLEASED = frozenset({"cpu"})
"""Devices that workers share, as programs do."""


def pool_for(conf: LaneConf, devices: Sequence[Device]) -> DevicePool | None:
    """The devices that the lane's workers ask for; None where they need none of their own.

    Raises UsageError for a folder of leases that can not be used.
    """
    module = find(conf.lane.device.module)
    if module is None or conf.lane.device.module in UNLEASED:
        return None
    folder = open_folder(Path(conf.platform.lease_folder) if conf.platform.lease_folder else default_folder())
    purpose = f"lane {conf.lane.id}"

    def lease(device: Device) -> Lease | str:
        held = try_lease(folder, device.uuid or f"{device.module}-{device.index}", me(purpose))
        return f"{device.uuid or device.name} is held by {held}" if isinstance(held, Holder) else held

    usage = getattr(module, "usage", lambda device: None)
    platform = conf.platform
    policy = Admission(platform.min_free_bytes, Foreign(platform.foreign), platform.wait_s)

    def may_be_used(device: Device) -> str:
        return admit(device.uuid or device.name, usage(device), policy)

    judge = functools.partial(_judge, conf.platform.python or "python")
    return DevicePool(devices, Access(module.mask, lease, may_be_used, judge, policy.wait_s))


def _judge(program: str, answer: object, devices: Sequence[Device]) -> str:
    return judge_answer(answer, devices, program)
