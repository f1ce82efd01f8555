"""What ``nvidia-smi`` prints is read by name; what it does not know is unknown, not zero."""

from pathlib import Path

import pytest

from ci_toolkit.devices.cuda import smi
from ci_toolkit.devices.cuda.cards import NoAnswerError

INPUTS = Path(__file__).parent / "inputs"
UUID = "GPU-8450de50-50fd-d44d-3afd-3f59a47cabaa"


def recorded(name: str) -> str:
    return (INPUTS / name).read_text(encoding="utf-8")


def test_a_recorded_card() -> None:
    (card,) = smi.cards_of(smi.rows(recorded("query.csv")))
    assert (card.index, card.uuid, card.name) == (0, UUID, "NVIDIA H200")
    assert (card.bus_id, card.driver, card.capability, card.arch) == ("00000000:00:06.0", "580.159.04", "9.0", "sm_90")
    assert card.memory_bytes == 143771 << 20
    assert (card.mig, card.slices, card.fault) == (False, (), "")


def test_a_recorded_log() -> None:
    log = smi.log_of(recorded("smi_q.txt"))
    assert list(log) == ["00000000:00:06.0"]
    values = log["00000000:00:06.0"]
    assert values["Driver Version"] == "580.159.04"
    assert values["GPU UUID"] == UUID
    assert values["ECC Errors/Volatile/DRAM Uncorrectable"] == "0"
    assert values["Clocks Event Reasons/HW Slowdown/HW Thermal Slowdown"] == "Not Active"
    assert values["Remapped Rows/Pending"] == "No"
    assert values["PCI/Device Id"] == "0x233510DE"


def test_mig_devices_belong_to_their_card() -> None:
    parts = smi.slices_of(recorded("mig_L.txt"))
    assert list(parts) == ["GPU-11111111-1111-1111-1111-111111111111"]
    assert [(part.uuid[:12], part.name) for (found,) in [parts.values()] for part in found] == [
        ("MIG-aaaaaaaa", "3g.20gb"),
        ("MIG-bbbbbbbb", "1c.3g.20gb"),
    ]
    assert smi.slices_of(recorded("smi_L.txt")) == {}


def test_processes_of_one_card() -> None:
    assert smi.processes_of(smi.rows(recorded("apps.csv")), UUID) == []
    assert smi.processes_of(smi.rows(recorded("busy_apps.csv")), UUID) == [(12, None), (4711, 520 << 20)]


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("143771 MiB", 143771), ("82.40 W", 82), ("-8 C", -8), ("[N/A]", None), ("N/A", None), ("", None)]
    + [("[Unknown Error]", None), ("0x01", None), ("12abc", None), (None, None)],
)
def test_numbers(text, number) -> None:
    assert smi.number(text) == number


@pytest.mark.parametrize("text", ["", "index, uuid\n0", "index, uuid\n[N/A], GPU-1", "no table here\na, b"])
def test_what_is_no_table_is_no_answer(text: str) -> None:
    with pytest.raises(NoAnswerError, match="nvidia-smi"):
        smi.cards_of(smi.rows(text))


def test_a_card_without_uuid_is_there_and_can_not_be_used() -> None:
    (card,) = smi.cards_of(smi.rows("index, uuid\n3, [Unknown Error]\n"))
    assert (card.index, card.fault) == (3, "nvidia-smi says [Unknown Error] for its UUID")
