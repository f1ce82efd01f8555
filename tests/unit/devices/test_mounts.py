"""The file system of a folder, from the kernel's own list."""

from pathlib import Path

import pytest

from ci_toolkit.devices.mounts import network_type

MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:5 / /home rw - nfs4 server:/home rw
24 23 0:6 / /home/ann/local rw - xfs /dev/sdb rw
25 22 0:7 / /mnt/two\040words rw - cifs //server/x rw
26 22 0:8 / /run/lock rw - tmpfs tmpfs rw
27 26 0:9 / /run/lock rw - lustre lustre rw
cut short
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/nowhere/lock", ""),
        ("/home/ann", "nfs4"),
        ("/home/ann/local/leases", ""),
        ("/homestead", ""),
        ("/mnt/two words/leases", "cifs"),
        ("/run/lock/ci-toolkit", "lustre"),
    ],
)
def test_the_nearest_and_last_mount_counts(folder: str, kind: str) -> None:
    assert network_type(Path(folder), MOUNTS) == kind


def test_this_machines_own_list_can_be_read(tmp_path: Path) -> None:
    assert network_type(tmp_path) in {"", "9p", "nfs4", "virtiofs"}
