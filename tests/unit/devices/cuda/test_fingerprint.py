"""A fingerprint holds what is known of the card and the machine, and nothing else."""

from pathlib import Path

import pytest

from ci_toolkit.devices.cuda import readings, smi
from ci_toolkit.devices.cuda.fingerprint import fingerprint, host_facts
from ci_toolkit.devices.probe import Probe, ProbedDevice
from ci_toolkit.model.report import Device

INPUTS = Path(__file__).parent / "inputs"
UUID = "GPU-8450de50-50fd-d44d-3afd-3f59a47cabaa"
DEVICE = Device(
    index=0, module="cuda", name="NVIDIA H200", arch="sm_90", uuid=UUID, driver="580.159.04", memory_bytes=143771 << 20
)
SEEN = Probe("cuda", (DEVICE,), (ProbedDevice("NVIDIA H200", multiprocessors=132),), torch="2.11.0", runtime="13.0")


@pytest.fixture
def read() -> readings.Readings:
    log = smi.log_of((INPUTS / "smi_q.txt").read_text(encoding="utf-8"))
    return readings.of_values(log["00000000:00:06.0"], None)


def test_the_recorded_card(read) -> None:
    found = fingerprint(DEVICE, read, SEEN, {"host_cpu": "AMD EPYC", "kernel": "6.8.0"})
    assert found.hard == {
        "vendor": "nvidia",
        "model": "NVIDIA H200",
        "pci_device": "0x233510DE",
        "pci_subsystem": "0x18BF10DE",
        "memory_bytes": str(143771 << 20),
        "compute_units": "132",
        "partition": "whole",
        "vbios": "96.00.A5.00.1A",
    }
    assert found.soft == {
        "driver": "580.159.04",
        "runtime": "13.0",
        "torch": "2.11.0",
        "clock_cap": "1980 MHz",
        "clock_application": "1980 MHz",
        "power_cap": "700.00 W",
        "ecc": "Enabled",
        "host_cpu": "AMD EPYC",
        "kernel": "6.8.0",
    }
    assert read.values["Serial Number"] not in str(found)


def test_what_is_unknown_is_absent() -> None:
    found = fingerprint(Device(index=0, module="cuda", name="x", uuid="MIG-1"), readings.Readings(), None, {})
    assert (found.hard, found.soft) == ({"vendor": "nvidia", "model": "x"}, {})


def test_a_mig_device_has_its_profile() -> None:
    part = Device(index=1, module="cuda", name="NVIDIA H200 MIG 1g.18gb", uuid="MIG-1", memory_bytes=7)
    found = fingerprint(part, readings.Readings(), None, {})
    assert (found.hard["model"], found.hard["partition"], found.hard["memory_bytes"]) == ("NVIDIA H200", "1g.18gb", "7")


def test_a_probe_that_failed_or_saw_another_device_tells_nothing(read) -> None:
    other = Probe("cuda", (), (), torch="2.11.0", runtime="13.0")
    failed = Probe("cuda", (DEVICE,), (), torch="2.11.0", reason="wrong device")
    for probe in (other, failed):
        found = fingerprint(DEVICE, read, probe, {})
        assert "compute_units" not in found.hard
        assert not {"torch", "runtime"} & set(found.soft)


def test_the_machine_itself() -> None:
    assert set(host_facts()) == {"host_cpu", "kernel"}
