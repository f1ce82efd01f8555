"""What the NVIDIA driver tells of a machine's cards, whoever asked it."""

from dataclasses import dataclass


class NoAnswerError(Exception):
    """The driver could not be asked; the text says why. ``absent`` when there is nothing to ask."""

    def __init__(self, why: str, absent: bool = False) -> None:
        super().__init__(why)
        self.absent = absent


@dataclass(frozen=True)
class Slice:
    """A MIG device: a part of a card that CUDA sees as a device of its own. ``name`` holds its profile."""

    uuid: str
    name: str
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Card:
    """One card. ``index`` is NVML's, ``capability`` the compute capability (``9.0``); empty or None is unknown.

    ``mig`` says whether the card is divided: then only its ``slices`` can run anything. ``fault`` says why a card that
    is there can not be used.
    """

    index: int
    uuid: str = ""
    name: str = ""
    bus_id: str = ""
    driver: str = ""
    memory_bytes: int | None = None
    capability: str = ""
    mig: bool = False
    slices: tuple[Slice, ...] = ()
    fault: str = ""

    @property
    def arch(self) -> str:
        """``sm_90`` for compute capability 9.0; empty when it is unknown."""
        return f"sm_{self.capability.replace('.', '')}" if self.capability else ""


def in_bus_order(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """The cards as CUDA numbers them with ``CUDA_DEVICE_ORDER=PCI_BUS_ID``."""
    return tuple(sorted(cards, key=lambda card: (bus_key(card.bus_id), card.index)))


def bus_key(bus_id: str) -> tuple[int, ...]:
    """Domain, bus, device and function of ``00000000:00:06.0``, whatever the width of the domain; () for other text."""
    head, _, function = bus_id.partition(".")
    try:
        return (*(int(part, 16) for part in head.split(":")), int(function or "0", 16)) if head else ()
    except ValueError:
        return ()
