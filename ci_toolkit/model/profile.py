"""What ``doctor`` tells of a runner: facts, and one check for each thing that lanes depend on."""

from enum import StrEnum

from ci_toolkit.model.documents import Document, Record
from ci_toolkit.model.report import Device

PROFILE_SCHEMA = "runner/1"


class Result(StrEnum):
    """``failed``: a platform of conf needs it here and can not have it; ``warning``: it may hurt."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


class Check(Record, frozen=True, kw_only=True):
    """One thing that was looked at, what was found, and what to do about it."""

    name: str
    result: Result = Result.OK
    found: str
    advice: str = ""


class Disk(Record, frozen=True, kw_only=True):
    """A folder's file system. ``network`` is its type where that is one of a network; ``fault`` why it can't be used.

    ``folder`` is the one that was asked for, or the nearest above it that exists.
    """

    folder: str
    free_bytes: int = 0
    total_bytes: int = 0
    network: str = ""
    fault: str = ""


class Interpreter(Record, frozen=True, kw_only=True):
    """A platform's interpreter; versions are empty for what it does not have."""

    executable: str
    python: str
    pytest: str = ""
    torch: str = ""


class Profile(Document, frozen=True, kw_only=True):
    """A runner. ``elsewhere`` are platforms of conf that belong to other runners, with the reason.

    ``cores_allowed`` is what affinity and cgroup leave of ``cores``; ``memory_bytes`` what the cgroup leaves of the
    machine's. Values of ``proxies`` hold no credentials.
    """

    schema: str = PROFILE_SCHEMA
    host: str
    runner: str = ""
    system: str
    toolkit: str
    cpu: str
    cores: int
    cores_allowed: float
    memory_bytes: int
    disks: dict[str, Disk] = {}
    proxies: dict[str, str] = {}
    devices: tuple[Device, ...] = ()
    interpreters: dict[str, Interpreter] = {}
    elsewhere: dict[str, str] = {}
    checks: tuple[Check, ...] = ()

    @property
    def is_fit(self) -> bool:
        """Whether nothing is missing that a platform needs here."""
        return not any(check.result is Result.FAILED for check in self.checks)
