"""Whether a device may be used now, by how much memory is free on it and who else uses it. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from ci_toolkit.errors import InfrastructureError

SHOWN = 3


@dataclass(frozen=True)
class ForeignProcess:
    """A process that has the device open; ``used_bytes`` is None where the driver does not say."""

    pid: int
    name: str
    user: str = ""
    used_bytes: int | None = None

    def __str__(self) -> str:
        who = f" of {self.user}" if self.user else ""
        used = f", {size_text(self.used_bytes)}" if self.used_bytes is not None else ""
        return f"{self.name or 'process'} ({self.pid}{who}{used})"


@dataclass(frozen=True)
class Usage:
    """What is free on a device, in bytes, and which processes are on it."""

    free_bytes: int
    processes: tuple[ForeignProcess, ...] = ()


class Foreign(StrEnum):
    """What to do about processes that are not ours: they are reported, never ended."""

    ALLOW = "allow"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Admission:
    """A platform's policy: the least free memory in bytes, what foreign processes mean, and how long to wait."""

    min_free_bytes: int = 0
    foreign: Foreign = Foreign.WAIT
    wait_s: float = 600.0


def admit(device: str, usage: Usage | None, policy: Admission) -> str:
    """Why ``device``, whose lease is ours, is not used now; empty when it may be, or when its module can not tell.

    While we hold the lease every process on the device is a stranger: a worker of ours that is still going holds it.

    Raises InfrastructureError where the policy refuses.
    """
    if usage is None:
        return ""
    strangers = usage.processes
    if strangers and policy.foreign is not Foreign.ALLOW:
        more = f" and {len(strangers) - SHOWN} more" if len(strangers) > SHOWN else ""
        reason = f"{device} is in use by {', '.join(map(str, strangers[:SHOWN]))}{more}"
        if policy.foreign is Foreign.REFUSE:
            raise InfrastructureError(reason)
        return reason
    if usage.free_bytes < policy.min_free_bytes:
        return f"{device} has {size_text(usage.free_bytes)} free, {size_text(policy.min_free_bytes)} are asked for"
    return ""


def size_text(count: int) -> str:
    """Bytes for people."""
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
