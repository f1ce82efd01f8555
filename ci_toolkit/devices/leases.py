"""Leases of devices for the whole host: locks on files in one folder, across processes, users and containers.

The open file is what holds a device: whoever has the descriptor, or a copy of it, holds the lease. A lock file is
never deleted, as two processes could then hold two files of one name; what it says of its holder counts only while it
is held.
"""

import datetime
import fcntl
import getpass
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_toolkit.devices.mounts import network_type
from ci_toolkit.errors import InfrastructureError, UsageError, Where
from ci_toolkit.model.ids import safe_name
from ci_toolkit.model.text import clip, one_line

SHARED = Path("/run/lock")
TEMPORARY = Path("/tmp")
FOLDER = "ci-toolkit"
FILE_MODE = 0o666
FOLDER_MODE = 0o1777
TEXT_BYTES = 4096
FIELD_BYTES = 200
"""So much is written and shown of each word about a holder."""
GATE_S = 1.0
GATE_POLL_S = 0.001
TRIES = 5


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
    """Where leases lie when conf names no folder: the host's folder of locks, or else that of temporary files.

    All users of a host get the same one, whatever their rights and TMPDIR: in two folders a device is held twice.
    """
    made = SHARED / FOLDER
    if made.is_dir() or _is_for_all(SHARED):
        return made
    return (TEMPORARY if _is_for_all(TEMPORARY) else Path(tempfile.gettempdir())) / FOLDER


def open_folder(folder: Path) -> Path:
    """``folder``, made for all users where it is not there; one that is there keeps its mode.

    Raises UsageError for one on a network file system, where a lock may not be seen by other hosts or may outlive its
    holder, and for another user's link; InfrastructureError where the system refuses.
    """
    _refuse_network(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:
            _require_folder(folder)
        else:
            folder.chmod(FOLDER_MODE)
    except OSError as error:
        raise InfrastructureError(
            f"the folder of leases can not be made: {error.strerror}", Where(str(folder))
        ) from error
    # Again: only its use mounts what an automounter has for it.
    _refuse_network(folder)
    return folder


def try_lease(folder: Path, device: str, holder: Holder) -> Lease | Holder:
    """The lease of ``device`` (its hardware id), or who holds it now. Raises InfrastructureError where locks fail."""
    path = _path(folder, device)
    with _gate(folder):
        for _ in range(TRIES):
            descriptor = _open(path)
            try:
                held = _take(descriptor, path, device, holder)
            except OSError as error:
                os.close(descriptor)
                raise InfrastructureError(f"can not be locked: {error.strerror}", Where(str(path))) from error
            if held is True:
                return Lease(device, descriptor)
            os.close(descriptor)
            if isinstance(held, Holder):
                return held
    raise InfrastructureError("something deletes the lock again and again", Where(str(path)))


def holder_of(folder: Path, device: str) -> Holder | None:
    """Who holds ``device`` now, None when nobody does."""
    path = _path(folder, device)
    if not path.exists():
        return None
    with _gate(folder):
        descriptor = _open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            # Not left to close: a child that another thread forks at this moment would hold the device.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except BlockingIOError:
            return _read(descriptor)
        except OSError as error:
            raise InfrastructureError(f"can not be locked: {error.strerror}", Where(str(path))) from error
        finally:
            os.close(descriptor)
    return None


def _path(folder: Path, device: str) -> Path:
    return folder / f"{safe_name(device)}.lock"


def _is_for_all(folder: Path) -> bool:
    return folder.is_dir() and bool(folder.stat().st_mode & stat.S_IWOTH)


def _refuse_network(folder: Path) -> None:
    network = network_type(folder)
    if network:
        raise UsageError(
            f"leases can not lie on the network file system {network}", Where(str(folder)), "name a folder of the host"
        )


def _require_folder(folder: Path) -> None:
    """Anybody can put a link into the host's folders of locks, and choose what it leads to."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode) and found.st_uid not in (0, os.geteuid()):
        raise UsageError("the folder of leases is a link of another user", Where(str(folder)))
    if not folder.is_dir():
        raise UsageError("the folder of leases is no folder", Where(str(folder)))


@contextmanager
def _gate(folder: Path) -> Iterator[None]:
    """Lets one process at a time look at the locks of ``folder``.

    A look is a lock for an instant: without the gate it turns away who takes the device, and who looks reads the
    holder before. No lease depends on it, so a process that was stopped inside delays others and does not stop them.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InfrastructureError(
            f"the folder of leases can not be opened: {error.strerror}", Where(str(folder))
        ) from error
    deadline = time.monotonic() + GATE_S
    try:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(GATE_POLL_S)
            except OSError as error:
                raise InfrastructureError(f"can not be locked: {error.strerror}", Where(str(folder))) from error
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _take(descriptor: int, path: Path, device: str, holder: Holder) -> bool | Holder:
    """Locks an open lock file and writes who holds it: True, or who holds it already; False for a deleted file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor)
    # Cleaners of temporary files delete what is old: whoever locks a deleted file holds nothing.
    try:
        if not os.path.samestat(path.lstat(), os.fstat(descriptor)):
            return False
    except FileNotFoundError:
        return False
    os.ftruncate(descriptor, 0)
    said = {"device": clip(one_line(device), FIELD_BYTES), **msgspec.structs.asdict(_bounded(holder))}
    os.pwrite(descriptor, msgspec.json.encode(said) + b"\n", 0)
    return True


def _open(path: Path) -> int:
    """The lock file, never through a link. One of another user is opened, not created: in a sticky folder the kernel
    refuses what could create it."""
    try:
        descriptor = _open_or_make(path)
    except OSError as error:
        raise InfrastructureError(f"the lock can not be opened: {error.strerror}", Where(str(path))) from error
    found = os.fstat(descriptor)
    # What has a second name is a file of somebody else, put here to be overwritten.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise InfrastructureError("the lock is no plain file", Where(str(path)))
    return descriptor


def _open_or_make(path: Path) -> int:
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        pass
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except FileExistsError:
        return os.open(path, flags)
    os.fchmod(descriptor, FILE_MODE)
    return descriptor


def _read(descriptor: int) -> Holder:
    try:
        return _bounded(msgspec.json.decode(os.pread(descriptor, TEXT_BYTES, 0), type=Holder))
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return Holder()


def _bounded(holder: Holder) -> Holder:
    """``holder`` in words that fit any file and any terminal: another user may have written anything."""
    return Holder(
        pid=holder.pid,
        user=clip(one_line(holder.user), FIELD_BYTES),
        host=clip(one_line(holder.host), FIELD_BYTES),
        purpose=clip(one_line(holder.purpose), FIELD_BYTES),
        since=clip(one_line(holder.since), FIELD_BYTES),
    )
