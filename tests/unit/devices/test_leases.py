"""Leases across processes and users, and where they must not lie."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ci_toolkit.devices.leases import Holder, Lease, holder_of, me, open_folder, try_lease
from ci_toolkit.errors import InfrastructureError, UsageError

ME = Holder(pid=7, user="ann", host="box", purpose="lane a", since="2026-01-01T00:00:00+00:00")
CONTEND = """
import os, random, sys, time
from pathlib import Path
from ci_toolkit.devices.leases import Lease, me, open_folder, try_lease
folder, used, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
open_folder(folder)
done = 0
while done < 25:
    device = f"D{chance.randrange(8)}"
    lease = try_lease(folder, device, me("test"))
    if not isinstance(lease, Lease):
        continue
    mark = used / device
    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    mark.unlink()
    if seed % 2 and chance.random() < 0.05:
        os.kill(os.getpid(), 9)
    lease.close()
    done += 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return open_folder(tmp_path / "leases")


def leased(folder: Path, device: str = "GPU-1") -> Lease:
    lease = try_lease(folder, device, ME)
    assert isinstance(lease, Lease)
    return lease


def test_a_held_device_names_its_holder_and_a_free_one_nobody(folder: Path) -> None:
    assert holder_of(folder, "GPU-1") is None
    lease = leased(folder)
    assert try_lease(folder, "GPU-1", me("lane b")) == ME
    assert holder_of(folder, "GPU-1") == ME
    assert str(ME) == "process 7 of ann on box (lane a) since 2026-01-01T00:00:00+00:00"
    assert isinstance(try_lease(folder, "GPU-2", ME), Lease)
    lease.close()
    assert holder_of(folder, "GPU-1") is None
    leased(folder)


def test_a_copy_of_the_descriptor_holds_on(folder: Path) -> None:
    lease = leased(folder)
    copy = os.dup(lease.fileno())
    lease.close()
    lease.close()
    assert holder_of(folder, "GPU-1") == ME
    os.close(copy)
    assert holder_of(folder, "GPU-1") is None


def test_a_program_that_was_started_meanwhile_does_not_hold_it(folder: Path) -> None:
    lease = leased(folder)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        lease.close()
        assert holder_of(folder, "GPU-1") is None
        other.communicate(b"\n")


def test_eight_devices_many_processes_random_deaths(folder: Path, tmp_path: Path) -> None:
    used = tmp_path / "used"
    used.mkdir()
    hosts = [
        subprocess.Popen([sys.executable, "-c", CONTEND, str(folder), str(used), str(seed)], stderr=subprocess.PIPE)
        for seed in range(6)
    ]
    for seed, host in enumerate(hosts):
        _, said = host.communicate()
        assert host.returncode == 0 or (seed % 2 and host.returncode == -signal.SIGKILL), said.decode()
    assert [holder_of(folder, f"D{n}") for n in range(8)] == [None] * 8


def test_what_the_file_says_of_a_holder_may_be_anything(folder: Path) -> None:
    lease = leased(folder)
    (path,) = folder.iterdir()
    for text in (b"", b"{", b'{"pid": "x"}', b"[]", b"\xff" * 9000):
        path.write_bytes(text)
        assert str(try_lease(folder, "GPU-1", me("b"))) == "somebody"
    lease.close()


def test_a_link_or_a_fifo_in_the_place_of_a_lock_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "GPU-1.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InfrastructureError, match="can not be opened"):
        try_lease(folder, "GPU-1", ME)
    os.mkfifo(folder / "GPU-2.lock")
    with pytest.raises(InfrastructureError, match="no plain file"):
        try_lease(folder, "GPU-2", ME)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {tmp_path}/far rw - nfs4 server:/x rw\n")
    monkeypatch.setattr("ci_toolkit.devices.mounts.MOUNTS", mounts)
    open_folder(tmp_path / "near")
    with pytest.raises(UsageError, match="can not lie on the network file system nfs4"):
        open_folder(tmp_path / "far" / "leases")


def test_every_user_may_use_the_folder(folder: Path) -> None:
    old = os.umask(0o077)
    try:
        leased(folder).close()
    finally:
        os.umask(old)
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o666
    assert folder.stat().st_mode & 0o7777 == 0o1777


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child only runs code of ours
def test_a_lock_file_of_another_user_can_be_taken() -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = open_folder(Path(name) / "leases")
        leased(folder).close()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setuid(65534)
                status = 0 if isinstance(try_lease(folder, "GPU-1", ME), Lease) else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
