"""What makes a worker see the given cards, and no other."""

from collections.abc import Sequence

from ci_toolkit.devices.cuda.visible import BUS_ORDER, ORDER, VARIABLE
from ci_toolkit.model.report import Device


def mask(devices: Sequence[Device]) -> dict[str, str]:
    """The environment of a worker that gets ``devices``, in this order; none at all hides every card.

    Raises ValueError for a device without a UUID: an index names another card as soon as the order changes.
    """
    nameless = [device.index for device in devices if not device.uuid.startswith(("GPU-", "MIG-"))]
    if nameless:
        raise ValueError(f"device {nameless[0]} has no UUID to be named by")
    return {VARIABLE: ",".join(device.uuid for device in devices), ORDER: BUS_ORDER}
