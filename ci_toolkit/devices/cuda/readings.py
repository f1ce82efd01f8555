"""What ``nvidia-smi -q`` and the kernel's log tell of a card: gathered here, judged elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ci_toolkit.devices.cuda import smi, xids
from ci_toolkit.devices.cuda.cards import NoAnswerError

SLOWDOWNS = (
    "SW Power Cap",
    "HW Slowdown",
    "HW Thermal Slowdown",
    "HW Power Brake Slowdown",
    "SW Thermal Slowdown",
    "Sync Boost",
)
"""Reasons for a lower clock, as ``nvidia-smi -q`` names them."""


@dataclass(frozen=True)
class Readings:
    """One card at one time; None is unknown. ``values`` is its part of ``nvidia-smi -q`` as ``smi.log_of`` gives it."""

    lost: str = ""
    ecc_uncorrected: int | None = None
    retirement_pending: bool | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    recovery: str = ""
    slowdowns: frozenset[str] | None = None
    temperature_c: int | None = None
    xids: tuple[int, ...] | None = None
    values: Mapping[str, str] = field(default_factory=dict)


def read(uuid: str, since: float | None = None) -> Readings:
    """Asks the driver for the card (or the card of the MIG device) of that UUID; Xids only after ``since``, in seconds
    since the machine's start."""
    try:
        log = smi.log_of(smi.ask("-q", "-i", uuid))
    except NoAnswerError as refusal:
        return Readings(lost=lost(str(refusal)))
    if len(log) != 1:
        return Readings()
    bus_id, values = next(iter(log.items()))
    kernel = xids.read_xids()
    return of_values(values, None if kernel is None else xids.of_card(kernel, bus_id, since))


def of_values(values: Mapping[str, str], seen: tuple[int, ...] | None) -> Readings:
    """The readings in one card's part of ``nvidia-smi -q``. Names of older drivers are understood too."""
    fatal = next((text for text in values.values() if lost(text)), "")
    return Readings(
        lost=lost(fatal),
        ecc_uncorrected=_uncorrected(values),
        retirement_pending=_either(values, ("Retired Pages/Pending Page Blacklist", "Retired Pages/Pending")),
        remap_pending=_either(
            values, ("Remapped Rows/Pending", "ECC Errors/Channel Repair Pending", "ECC Errors/TPC Repair Pending")
        ),
        remap_failed=_either(values, ("Remapped Rows/Remapping Failure Occurred", "ECC Errors/Unrepairable Memory")),
        recovery=smi.known(values.get("GPU Recovery Action")),
        slowdowns=_slowdowns(values),
        temperature_c=smi.number(values.get("Temperature/GPU Current Temp")),
        xids=seen,
        values=dict(values),
    )


def lost(text: str) -> str:
    """``text`` when it says that the driver has no contact to the card any more, else empty."""
    words = ("GPU is lost", "GPU requires reset", "Unable to determine the device handle")
    return text.strip() if any(word in text for word in words) else ""


def _uncorrected(values: Mapping[str, str]) -> int | None:
    counts = [
        smi.number(value)
        for path, value in values.items()
        if path.startswith("ECC Errors/Volatile/") and ("Uncorrectable" in path or path.endswith("Double Bit/Total"))
    ]
    found = [count for count in counts if count is not None]
    return sum(found) if found else None


def _either(values: Mapping[str, str], paths: tuple[str, ...]) -> bool | None:
    said = {smi.known(values.get(path)) for path in paths} - {""}
    return None if not said else "Yes" in said


def _slowdowns(values: Mapping[str, str]) -> frozenset[str] | None:
    reasons = {
        path.rpartition("/")[2]: value
        for path, value in values.items()
        if path.startswith(("Clocks Event Reasons/", "Clocks Throttle Reasons/"))
    }
    return frozenset(name for name in SLOWDOWNS if reasons.get(name) == "Active") if reasons else None
