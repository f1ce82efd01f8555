"""Looks at folders and at git."""

import os
import shutil
from pathlib import Path

from ci_toolkit.devices.command import run_command
from ci_toolkit.devices.leases import default_folder, open_folder
from ci_toolkit.devices.mounts import network_type
from ci_toolkit.errors import ToolkitError
from ci_toolkit.model.profile import Disk

GIT_S = 10.0


def disk(folder: str, leases: bool) -> Disk:
    """The file system of ``folder``. That of ``leases`` is made as a lane would; empty is the host's own."""
    path = Path(folder) if folder else default_folder()
    fault = ""
    if leases:
        try:
            open_folder(path)
        except ToolkitError as error:
            fault = str(error)
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    try:
        usage = shutil.disk_usage(path)
    except OSError as error:
        return Disk(folder=str(path), fault=str(error.strerror))
    if not fault and not os.access(path, os.W_OK | os.X_OK):
        fault = "nothing can be written there"
    if not fault and _inodes(path) == 0:
        fault = "its file system can hold no more files"
    return Disk(
        folder=str(path), free_bytes=usage.free, total_bytes=usage.total, network=network_type(path), fault=fault
    )


def _inodes(path: Path) -> int | None:
    """How many more files fit; None where the file system does not count them."""
    found = os.statvfs(path)
    return found.f_favail if found.f_files else None


def git() -> str:
    """What git says of itself; empty where there is none."""
    program = shutil.which("git")
    if program is None:
        return ""
    done = run_command([program, "--version"], GIT_S)
    return done.stdout.strip() if done.exit_code == 0 else ""
