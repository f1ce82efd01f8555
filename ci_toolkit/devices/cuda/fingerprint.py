"""What a stored measurement of a card may be compared with. Pure."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass

from ci_toolkit.devices import cpu
from ci_toolkit.devices.cuda import smi
from ci_toolkit.devices.cuda.readings import Readings
from ci_toolkit.devices.probe import Probe
from ci_toolkit.model.report import Device


@dataclass(frozen=True)
class Fingerprint:
    """Name -> value; what is unknown is absent.

    ``hard``: a stored baseline needs all of it equal. ``soft``: a policy names those that must be equal. The card's
    serial number and its clock of the moment are in neither.
    """

    hard: Mapping[str, str]
    soft: Mapping[str, str]


def host_facts() -> dict[str, str]:
    """The soft keys of the machine itself: its processor's model and its kernel."""
    (processor,), _ = cpu.discover()
    return _known({"host_cpu": processor.name, "kernel": platform.release()})


def fingerprint(device: Device, readings: Readings, probe: Probe | None, host: Mapping[str, str]) -> Fingerprint:
    """The fingerprint of ``device``. A probe that failed, or did not see the device, tells nothing."""
    values = readings.values
    model, _, profile = device.name.partition(" MIG ")
    seen = None
    if probe is not None and not probe.reason and device in probe.asked:
        seen = probe.devices[probe.asked.index(device)]
    hard = {
        "vendor": "nvidia",
        "model": model,
        "pci_device": smi.known(values.get("PCI/Device Id")),
        "pci_subsystem": smi.known(values.get("PCI/Sub System Id")),
        "memory_bytes": "" if device.memory_bytes is None else str(device.memory_bytes),
        "compute_units": "" if seen is None or seen.multiprocessors is None else str(seen.multiprocessors),
        "partition": profile or ("" if device.uuid.startswith("MIG-") else "whole"),
        "vbios": smi.known(values.get("VBIOS Version")),
    }
    soft = {
        "driver": device.driver or smi.known(values.get("Driver Version")),
        "runtime": probe.runtime if probe and seen else "",
        "torch": probe.torch if probe and seen else "",
        "clock_cap": smi.known(values.get("Max Clocks/SM")),
        "clock_application": smi.known(values.get("Applications Clocks/Graphics")),
        "power_cap": smi.known(values.get("GPU Power Readings/Current Power Limit")),
        "ecc": smi.known(values.get("ECC Mode/Current")),
        **host,
    }
    return Fingerprint(_known(hard), _known(soft))


def _known(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
