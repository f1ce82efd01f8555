"""A card's health, from recorded readings with one fault at a time."""

from pathlib import Path

import pytest

from ci_toolkit.devices.cuda import readings, xids
from ci_toolkit.devices.cuda.health import State, health
from ci_toolkit.devices.cuda.smi import log_of

INPUTS = Path(__file__).parent / "inputs"
BUS = "00000000:00:06.0"
LOG = (INPUTS / "smi_q.txt").read_text(encoding="utf-8")
DMESG = (INPUTS / "dmesg.txt").read_text(encoding="utf-8")


def of(log: str = LOG, seen: tuple[int, ...] | None = ()):
    return health(readings.of_values(log_of(log)[BUS], seen))


def with_fault(line: str, value: str) -> str:
    """The recorded log with the value of the first line of that name changed."""
    lines = LOG.splitlines()
    at = next(number for number, text in enumerate(lines) if text.partition(" : ")[0].strip() == line)
    lines[at] = lines[at].partition(" : ")[0] + " : " + value
    return "\n".join(lines)


def test_the_recorded_card_is_well() -> None:
    assert of() == health(readings.of_values(log_of(LOG)[BUS], ()))
    assert (of().state, of().notes) == (State.OK, ())


@pytest.mark.parametrize(
    ("line", "value", "note"),
    [
        ("DRAM Uncorrectable", "2", "2 uncorrected ECC errors since the driver was loaded"),
        ("SRAM Uncorrectable SEC-DED", "1", "1 uncorrected ECC errors since the driver was loaded"),
        ("Pending Page Blacklist", "Yes", "memory pages wait for retirement: reset the card"),
        ("Remapping Failure Occurred", "Yes", "memory can not be repaired: row remapping failed"),
        ("Unrepairable Memory", "Yes", "memory can not be repaired: row remapping failed"),
        ("Channel Repair Pending", "Yes", "memory waits for repair by row remapping: reset the card"),
        ("GPU Recovery Action", "Reset", "the driver asks for a recovery action: Reset"),
        ("Persistence Mode", "[GPU requires reset]", "the driver has no contact to the card: [GPU requires reset]"),
    ],
)
def test_what_makes_a_card_sick(line: str, value: str, note: str) -> None:
    found = of(with_fault(line, value))
    assert (found.state, found.notes) == (State.SICK, (note,))


def test_correctable_errors_and_those_of_the_past_are_no_sickness() -> None:
    assert of(with_fault("DRAM Correctable", "7")).state is State.OK
    past = LOG.replace("Aggregate\n", "Aggregate\n            DRAM Uncorrectable Old : 9\n", 1)
    assert of(past).state is State.OK


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("HW Slowdown", "the hardware slows it down"),
        ("HW Thermal Slowdown", "the hardware slows it down, for it is too hot (32 degrees Celsius)"),
        ("SW Thermal Slowdown", "the driver slows it down, for it is too hot (32 degrees Celsius)"),
        ("HW Power Brake Slowdown", "the power supply slows it down"),
    ],
)
def test_what_makes_a_card_slow(line: str, note: str) -> None:
    found = of(with_fault(line, "Active"))
    assert (found.state, found.notes) == (State.DEGRADED, (note,))


@pytest.mark.parametrize("line", ["SW Power Cap", "Idle", "Applications Clocks Setting"])
def test_ordinary_reasons_for_a_low_clock(line: str) -> None:
    assert of(with_fault(line, "Active")).state is State.OK


def test_xids_of_the_card_since_a_time() -> None:
    seen = xids.xids_of(DMESG)
    assert [xid.code for xid in seen] == [31, 43, 79, 63, 63]
    assert xids.of_card(seen, BUS) == (31, 43, 63)
    assert xids.of_card(seen, BUS, since=3010.0) == ()
    assert xids.of_card(seen, "00000000:C1:00.0") == (79,)
    assert xids.of_card(seen, "") == ()


def test_a_fatal_xid_is_sick_and_one_of_an_application_is_not() -> None:
    assert of(seen=(31, 43)).state is State.OK
    found = of(seen=(31, 79))
    assert (found.state, found.notes) == (State.SICK, ("Xid 79 in the kernel's log: the card has fallen off the bus",))
    for code in (48, 63, 64, 74, 79, 94, 95):
        assert of(seen=(code,)).state is State.SICK


def test_what_can_not_be_read_is_unknown() -> None:
    assert of(seen=None).notes == ("unknown: Xid messages (the kernel's log can not be read)",)
    nothing = health(readings.Readings())
    assert nothing.state is State.OK
    assert [note.partition(" (")[0] for note in nothing.notes] == [
        "unknown: uncorrected ECC errors",
        "unknown: pending memory repairs",
        "unknown: reasons for low clocks",
        "unknown: temperature",
        "unknown: Xid messages",
    ]


def test_a_card_is_read_through_nvidia_smi(smi) -> None:
    smi("told('smi_q.txt') if sys.argv[1:] == ['-q', '-i', 'GPU-1'] else sys.exit('asked ' + asked)")
    found = readings.read("GPU-1")
    assert (found.ecc_uncorrected, found.remap_pending, found.temperature_c, found.xids) == (0, False, 32, None)
    smi("print('Unable to determine the device handle for GPU0: 0000:C1:00.0: GPU is lost.'); sys.exit(15)")
    assert health(readings.read("GPU-1")).state is State.SICK
