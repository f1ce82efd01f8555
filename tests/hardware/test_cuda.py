"""With a real NVIDIA card: what is discovered is what a kernel runs on, and nothing else passes for it."""

import os
import sys
from dataclasses import replace

import msgspec
import pytest

from ci_toolkit.devices.cuda import discover, mask, notes, nvml, smi, usage
from ci_toolkit.devices.cuda.cards import NoAnswerError
from ci_toolkit.devices.cuda.fingerprint import fingerprint, host_facts
from ci_toolkit.devices.cuda.health import State, health
from ci_toolkit.devices.cuda.readings import read
from ci_toolkit.devices.probe import probe
from ci_toolkit.model.report import Device

ENV = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@pytest.fixture(scope="module")
def devices() -> tuple[Device, ...]:
    found, reason = discover()
    if not found:
        pytest.skip(reason)
    reason = probe("cuda", (), "", (), ENV).reason
    if "no torch" in reason or "without CUDA" in reason:
        pytest.skip(reason)
    return found


def test_what_is_discovered_is_what_a_kernel_runs_on(devices) -> None:
    for device in devices:
        found = probe("cuda", [device], sys.executable, (), ENV)
        assert found.reason == ""
        (seen,) = found.devices
        assert (seen.arch, seen.error) == (device.arch, "")
        assert seen.multiprocessors
        assert found.torch
        assert found.runtime


def test_cards_together_come_in_the_order_of_their_mask(devices) -> None:
    cards = [device for device in devices if device.uuid.startswith("GPU-")]
    if len(cards) < 2:
        pytest.skip("one card is in any order")
    assert probe("cuda", cards[::-1], "", (), ENV).reason == ""


def test_a_card_that_is_not_there_is_refused(devices) -> None:
    other = msgspec.structs.replace(devices[0], uuid="GPU-00000000-0000-0000-0000-000000000001")
    found = probe("cuda", [other], "", (), ENV)
    assert found.reason.startswith("CUDA sees no device, asked for GPU-00000000-0000-0000-0000-000000000001: ")


def test_another_architecture_is_refused(devices) -> None:
    other = msgspec.structs.replace(devices[0], arch="sm_12")
    assert probe("cuda", [other], "", (), ENV).reason.endswith(f"of {devices[0].arch}, asked for sm_12")


def test_a_twin_is_refused(devices) -> None:
    assert probe("cuda", [devices[0], devices[0]], "", (), ENV).reason


def test_an_emptied_variable_hides_every_card(devices, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert discover() == ((), "CUDA_VISIBLE_DEVICES is empty")
    assert notes() == ("CUDA_VISIBLE_DEVICES is empty",)
    assert mask([])["CUDA_VISIBLE_DEVICES"] == ""
    assert "CUDA sees no device" in probe("cuda", [], "", (), ENV).reason


def test_nvml_and_nvidia_smi_tell_the_same(devices) -> None:
    try:
        told = nvml.cards(), smi.cards()
    except NoAnswerError as refusal:
        pytest.skip(str(refusal))
    sizes = [[card.memory_bytes for card in cards] for cards in told]
    assert [replace(card, memory_bytes=None, slices=()) for card in told[0]] == [
        replace(card, memory_bytes=None, slices=()) for card in told[1]
    ]
    assert all(abs(first - second) <= 1 << 20 for first, second in zip(*sizes, strict=True))


def test_the_card_is_well_and_has_a_fingerprint(devices) -> None:
    device = devices[0]
    readings = read(device.uuid)
    assert health(readings).state is not State.SICK, health(readings).notes
    found = fingerprint(device, readings, probe("cuda", [device], "", (), ENV), host_facts())
    assert {"vendor", "model", "memory_bytes", "compute_units", "partition"} <= set(found.hard)
    assert {"driver", "runtime", "torch", "kernel"} <= set(found.soft)


def test_free_memory(devices) -> None:
    found = usage(devices[0])
    assert found is not None
    assert 0 < found.free_bytes <= (devices[0].memory_bytes or 0)
