"""Leases of devices for the whole host: locks on files in one folder, across processes, users and containers.

The open file is what holds a device: whoever has the descriptor, or a copy of it, holds the lease. A lock file is
never deleted, as two processes could then hold two files of one name; what it says of its holder counts only while it
is held.
"""

import datetime
import fcntl
import getpass
import json
import os
import socket
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_toolkit.devices.mounts import network_type
from ci_toolkit.errors import InfrastructureError, UsageError, Where
from ci_toolkit.model.ids import safe_name

SHARED = Path("/run/lock")
FOLDER = "ci-toolkit"
FILE_MODE = 0o666
FOLDER_MODE = 0o1777
TEXT_BYTES = 4096


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a device, what for, and since when (ISO 8601 in UTC)."""

    pid: int = 0
    user: str = ""
    host: str = ""
    purpose: str = ""
    since: str = ""

    def __str__(self) -> str:
        who = f"process {self.pid} of {self.user or 'somebody'} on {self.host}" if self.pid else "somebody"
        what = f" ({self.purpose})" if self.purpose else ""
        return f"{who}{what}{f' since {self.since}' if self.since else ''}"


def me(purpose: str) -> Holder:
    """This process as a holder."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Holder(pid=os.getpid(), user=user, host=socket.gethostname(), purpose=purpose, since=since)


@dataclass
class Lease:
    """A device that is held until the last copy of the descriptor is closed."""

    device: str
    _descriptor: int

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        """Closes this process's copy."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def default_folder() -> Path:
    """Where leases lie when conf names no folder: the host's folder of locks, or else that of temporary files."""
    shared = SHARED if SHARED.is_dir() and os.access(SHARED, os.W_OK) else Path(tempfile.gettempdir())
    return shared / FOLDER


def open_folder(folder: Path) -> Path:
    """``folder``, made for all users where it is not there.

    Raises UsageError for one on a network file system, where a lock may not be seen by other hosts or may outlive its
    holder, and InfrastructureError where the system refuses.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(PermissionError):
            folder.chmod(FOLDER_MODE)
    except OSError as error:
        raise InfrastructureError(
            f"the folder of leases can not be made: {error.strerror}", Where(str(folder))
        ) from error
    network = network_type(folder)
    if network:
        raise UsageError(
            f"leases can not lie on the network file system {network}", Where(str(folder)), "name a folder of the host"
        )
    return folder


def try_lease(folder: Path, device: str, holder: Holder) -> Lease | Holder:
    """The lease of ``device`` (its hardware id), or who holds it now. Raises InfrastructureError where locks fail."""
    path = folder / f"{safe_name(device)}.lock"
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held = _read(descriptor)
        os.close(descriptor)
        return held
    except OSError as error:
        os.close(descriptor)
        raise InfrastructureError(f"can not be locked: {error.strerror}", Where(str(path))) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, msgspec.json.encode({"device": device, **msgspec.structs.asdict(holder)}) + b"\n", 0)
    return Lease(device, descriptor)


def holder_of(folder: Path, device: str) -> Holder | None:
    """Who holds ``device`` now, None when nobody does."""
    path = folder / f"{safe_name(device)}.lock"
    if not path.exists():
        return None
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor)
    finally:
        os.close(descriptor)
    return None


def _open(path: Path) -> int:
    """The lock file, never through a link. One of another user is opened, not created: in a sticky folder the kernel
    refuses what could create it."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            descriptor = os.open(path, flags | os.O_CREAT, FILE_MODE)
            with suppress(PermissionError):
                os.fchmod(descriptor, FILE_MODE)
    except OSError as error:
        raise InfrastructureError(f"the lock can not be opened: {error.strerror}", Where(str(path))) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InfrastructureError("the lock is no plain file", Where(str(path)))
    return descriptor


def _read(descriptor: int) -> Holder:
    try:
        return msgspec.convert(json.loads(os.pread(descriptor, TEXT_BYTES, 0)), Holder)
    except (ValueError, msgspec.ValidationError):
        return Holder()
