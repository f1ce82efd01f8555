"""Finds the module of a device by name: the toolkit's own, or one that a package registers."""

import difflib
import importlib
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from ci_toolkit.devices.protocol import DeviceModule
from ci_toolkit.errors import UsageError
from ci_toolkit.model.ids import matches
from ci_toolkit.model.plan import ExpectedDevice
from ci_toolkit.model.report import Device

GROUP = "ci_toolkit.devices"
"""The entry point group through which a package adds a device: its name -> a module that fits ``DeviceModule``."""

OWN = {"cpu": "ci_toolkit.devices.cpu", "cuda": "ci_toolkit.devices.cuda"}
PLANNED = ("ascend", "musa", "rocm", "xpu")
"""Names that conf may use already: a lane for them is left out, as on a machine without the card."""


def find(name: str) -> DeviceModule | None:
    """The module for ``name``, None for a planned one. Raises UsageError for a name that nobody knows."""
    if name in OWN:
        return cast(DeviceModule, importlib.import_module(OWN[name]))
    registered = _registered()
    if name in registered:
        return _load(registered[name])
    if name in PLANNED:
        return None
    known = sorted({*OWN, *registered, *PLANNED})
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"known devices: {', '.join(known)}"
    raise UsageError(f"there is no device {name!r}", hint=hint)


def names() -> tuple[str, ...]:
    """The devices that have a module, ours first."""
    return tuple(dict.fromkeys([*OWN, *sorted(_registered())]))


def available(expected: ExpectedDevice) -> tuple[tuple[Device, ...], str]:
    """The devices of this machine that a lane may use, or none and the reason. Raises UsageError as ``find`` does."""
    module = find(expected.module)
    if module is None:
        return (), f"this version has no module for device {expected.module}"
    return fitting(expected, *module.discover())


def fitting(expected: ExpectedDevice, devices: Sequence[Device], reason: str) -> tuple[tuple[Device, ...], str]:
    """Those of the ``devices`` of a machine that a lane may use, or none and the reason. Pure."""
    if not devices:
        return (), reason or f"no device {expected.module} on this machine"
    found = tuple(device for device in devices if matches(expected.arch, device.arch))
    if not found:
        seen = ", ".join(sorted({device.arch for device in devices}))
        return (), f"asks for {expected.module} of architecture {expected.arch}, this machine has {seen}"
    if len(found) < expected.count:
        return (), f"asks for {expected.count} devices {expected.module}, this machine has {len(found)}"
    return found, ""


def _registered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _load(point: EntryPoint) -> DeviceModule:
    try:
        module = point.load()
    except (ImportError, AttributeError) as error:
        raise UsageError(f"device {point.name!r} can not be loaded from {point.value}: {error}") from error
    missing = [name for name in ("discover", "mask") if not callable(getattr(module, name, None))]
    if missing:
        raise UsageError(f"device {point.name!r} of {point.value} has no {' and no '.join(missing)}")
    return cast(DeviceModule, module)
