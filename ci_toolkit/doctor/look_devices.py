"""Looks at devices: what a module finds, and whether what a platform would use is proven, on leases of ours."""

import os
import tempfile
from contextlib import ExitStack, closing

import msgspec

from ci_toolkit.devices.admission import Admission, Foreign
from ci_toolkit.devices.leases import default_folder, holder_of
from ci_toolkit.devices.probe import probe
from ci_toolkit.devices.registry import find
from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.documents import Record
from ci_toolkit.model.report import Device
from ci_toolkit.workers.access import SHARED, access_to, lease_id, named
from ci_toolkit.workers.environment import worker_environment


class Found(Record, frozen=True, kw_only=True):
    """What a module finds, or why nothing. ``present``: something of the driver is here all the same.

    ``holders`` are devices that are leased from the host's own folder, with who holds them.
    """

    devices: tuple[Device, ...] = ()
    reason: str = ""
    present: bool = False
    holders: dict[str, str] = {}


class Wish(Record, frozen=True, kw_only=True):
    """The devices that a platform would use, and how: as in ``Platform`` and ``LaneConf``."""

    module: str
    devices: tuple[Device, ...]
    interpreter: str
    flags: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    env: dict[str, str] = {}
    lease_folder: str = ""
    broker: tuple[str, ...] = ()
    min_free_bytes: int = 0
    foreign: str = "wait"
    patience_s: float


class Proof(Record, frozen=True, kw_only=True):
    """``proven`` devices ran a kernel. ``fault``: why one did not, or is sick; ``waits``: why some were not tried."""

    proven: tuple[Device, ...] = ()
    fault: str = ""
    waits: tuple[str, ...] = ()


def devices(module: str) -> Found:
    """What ``module`` finds on this machine."""
    kind = find(module)
    if kind is None:
        return Found(reason=f"this version has no module for device {module}")
    found, reason = kind.discover()
    if not found:
        present = getattr(kind, "is_present", None)
        return Found(reason=reason or f"no device {module} on this machine", present=bool(present and present()))
    folder = default_folder()
    held = {named(device): holder_of(folder, lease_id(device)) for device in found} if folder.is_dir() else {}
    return Found(devices=found, holders={name: str(holder) for name, holder in held.items() if holder})


def proof(wish: dict[str, object]) -> Proof:
    """Answers a ``Wish``, as it was written."""
    return prove(msgspec.convert(wish, Wish))


def prove(wish: Wish) -> Proof:
    """Leases the devices that are free, looks at their health and at who else uses them, and runs a kernel on each."""
    module = find(wish.module)
    assert module is not None
    if wish.broker:
        return Proof(waits=("a broker grants them, so they were not tried",))
    waits: list[str] = []
    mine = list(wish.devices)
    with ExitStack() as leases:
        if wish.module not in SHARED:
            policy = Admission(wish.min_free_bytes, Foreign(wish.foreign))
            access = access_to(module, wish.lease_folder, policy, "ci-toolkit doctor", wish.interpreter)
            mine = []
            for device in wish.devices:
                held = access.lease(device)
                if isinstance(held, str):
                    waits.append(held)
                    continue
                leases.enter_context(closing(held))
                try:
                    why = access.admit(device)
                except InfrastructureError as error:
                    return Proof(fault=error.message, waits=tuple(waits))
                waits += [why] if why else []
                mine += [] if why else [device]
        if not mine:
            return Proof(waits=tuple(waits))
        with tempfile.TemporaryDirectory(prefix="ct-") as temporary:
            env = worker_environment(os.environ, wish.allow, wish.env, temporary)
            shown = probe(wish.module, mine, wish.interpreter, wish.flags, env, wish.patience_s)
    return Proof(proven=() if shown.reason else tuple(mine), fault=shown.reason, waits=tuple(waits))
