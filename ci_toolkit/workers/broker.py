"""Devices from a site's own broker: a command that grants, renews and releases them.

``CMD request --module M --count 1 --device ID --ttl SECONDS --holder TEXT`` prints ``{"id": ..., "devices": [ID]}``, or
no device when it is not free; ``CMD renew ID --ttl SECONDS`` and ``CMD release ID`` print nothing.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from ci_toolkit.devices.command import Cut, run_command
from ci_toolkit.devices.leases import Lease
from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.report import Device
from ci_toolkit.model.text import one_line

ANSWER_S = 30.0
TTL_S = 600.0
RENEW_AFTER = 1 / 3
"""A grant is renewed after this share of its time: two renewals may fail before it ends."""


class Granted(msgspec.Struct, frozen=True):
    """What the broker said."""

    id: str = ""
    devices: tuple[str, ...] = ()
    ttl_s: Annotated[float, msgspec.Meta(gt=0)] = TTL_S


@dataclass
class _Held:
    granted: Granted
    renewed: float


class Broker:
    """A site's broker command. All its faults are InfrastructureError."""

    def __init__(self, command: Sequence[str], holder: str) -> None:
        self._command = tuple(command)
        self._holder = holder
        self._held: dict[str, _Held] = {}
        self._trouble = ""

    def lease(self, device: Device) -> Lease | str:
        """The lease of ``device``, or that the broker has it not now.

        What its descriptor leads to holds nothing: the broker's time does, until it is told of the release.
        """
        wish = ["--module", device.module, "--count", "1", "--device", device.uuid]
        said = self._ask("request", *wish, "--ttl", f"{TTL_S:g}", "--holder", self._holder)
        try:
            granted = msgspec.json.decode(said, type=Granted)
        except msgspec.DecodeError as error:
            raise InfrastructureError(f"the broker {self._command[0]} answered no grant: {error}") from error
        if not granted.devices:
            return f"{device.uuid} is not granted by the broker now{self._trouble}"
        if granted.devices != (device.uuid,) or not granted.id:
            self._give_back(granted.id)
            raise InfrastructureError(
                f"the broker {self._command[0]} granted {', '.join(granted.devices)}, asked was {device.uuid}"
            )
        self._held[device.uuid] = _Held(granted, time.monotonic())
        return Lease(device.uuid, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def renew(self) -> None:
        """Renews what would end soon; call it often. Raises InfrastructureError once a grant has really ended."""
        for held in self._held.values():
            age = time.monotonic() - held.renewed
            if age > held.granted.ttl_s * RENEW_AFTER:
                try:
                    self._ask("renew", held.granted.id, "--ttl", f"{TTL_S:g}")
                except InfrastructureError:
                    if age > held.granted.ttl_s:
                        raise
                else:
                    held.renewed = time.monotonic()

    def release(self, device: Device) -> None:
        """Gives a device back. Where that fails, the broker's time ends the grant; the next refusal tells of it."""
        held = self._held.pop(device.uuid, None)
        if held is not None:
            self._give_back(held.granted.id)

    def _give_back(self, identity: str) -> None:
        try:
            if identity:
                self._ask("release", identity)
        except InfrastructureError as error:
            self._trouble = f" ({error})"

    def _ask(self, *arguments: str) -> str:
        name = self._command[0]
        try:
            done = run_command([*self._command, *arguments], ANSWER_S)
        except OSError as error:
            raise InfrastructureError(f"the broker {name} can not be started: {error.strerror}") from error
        if done.cut is Cut.TIMEOUT:
            raise InfrastructureError(f"the broker {name} gave no answer in {ANSWER_S:g} s")
        if done.cut or done.exit_code:
            why = "it printed too much" if done.cut else one_line(done.last_line()) or "it said nothing"
            raise InfrastructureError(f"the broker's {arguments[0]} ended with {done.exit_code}: {why}")
        return done.stdout
