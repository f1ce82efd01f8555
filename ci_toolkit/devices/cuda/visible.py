"""Which devices ``CUDA_VISIBLE_DEVICES`` leaves, read as CUDA reads it. Pure."""

from collections.abc import Mapping, Sequence

from ci_toolkit.devices.cuda.cards import Card, in_bus_order
from ci_toolkit.model.report import Device

VARIABLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"
BUS_ORDER = "PCI_BUS_ID"


def devices_of(cards: Sequence[Card]) -> tuple[Device, ...]:
    """What can run something: undivided cards with NVML's index, then MIG devices, numbered after the last card."""
    found = [_device(card.index, card, card.uuid, card.name, card.memory_bytes) for card in cards if _whole(card)]
    number = max((card.index for card in cards), default=-1)
    for card in cards:
        for part in () if card.fault else card.slices:
            number += 1
            found.append(_device(number, card, part.uuid, part.name, part.memory_bytes))
    return tuple(found)


def _whole(card: Card) -> bool:
    return not card.mig and not card.fault


def _device(index: int, card: Card, uuid: str, name: str, memory_bytes: int | None) -> Device:
    return Device(
        index=index,
        module="cuda",
        name=name,
        arch=card.arch,
        uuid=uuid,
        driver=card.driver,
        memory_bytes=memory_bytes,
        bus_id=card.bus_id,
    )


def visible(cards: tuple[Card, ...], env: Mapping[str, str]) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """The devices that ``env`` leaves, in its order, and notes on what it hides or how it was read.

    As in CUDA an entry that names nothing hides all that follow it. An index counts cards in the order of the PCI bus.
    """
    devices = devices_of(cards)
    notes = [f"card {card.index} can not be used: {card.fault}" for card in cards if card.fault]
    notes += [f"card {card.index} is in MIG mode and has no MIG device" for card in cards if _undivided(card)]
    if VARIABLE not in env:
        return devices, tuple(notes)
    value = env[VARIABLE].strip()
    if not value:
        return (), (*notes, f"{VARIABLE} is empty")
    found: list[Device] = []
    for entry in map(str.strip, value.split(",")):
        chosen, why = _named(entry, cards, devices)
        if chosen is None:
            notes.append(f"{VARIABLE}={value}: {why}")
            break
        if chosen in found:
            return (), (*notes, f"{VARIABLE}={value}: it names {chosen.uuid} twice, and CUDA then shows no device")
        found.append(chosen)
    if len(cards) > 1 and env.get(ORDER) != BUS_ORDER and any(part.strip().isdigit() for part in value.split(",")):
        notes.append(f"{VARIABLE}={value} is read in the order of the PCI bus, for {ORDER} is not {BUS_ORDER}")
    return tuple(found), tuple(notes)


def _undivided(card: Card) -> bool:
    return card.mig and not card.slices and not card.fault


def _named(entry: str, cards: tuple[Card, ...], devices: Sequence[Device]) -> tuple[Device | None, str]:
    """The one device that an entry names, or None and why."""
    if entry.startswith(("GPU-", "MIG-")):
        fitting = [device for device in devices if device.uuid.startswith(entry)]
        exact = [device for device in fitting if device.uuid == entry]
        if len(exact or fitting) == 1:
            return (exact or fitting)[0], ""
        if any(card.mig and card.uuid.startswith(entry) for card in cards):
            return None, f"{entry} is in MIG mode: name one of its MIG devices"
        return None, f"{entry} names {len(fitting)} devices of this machine"
    if not entry.isdecimal():
        return None, f"{entry!r} hides every card from there on"
    place, order = int(entry), in_bus_order(cards)
    if place >= len(order):
        return None, f"there is no card {place}, the driver has {len(order)}"
    card = order[place]
    if card.mig:
        return None, f"card {place} is in MIG mode: name one of its MIG devices"
    if card.fault:
        return None, f"card {place} can not be used"
    return next(device for device in devices if device.uuid == card.uuid), ""
