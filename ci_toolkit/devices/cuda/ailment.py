"""What keeps a card from being used at all."""

from ci_toolkit.devices.cuda.health import State, health
from ci_toolkit.devices.cuda.readings import read
from ci_toolkit.model.report import Device


def ailment(device: Device, since: float) -> str:
    """Why ``device`` is sick, by its readings now and by Xids after ``since`` (seconds since the machine's start)."""
    found = health(read(device.uuid, since))
    return "; ".join(found.notes) if found.state is State.SICK else ""
