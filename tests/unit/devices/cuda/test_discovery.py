"""The driver is asked through NVML, else through nvidia-smi; what it does not answer is a reason that is understood."""

import sys
from types import SimpleNamespace

import pytest

from ci_toolkit.devices import registry
from ci_toolkit.devices.cuda import discover, driver
from ci_toolkit.devices.cuda import smi as smi_module
from ci_toolkit.devices.cuda.discovery import survey
from ci_toolkit.model.plan import ExpectedDevice

from .conftest import H200, UUID, FakeNvml, fake_card


@pytest.fixture
def nvml(bare, monkeypatch):
    def install(*cards, failure: str = "") -> FakeNvml:
        fake = FakeNvml(dict(enumerate(cards)), failure)
        monkeypatch.setitem(sys.modules, "pynvml", fake)
        return fake

    return install


def test_a_machine_without_driver(bare) -> None:
    assert discover() == ((), "no NVIDIA driver on this machine")
    lane = ExpectedDevice(module="cuda", arch="sm_90", count=1)
    assert registry.available(lane) == ((), "no NVIDIA driver on this machine")


def test_a_driver_that_nobody_can_ask(bare, monkeypatch) -> None:
    bare.joinpath("version").write_text("NVRM version: 580")
    monkeypatch.setattr(driver, "LOADED", bare / "version")
    assert discover() == (
        (),
        "the NVIDIA driver is loaded, but can not be asked: nvidia-ml-py is not installed"
        " and nvidia-smi is not on the path",
    )


def test_the_recorded_card(smi) -> None:
    smi(H200)
    (device,), reason = discover()
    assert (device.uuid, device.arch, device.driver, reason) == (UUID, "sm_90", "580.159.04", "")
    assert registry.available(ExpectedDevice(module="cuda", arch="sm_90", count=1)) == ((device,), "")
    assert registry.available(ExpectedDevice(module="cuda", arch="sm_80", count=1)) == (
        (),
        "asks for cuda of architecture sm_80, this machine has sm_90",
    )


def test_an_emptied_variable_means_no_device(smi, monkeypatch) -> None:
    smi(H200)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert discover() == ((), "CUDA_VISIBLE_DEVICES is empty")


def test_mig_through_nvidia_smi(smi) -> None:
    smi("told('mig_L.txt' if '-L' in sys.argv else 'mig_query.csv')")
    assert [(device.uuid[:12], device.name) for device in survey().devices] == [
        ("GPU-22222222", "NVIDIA A100-SXM4-40GB"),
        ("MIG-aaaaaaaa", "NVIDIA A100-SXM4-40GB MIG 3g.20gb"),
        ("MIG-bbbbbbbb", "NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb"),
    ]


FAILED = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f'print("{FAILED}"); sys.exit(9)', f"nvidia-smi failed with status 9: {FAILED}"),
        ("print('No devices were found'); sys.exit(6)", "nvidia-smi failed with status 6: No devices were found"),
        ("pass", "nvidia-smi printed nothing"),
        ("print('a, b'); print('c')", "nvidia-smi printed what is no table: a b"),
        ("time.sleep(600)", "nvidia-smi gave no answer in 1 s; the driver may be stuck"),
    ],
)
def test_a_driver_that_does_not_answer(smi, monkeypatch, body: str, reason: str) -> None:
    smi(body)
    monkeypatch.setattr(smi_module, "PATIENCE_S", 1.0)
    if "sleep" not in body:
        monkeypatch.setattr(smi_module, "PATIENCE_S", 60.0)
    assert discover() == ((), f"the NVIDIA driver does not answer: {reason}")


def test_nvml_comes_first_and_is_closed(smi, nvml) -> None:
    smi("sys.exit('asked in vain')")
    fake = nvml(fake_card(0), fake_card(1, capability=(10, 3)))
    devices, reason = discover()
    assert [(device.index, device.uuid, device.arch) for device in devices] == [
        (0, "GPU-0", "sm_90"),
        (1, "GPU-1", "sm_103"),
    ]
    assert (devices[0].memory_bytes, devices[0].driver, reason, fake.open) == (150_000, "580.159.04", "", 0)


@pytest.mark.parametrize("failure", ["LibraryNotFound", "NoPermission"])
def test_where_nvml_fails_nvidia_smi_is_asked(smi, nvml, failure: str) -> None:
    smi(H200)
    nvml(failure=failure)
    assert [device.uuid for device in discover()[0]] == [UUID]


def test_where_both_fail_both_are_told(bare, nvml) -> None:
    nvml(failure="NoPermission")
    assert discover()[1] == "the NVIDIA driver does not answer: NVML: NVML Shared Library Not Found"
    nvml(failure="LibraryNotFound")
    assert discover()[1] == "no NVIDIA driver on this machine"


def test_a_lost_card_does_not_hide_the_others(nvml) -> None:
    nvml(fake_card(0), "GpuIsLost:GPU is lost", fake_card(2))
    found = survey()
    assert [device.index for device in found.devices] == [0, 2]
    assert found.notes == ("card 1 can not be used: NVML: GPU is lost",)


def test_only_lost_cards_is_a_reason(nvml) -> None:
    nvml("GpuIsLost:GPU is lost")
    assert discover() == ((), "card 0 can not be used: NVML: GPU is lost")
    nvml()
    assert discover() == ((), "the NVIDIA driver has no card")


def test_mig_through_nvml(nvml) -> None:
    part = SimpleNamespace(uuid="MIG-1", name="NVIDIA H200 MIG 1g.18gb", memory=SimpleNamespace(total=18_000))
    nvml(fake_card(0, mig=[1, 1], parts=[part]), fake_card(1, mig=[0, 0]))
    assert [(device.index, device.uuid, device.name, device.memory_bytes) for device in survey().devices] == [
        (1, "GPU-1", "NVIDIA H200", 150_000),
        (2, "MIG-1", "NVIDIA H200 MIG 1g.18gb", 18_000),
    ]
