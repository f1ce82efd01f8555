"""What was seen of a machine, in checks. Pure."""

from collections.abc import Iterable, Sequence

from ci_toolkit.devices.admission import size_text
from ci_toolkit.doctor.bounded import Seen
from ci_toolkit.doctor.look_network import Reached
from ci_toolkit.doctor.machine import Machine
from ci_toolkit.model.profile import Check, Disk, Result
from ci_toolkit.workers.headroom import DISK_BYTES, MEMORY_BYTES
from ci_toolkit.workers.hygiene import Cleaned
from ci_toolkit.workers.processes import Process

LITTLE_BYTES = 2 << 30
"""With less than this a run of some hours may not get to its end."""


def machine_checks(machine: Machine) -> list[Check]:
    """Names, processors and memory."""
    name = f"{machine.host}, runner {machine.runner}" if machine.runner else machine.host
    cores = f"{machine.cores_allowed:g} of {machine.cores} allowed, {machine.cpu}"
    memory = f"{size_text(machine.available_bytes)} of {size_text(machine.memory_bytes)} available"
    few, little = machine.cores_allowed < 1, machine.available_bytes < MEMORY_BYTES
    return [
        Check(name="host", found=f"{name}, {machine.system}, ci-toolkit {machine.toolkit}"),
        Check(
            name="processors",
            result=Result.WARNING if few else Result.OK,
            found=cores,
            advice="grant the runner a whole processor" if few else "",
        ),
        Check(
            name="memory",
            result=Result.WARNING if little else Result.OK,
            found=memory,
            advice="end what holds it: workers run one at a time below 512 MiB" if little else "",
        ),
    ]


def disk_check(name: str, seen: Seen[Disk], *, least: int = DISK_BYTES, needed: bool = True) -> Check:
    """A folder that lanes write to; ``least`` bytes must be free where it is ``needed``."""
    disk = seen.answer
    bad = Result.FAILED if needed else Result.WARNING
    if disk is None:
        return Check(name=name, result=bad, found=seen.fault, advice="look whether its drive is still there")
    where = f"in {disk.folder}" + (f" ({disk.network})" if disk.network else "")
    if disk.fault:
        return Check(name=name, result=bad, found=f"{where}: {disk.fault}", advice="mend it, or name another folder")
    found = f"{size_text(disk.free_bytes)} free of {size_text(disk.total_bytes)} {where}"
    if disk.free_bytes < least:
        return Check(name=name, result=bad, found=found, advice=f"free at least {size_text(least)}")
    if least and disk.free_bytes < LITTLE_BYTES:
        return Check(name=name, result=Result.WARNING, found=found, advice="free some of it before a long run")
    return Check(name=name, found=found)


def git_check(seen: Seen[str]) -> Check:
    """Git, which says what is tested."""
    if seen.answer:
        return Check(name="git", found=seen.answer)
    advice = "install git: without it no commit is recorded, and a change is not known by its files"
    return Check(name="git", result=Result.WARNING, found=seen.fault or "there is none", advice=advice)


def reach_check(name: str, shown: str, seen: Seen[Reached]) -> Check:
    """Something in the network: any answer but a refusal or a failure of its own shows that it can be reached."""
    reached = seen.answer or Reached(fault=seen.fault)
    by = f" by the proxy {reached.proxy}" if reached.proxy else ""
    if reached.fault:
        advice = "look at the proxy" if reached.proxy else "look at name service, route and proxy variables"
        return Check(name=name, result=Result.WARNING, found=f"{shown}{by}: {reached.fault}", advice=advice)
    status = reached.status
    if status is not None and (status in (401, 403, 407) or status >= 500):
        advice = "look at its credentials" if status < 500 else "wait, or ask who runs it"
        return Check(name=name, result=Result.WARNING, found=f"{shown}{by} answered {status}", advice=advice)
    return Check(name=name, found=f"{shown}{by} answers")


def orphan_check(left: Sequence[Process], cleaned: Cleaned) -> Check:
    """What earlier runs left running here, after what was ``cleaned``."""
    name, ended = "left by earlier runs", [f"ended {one}" for one in cleaned.ended]
    if cleaned.stuck:
        found = "; ".join([*(f"can not be ended: {one}" for one in cleaned.stuck), *ended])
        return Check(name=name, result=Result.FAILED, found=found, advice="restart the machine: a driver may be stuck")
    if left:
        found = "; ".join([*ended, *map(str, left)])
        return Check(name=name, result=Result.WARNING, found=found, advice="ci-toolkit doctor --clean")
    return Check(name=name, found="; ".join(ended) or "nothing")


def proxy_checks(conflicting: Iterable[str]) -> list[Check]:
    """Variables that say two things: which one counts differs from program to program."""
    return [
        Check(
            name=f"proxy {name}",
            result=Result.WARNING,
            found=f"{name} and {name.upper()} differ",
            advice="set both alike: programs differ in which one they read",
        )
        for name in conflicting
    ]
