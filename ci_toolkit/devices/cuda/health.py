"""Whether a card can be trusted, from its readings. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from ci_toolkit.devices.cuda.readings import Readings
from ci_toolkit.devices.cuda.xids import FATAL


class State(StrEnum):
    """``sick``: results can't be trusted; ``degraded``: slower than it should be, so times can't be trusted."""

    OK = "ok"
    DEGRADED = "degraded"
    SICK = "sick"


@dataclass(frozen=True)
class Health:
    """``notes`` are the reasons for the state, then, each starting with ``unknown``, what could not be read."""

    state: State
    notes: tuple[str, ...] = ()


SLOW = {
    "HW Slowdown": "the hardware slows it down",
    "HW Thermal Slowdown": "the hardware slows it down, for it is too hot",
    "SW Thermal Slowdown": "the driver slows it down, for it is too hot",
    "HW Power Brake Slowdown": "the power supply slows it down",
}
"""Slowdowns that make a card degraded; a power cap is ordinary under load."""


def health(readings: Readings) -> Health:
    """The health of a card at the time of its readings."""
    sick, slow = _sick(readings), _slow(readings)
    state = State.SICK if sick else State.DEGRADED if slow else State.OK
    return Health(state, (*sick, *slow, *_unknown(readings)))


def _sick(readings: Readings) -> list[str]:
    found = []
    if readings.lost:
        found.append(f"the driver has no contact to the card: {readings.lost}")
    if readings.ecc_uncorrected:
        found.append(f"{readings.ecc_uncorrected} uncorrected ECC errors since the driver was loaded")
    if readings.retirement_pending:
        found.append("memory pages wait for retirement: reset the card")
    if readings.remap_pending:
        found.append("memory waits for repair by row remapping: reset the card")
    if readings.remap_failed:
        found.append("memory can not be repaired: row remapping failed")
    if readings.recovery not in {"", "None"}:
        found.append(f"the driver asks for a recovery action: {readings.recovery}")
    for code in readings.xids or ():
        if code in FATAL:
            found.append(f"Xid {code} in the kernel's log: {FATAL[code]}")
    return found


def _slow(readings: Readings) -> list[str]:
    hot = "" if readings.temperature_c is None else f" ({readings.temperature_c} degrees Celsius)"
    active = readings.slowdowns or frozenset()
    if active & {"HW Thermal Slowdown", "HW Power Brake Slowdown"}:
        active = active - {"HW Slowdown"}  # it is on with each of the two
    return [text + (hot if "hot" in text else "") for name, text in SLOW.items() if name in active]


def _unknown(readings: Readings) -> list[str]:
    if readings.lost:
        return []
    absent = {
        "uncorrected ECC errors": readings.ecc_uncorrected is None,
        "pending memory repairs": readings.retirement_pending is None and readings.remap_pending is None,
        "reasons for low clocks": readings.slowdowns is None,
        "temperature": readings.temperature_c is None,
        "Xid messages (the kernel's log can not be read)": readings.xids is None,
    }
    return [f"unknown: {name}" for name, unread in absent.items() if unread]
