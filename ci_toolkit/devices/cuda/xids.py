"""Xid messages: what the NVIDIA driver writes into the kernel's log when a card has trouble. Parsing is pure.

Which of them mean a sick card is taken from NVIDIA's "Xid Errors" (docs.nvidia.com/deploy/xid-errors): those whose
action is to reset the card, to restart the machine or to run its diagnostics, not those that an application's own
mistake causes (13, 31, 43, 45 and others).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ci_toolkit.devices.command import run_command
from ci_toolkit.devices.cuda.cards import bus_key

FATAL = {
    46: "the card stopped processing",
    48: "double-bit ECC error",
    62: "halt of the internal micro-controller",
    63: "row remapping or page retirement, pending until the next reset",
    64: "row remapping or page retirement failed",
    74: "NVLink error",
    79: "the card has fallen off the bus",
    94: "contained ECC error",
    95: "uncontained ECC error",
    119: "timeout of the GPU system processor",
    120: "error of the GPU system processor",
    140: "unrecovered ECC error",
}
"""Xid -> what it says."""
PATIENCE_S = 5.0

_LINE = re.compile(r"(?:\[\s*(?P<seconds>\d+\.\d+)\]\s*)?NVRM: Xid \(PCI:(?P<bus>[0-9A-Fa-f:.]+)\): (?P<code>\d+)")


@dataclass(frozen=True)
class Xid:
    """One message: its number, the card's bus id, and seconds since the machine's start, None where it has none."""

    code: int
    bus_id: str
    seconds: float | None = None


def xids_of(log: str) -> tuple[Xid, ...]:
    """The Xid messages in a kernel log, in their order."""
    return tuple(
        Xid(int(match["code"]), match["bus"], float(match["seconds"]) if match["seconds"] else None)
        for match in map(_LINE.search, log.splitlines())
        if match
    )


def of_card(xids: Iterable[Xid], bus_id: str, since: float | None = None) -> tuple[int, ...]:
    """The numbers of one card's messages, each once, rising; only those after ``since`` where a time is known."""
    key = bus_key(bus_id)[:3]
    return tuple(
        sorted(
            {
                xid.code
                for xid in xids
                if key
                and bus_key(xid.bus_id)[:3] == key
                and (since is None or xid.seconds is None or xid.seconds >= since)
            }
        )
    )


def read_xids() -> tuple[Xid, ...] | None:
    """The Xid messages since the machine's start as far as the kernel keeps them; None when its log can't be read."""
    try:
        done = run_command(["dmesg"], PATIENCE_S)
    except OSError:
        return None
    return None if done.exit_code or done.cut else xids_of(done.stdout)
