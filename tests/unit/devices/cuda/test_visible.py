"""What CUDA_VISIBLE_DEVICES leaves, and what a mask makes of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.devices.cuda import smi
from ci_toolkit.devices.cuda.cards import Card, Slice, bus_key
from ci_toolkit.devices.cuda.masking import mask
from ci_toolkit.devices.cuda.visible import devices_of, visible
from ci_toolkit.model.report import Device

INPUTS = Path(__file__).parent / "inputs"
ORDER = smi.cards_of(smi.rows((INPUTS / "order_query.csv").read_text()))
"""Index 0, 1, 2; on the bus: 1, 2, 0."""
PCI = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
MIG = (
    Card(index=0, uuid="GPU-0", mig=True, capability="8.0", slices=(Slice("MIG-a", "a", 5), Slice("MIG-b", "b"))),
    Card(index=1, uuid="GPU-1", capability="8.0"),
)


def indices(cards, **env) -> list[int]:
    return [device.index for device in visible(cards, env)[0]]


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("0", [1]),
        ("2,0", [0, 1]),
        (" 1 , 0 ", [2, 1]),
        ("GPU-aaaaaaaa-0000-0000-0000-000000000000", [0]),
        ("GPU-bbbbc,GPU-a", [2, 0]),
        ("0,7,1", [1]),
        ("0,-1,1", [1]),
        ("-1", []),
        ("NoDevFiles", []),
        ("GPU-bbbb", []),
        ("0,GPU-bbbbbbbb", []),
    ],
)
def test_entries_are_read_as_cuda_reads_them_in_the_order_of_the_bus(value: str, left: list[int]) -> None:
    assert indices(ORDER, CUDA_VISIBLE_DEVICES=value, **PCI) == left


@pytest.mark.parametrize(
    ("value", "note"),
    [
        ("", "CUDA_VISIBLE_DEVICES is empty"),
        ("  ", "CUDA_VISIBLE_DEVICES is empty"),
        ("9", "CUDA_VISIBLE_DEVICES=9: there is no card 9, the driver has 3"),
        ("-1", "CUDA_VISIBLE_DEVICES=-1: '-1' hides every card from there on"),
        ("GPU-bbbb", "CUDA_VISIBLE_DEVICES=GPU-bbbb: GPU-bbbb names 2 devices of this machine"),
        ("GPU-x", "CUDA_VISIBLE_DEVICES=GPU-x: GPU-x names 0 devices of this machine"),
        ("0,0", f"CUDA_VISIBLE_DEVICES=0,0: it names {ORDER[1].uuid} twice, and CUDA then shows no device"),
    ],
)
def test_what_hides_devices_is_said(value: str, note: str) -> None:
    devices, notes = visible(ORDER, {"CUDA_VISIBLE_DEVICES": value, **PCI})
    assert (devices, notes) == ((), (note,))


def test_indices_of_another_order_are_read_as_those_of_the_bus_and_said() -> None:
    devices, notes = visible(ORDER, {"CUDA_VISIBLE_DEVICES": "0"})
    assert [device.name for device in devices] == ["NVIDIA T400"]
    assert notes == (
        "CUDA_VISIBLE_DEVICES=0 is read in the order of the PCI bus, for CUDA_DEVICE_ORDER is not PCI_BUS_ID",
    )
    assert visible(ORDER, {"CUDA_VISIBLE_DEVICES": "GPU-a"})[1] == ()


def test_a_divided_card_is_its_mig_devices() -> None:
    assert [(device.index, device.uuid, device.arch) for device in devices_of(MIG)] == [
        (1, "GPU-1", "sm_80"),
        (2, "MIG-a", "sm_80"),
        (3, "MIG-b", "sm_80"),
    ]
    assert indices(MIG, CUDA_VISIBLE_DEVICES="MIG-b,1", **PCI) == [3, 1]
    for value in ("0", "GPU-0"):
        devices, notes = visible(MIG, {"CUDA_VISIBLE_DEVICES": value, **PCI})
        assert devices == ()
        assert "is in MIG mode: name one of its MIG devices" in notes[0]


def test_a_card_without_slices_or_with_a_fault_is_none_and_is_told_of() -> None:
    cards = (Card(index=0, uuid="GPU-0", mig=True), Card(index=1, fault="NVML: GPU is lost"), Card(2, "GPU-2"))
    devices, notes = visible(cards, {})
    assert [device.uuid for device in devices] == ["GPU-2"]
    assert notes == ("card 1 can not be used: NVML: GPU is lost", "card 0 is in MIG mode and has no MIG device")


def test_bus_ids_compare_whatever_the_width_of_their_domain() -> None:
    assert bus_key("0000:C1:00.0") == bus_key("00000000:c1:00.0") == (0, 0xC1, 0, 0)
    assert bus_key("0000:c1:00") == (0, 0xC1, 0, 0)
    assert bus_key("") == bus_key("nonsense:x") == ()


def test_a_mask_names_cards_by_uuid_and_fixes_the_order() -> None:
    devices = devices_of(ORDER)
    masked = mask([devices[2], devices[0]])
    assert masked["CUDA_VISIBLE_DEVICES"] == f"{ORDER[2].uuid},{ORDER[0].uuid}"
    assert masked["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert mask([])["CUDA_VISIBLE_DEVICES"] == ""


def test_a_device_without_uuid_is_not_masked_by_its_index() -> None:
    with pytest.raises(ValueError, match="device 4 has no UUID"):
        mask([Device(index=4, module="cuda", name="x")])


@given(st.data())
def test_what_a_mask_names_is_what_is_visible(data: st.DataObject) -> None:
    buses = data.draw(st.lists(st.integers(0, 255), min_size=1, max_size=8, unique=True))
    divided = data.draw(st.sets(st.sampled_from(range(len(buses)))))
    cards = tuple(
        Card(
            index=index,
            uuid=f"GPU-{index}",
            bus_id=f"00000000:{bus:02X}:00.0",
            mig=index in divided,
            slices=(Slice(f"MIG-{index}", "half"),) if index in divided else (),
        )
        for index, bus in enumerate(buses)
    )
    asked = tuple(data.draw(st.permutations(devices_of(cards))))[: data.draw(st.integers(0, len(cards)))]
    assert visible(cards, mask(asked))[0] == asked
