"""Proves, in a subject's own interpreter, that the devices it would use are those that it was given."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from ci_toolkit.devices.command import OUTPUT_BYTES, Cut, Done, run_command
from ci_toolkit.devices.registry import find
from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.report import Device
from ci_toolkit.model.text import one_line

BOOTSTRAP = Path(__file__).parents[1] / "child" / "bootstrap.py"
SCHEMA = "probe/1"
PATIENCE_S = 120.0
"""A first import of torch from a slow disk and a first context on each of eight cards fit into this."""
CHARACTERS = 400

_SET_UP = frozenset({"module", "import", "build"})
"""Stages of a probe that come before a device is touched."""
_TOO_OLD = re.compile(r"driver on your system is too old|driver version is insufficient", re.IGNORECASE)
_NO_DRIVER = re.compile(r"Found no NVIDIA driver|no CUDA driver|libcuda\.so", re.IGNORECASE)
_NONE_SEEN = re.compile(r"No CUDA GPUs are available|no CUDA-capable device|invalid device ordinal", re.IGNORECASE)
_MEMORY = re.compile(r"out of memory", re.IGNORECASE)


class ProbedDevice(msgspec.Struct, frozen=True):
    """A device as the library under test sees it; ``arch`` as in ``Device``, UUIDs without a prefix.

    ``instance_uuid`` is what the driver calls it where the library says something else: a MIG device's own UUID.
    """

    name: str
    arch: str = ""
    uuid: str = ""
    instance_uuid: str = ""
    memory_bytes: int | None = None
    multiprocessors: int | None = None
    type: str = ""
    error: str = ""


class _Error(msgspec.Struct, frozen=True):
    stage: str
    type: str = ""
    text: str = ""


class _Answer(msgspec.Struct, frozen=True):
    device: str
    host: str
    python: str
    devices: tuple[ProbedDevice, ...]
    torch: str = ""
    runtime: str = ""
    error: _Error | None = None


@dataclass(frozen=True)
class Probe:
    """What a probe showed. ``reason`` is empty when the devices are proven, else one line for people.

    ``torch`` and ``runtime`` (the CUDA that torch was built for) are versions, empty when unknown.
    """

    module: str
    asked: tuple[Device, ...]
    devices: tuple[ProbedDevice, ...] = ()
    torch: str = ""
    runtime: str = ""
    python: str = ""
    host: str = ""
    reason: str = ""

    def require(self) -> "Probe":
        """Itself. Raises InfrastructureError when the devices are not proven."""
        if self.reason:
            raise InfrastructureError(f"the probe of {self.module} failed: {self.reason}")
        return self


def probe(
    module: str,
    devices: Sequence[Device],
    interpreter: str,
    flags: Iterable[str],
    env: Mapping[str, str],
    timeout_s: float = PATIENCE_S,
    stop: Callable[[], object] = bool,
) -> Probe:
    """Starts ``interpreter`` (empty: the host's own) with ``env`` and the mask of ``devices``; runs a kernel on each.

    It has ended, with its group, when this returns. ``stop()`` turning true ends it early. Trouble is in ``reason``;
    raises UsageError only for a device that nobody knows.
    """
    found = find(module)
    asked = tuple(devices)
    if found is None:
        return Probe(module, asked, reason=f"this version has no module for device {module}")
    program = interpreter or sys.executable
    argv = [program, *flags, str(BOOTSTRAP), "probe", module, str(len(asked))]
    try:
        done = run_command(argv, timeout_s, {**env, **found.mask(asked)}, stop)
    except OSError as error:
        return Probe(module, asked, reason=f"the interpreter {program} can not be started: {error.strerror}")
    except ValueError as error:  # a device that no mask can name
        return Probe(module, asked, reason=str(error))
    reason = failed(done, timeout_s)
    if reason:
        return Probe(module, asked, reason=reason)
    answer = answer_of(done.stdout)
    if answer is None:
        said = done.last_line()
        return Probe(module, asked, reason=f"{program} printed no answer" + (f": {one_line(said)}" if said else ""))
    shown = Probe(module, asked, answer.devices, answer.torch, answer.runtime, answer.python, answer.host)
    own = getattr(found, "judge", None)
    return replace(shown, reason=own(msgspec.to_builtins(answer), asked) if own else judged(answer, asked, program))


def failed(done: Done, timeout_s: float) -> str:
    """Why the process did not end well; empty when it did. What it printed before counts for nothing then."""
    said = one_line(done.last_line())
    last = f": {said}" if said else ""
    if done.exit_code is None:
        return "it could not be killed; the device's driver may be stuck"
    if done.cut is Cut.TIMEOUT:
        return f"it gave no answer in {timeout_s:g} s{last}"
    if done.cut is Cut.OUTPUT:
        return f"it printed more than {OUTPUT_BYTES >> 20} MiB"
    if done.cut is Cut.STOPPED:
        return "it was stopped"
    if done.exit_code < 0:
        return f"it was ended by {done.signal_name}{last}"
    return f"it ended with status {done.exit_code}{last}" if done.exit_code else ""


def judge_answer(document: object, asked: Sequence[Device], program: str) -> str:
    """Why what a worker says of its devices is no proof of those ``asked`` for; empty when it is one."""
    try:
        return judged(msgspec.convert(document, _Answer), asked, program)
    except msgspec.ValidationError as error:
        return f"its proof can not be read: {error}"


def blames_set_up(document: object) -> bool:
    """Whether an answer that proves nothing tells of what is installed for the subject, not of a device."""
    try:
        error = msgspec.convert(document, _Answer).error
    except msgspec.ValidationError:
        return False
    return error is not None and (error.stage in _SET_UP or bool(_TOO_OLD.search(error.text)))


def answer_of(output: str) -> _Answer | None:
    """The last line of ``output`` that is an answer; libraries print what they like before and after it."""
    for line in reversed(output.splitlines()):
        if SCHEMA in line:
            try:
                document: Any = json.loads(line)
                if document.get("schema") == SCHEMA:
                    return msgspec.convert(document, _Answer)
            except (ValueError, AttributeError, RecursionError, msgspec.ValidationError):
                continue
    return None


def judged(answer: _Answer, asked: Sequence[Device], program: str) -> str:
    """Why ``answer`` does not prove that the devices ``asked`` for, in this order, run kernels; empty when it does."""
    if answer.error:
        return _told(answer, answer.error, asked, program)
    seen = answer.devices
    if len(seen) != len(asked):
        names = ", ".join(device.uuid or device.name for device in seen)
        mig = "; a process can use one MIG device" if any(_is_mig(device) for device in asked) else ""
        return f"{len(asked)} devices were asked for, {len(seen)} are visible" + (f" ({names})" if names else "") + mig
    for place, (want, have) in enumerate(zip(asked, seen, strict=True)):
        named = have.instance_uuid or have.uuid
        if want.uuid and _bare(want.uuid) != _bare(named):
            return f"wrong device: number {place} is {named or 'without a UUID'}, asked for {want.uuid}"
        if want.arch and have.arch != want.arch:
            return f"wrong device: number {place} is {have.name} of {have.arch}, asked for {want.arch}"
        if have.error:
            where = want.uuid or have.name
            if _MEMORY.search(have.error):
                return f"out of memory on {where}: another process holds it ({_short(have.error)})"
            return f"no kernel runs on {where}: {_short(have.error)}"
    return ""


def _told(answer: _Answer, error: _Error, asked: Sequence[Device], program: str) -> str:
    text = _short(error.text)
    if error.stage == "module":
        return text
    if error.stage == "import":
        if error.type == "ModuleNotFoundError" and "'torch'" in error.text:
            return f"the interpreter {program} has no torch, and a device {answer.device} is probed with it"
        return f"torch can not be imported: {error.type}: {text}"
    if error.stage == "build":
        return f"torch {answer.torch} was built without CUDA" + (f", {text}" if text else "")
    if _TOO_OLD.search(error.text):
        driver = next((device.driver for device in asked if device.driver), "")
        mine = f"the driver {driver}" if driver else "the driver"
        return f"{mine} is too old for torch {answer.torch} (CUDA {answer.runtime}): {text}"
    if _NONE_SEEN.search(error.text):
        named = ", ".join(device.uuid for device in asked) or "no device"
        return f"CUDA sees no device, asked for {named}: {text}"
    if _NO_DRIVER.search(error.text):
        return f"torch {answer.torch} finds no NVIDIA driver: {text}"
    if _MEMORY.search(error.text):
        return f"out of memory: another process holds it ({text})"
    return f"CUDA can not be used: {error.type}: {text}"


def _is_mig(device: Device) -> bool:
    return device.uuid.startswith("MIG-")


def _bare(uuid: str) -> str:
    return uuid.lower().removeprefix("gpu-").removeprefix("mig-")


def _short(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return one_line(first)[:CHARACTERS]
