"""What was seen of the devices and interpreters that platforms ask for, in checks. Pure."""

from dataclasses import dataclass

import msgspec

from ci_toolkit.devices.registry import fitting
from ci_toolkit.doctor.bounded import Seen
from ci_toolkit.doctor.look_devices import Found, Proof
from ci_toolkit.doctor.platforms import Asked
from ci_toolkit.model.profile import Check, Interpreter, Result
from ci_toolkit.model.report import Device
from ci_toolkit.suites.kind import Subject
from ci_toolkit.suites.subject import normalised
from ci_toolkit.workers.access import named

OLDEST_PYTHON = (3, 8)
OLDEST_PYTEST = 7
SHOWN = 3


@dataclass(frozen=True)
class Place:
    """Where a platform belongs: it may use ``devices`` here, or is ``elsewhere`` for a reason, or has a ``fault``."""

    devices: tuple[Device, ...] = ()
    elsewhere: str = ""
    fault: Check | None = None


def device_check(module: str, seen: Seen[Found]) -> Check:
    """What a module finds. That there is nothing is no fault, unless a driver is here."""
    name, found = f"device {module}", seen.answer
    if found is None:
        return Check(name=name, result=Result.WARNING, found=seen.fault, advice="look at its driver")
    if not found.devices:
        result = Result.WARNING if found.present else Result.OK
        advice = "a driver is here: look why it shows no device" if found.present else ""
        return Check(name=name, result=result, found=f"none: {found.reason}", advice=advice)
    held = [f"{device} is held by {holder}" for device, holder in list(found.holders.items())[:SHOWN]]
    return Check(name=name, found="; ".join([_listed(found.devices), *held]))


def placed(asked: Asked, seen: Seen[Found]) -> Place:
    """Whether a platform belongs here. One of another runner is no fault, unless it was asked for by name.

    Too few of its very devices are a fault all the same: one of them may be gone.
    """
    name, wanted = f"{asked.platform.name}: devices", asked.device
    if seen.answer is None:
        result = Result.FAILED if asked.named else Result.WARNING
        return Place(fault=Check(name=name, result=result, found=seen.fault, advice="look at the driver"))
    found = seen.answer
    any_number = msgspec.structs.replace(wanted, count=0)
    _, absent = fitting(any_number, found.devices, found.reason)
    if absent and not asked.named and not found.present:
        return Place(elsewhere=absent)
    devices, reason = fitting(wanted, found.devices, found.reason)
    if not reason:
        return Place(devices=devices[: wanted.count or None])
    if absent and found.devices and not asked.named:  # cards of another kind: another runner's platform
        return Place(elsewhere=absent)
    advice = "look for the card that is gone" if found.devices else "look at the driver"
    result = Result.FAILED if asked.named else Result.WARNING
    return Place(fault=Check(name=name, result=result, found=reason, advice=advice))


def interpreter_check(asked: Asked, seen: Seen[Subject]) -> tuple[Check, Interpreter | None]:
    """A platform's interpreter, and what its suites need of it."""
    name, subject = f"{asked.platform.name}: interpreter", seen.answer
    if subject is None:
        advice = "run the set-up that makes it, or mend `python` in platforms.yml"
        return Check(name=name, result=Result.FAILED, found=seen.fault, advice=advice), None
    versions = {wanted: subject.packages.get(wanted, "") for wanted in ("pytest", "torch")}
    shown = Interpreter(executable=subject.executable, python=subject.python, **versions)
    has = [f"{package} {version}" if version else f"no {package}" for package, version in versions.items()]
    told = f"Python {subject.python}, {', '.join(has)}, {subject.executable}"
    if _numbers(subject.python)[:2] < OLDEST_PYTHON:
        advice = "name one of Python 3.8 or newer"
        return Check(name=name, result=Result.FAILED, found=told, advice=advice), shown
    if "pytest" in asked.kinds and _numbers(versions["pytest"] or "0")[0] < OLDEST_PYTEST:
        advice = f"install pytest {OLDEST_PYTEST} or newer there"
        return Check(name=name, result=Result.FAILED, found=told, advice=advice), shown
    missing = sorted(wanted for wanted in map(normalised, asked.subject) if wanted not in subject.packages)
    if missing:
        advice = f"install the subject there: {', '.join(missing)}"
        return Check(name=name, result=Result.WARNING, found=told, advice=advice), shown
    return Check(name=name, found=told), shown


def proof_check(asked: Asked, seen: Seen[Proof]) -> Check:
    """Whether a platform's devices are well and run a kernel in its interpreter."""
    name, proof = f"{asked.platform.name}: devices", seen.answer
    if proof is None or proof.fault:
        fault = proof.fault if proof else seen.fault
        advice = "take the runner out until the device is well"
        return Check(name=name, result=Result.FAILED, found=fault, advice=advice)
    proven = [f"proven: {_listed(proof.proven)}"] if proof.proven else []
    found = "; ".join([*proven, *proof.waits[:SHOWN]])
    if proof.waits and not asked.platform.broker:
        advice = "wait until it is free; a process of nobody's run is to be ended by hand"
        return Check(name=name, result=Result.WARNING, found=found, advice=advice)
    return Check(name=name, found=found)


def _listed(devices: tuple[Device, ...]) -> str:
    some = ", ".join(" ".join(filter(None, (named(one), one.name, one.arch))) for one in devices[:SHOWN])
    more = len(devices) - SHOWN
    return f"{some} and {more} more" if more > 0 else some


def _numbers(version: str) -> tuple[int, ...]:
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        numbers.append(int(digits or 0))
    return tuple(numbers)
