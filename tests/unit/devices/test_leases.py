"""Leases across processes and users, and where they must not lie."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from ci_toolkit.devices import leases
from ci_toolkit.devices.leases import Holder, Lease, default_folder, holder_of, me, open_folder, try_lease
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
LOOK = """
import sys
from pathlib import Path
from ci_toolkit.devices.leases import holder_of
print("up", flush=True)
while True:
    holder_of(Path(sys.argv[1]), "GPU-1")
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
    for text in (b"", b"{", b'{"pid": "x"}', b"[]", b"\xff" * 9000, b"[" * 4096, b'{"user": "\\ud800"}'):
        path.write_bytes(text)
        assert str(try_lease(folder, "GPU-1", me("b"))) == "somebody"
    path.write_bytes(b'{"pid": 1, "user": "\\u001b[2J\\n::error::ann", "host": "' + b"h" * 3000 + b'"}')
    shown = str(try_lease(folder, "GPU-1", me("b")))
    assert shown.isprintable()
    assert "\\n::error::ann" in shown
    assert len(shown) < 500
    lease.close()


@pytest.mark.parametrize("purpose", ["command \udcff", "x" * 9000, "\x00" * 9000, '"' * 9000])
def test_any_purpose_can_be_held_for(folder: Path, purpose: str) -> None:
    lease = try_lease(folder, "GPU-1", me(purpose))
    assert isinstance(lease, Lease)
    found = holder_of(folder, "GPU-1")
    assert found is not None
    assert found.pid == os.getpid()
    lease.close()


def test_who_looks_does_not_turn_away_who_takes(folder: Path) -> None:
    leased(folder).close()
    looking = [subprocess.Popen([sys.executable, "-c", LOOK, str(folder)], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for one in looking:
            assert one.stdout is not None
            assert one.stdout.readline() == b"up\n"
        for _ in range(500):
            leased(folder).close()
    finally:
        for one in looking:
            one.kill()
            one.communicate()


def test_a_holder_before_is_never_shown_for_the_one_now(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leased(folder).close()
    monkeypatch.setattr(leases, "GATE_S", 60.0)
    seen: list[Holder | None] = []
    looking = threading.Thread(target=lambda: seen.append(holder_of(folder, "GPU-1")))
    truncate = os.ftruncate

    def look_first(descriptor: int, size: int) -> None:
        """Locked, and the text is still that of the holder before. Who looks now must wait for the new one."""
        looking.start()
        looking.join(0.2)
        truncate(descriptor, size)

    monkeypatch.setattr(os, "ftruncate", look_first)
    lease = try_lease(folder, "GPU-1", Holder(pid=8, purpose="now"))
    looking.join()
    assert isinstance(lease, Lease)
    assert seen == [Holder(pid=8, purpose="now")]
    lease.close()


def test_a_process_that_stopped_while_it_looked_does_not_stop_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "GATE_S", 0.05)
    stuck = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(stuck, fcntl.LOCK_EX)
        lease = leased(folder)
        assert holder_of(folder, "GPU-1") == ME
        lease.close()
        assert holder_of(folder, "GPU-1") is None
    finally:
        os.close(stuck)


def test_a_lock_file_that_a_cleaner_deletes_makes_no_second_holder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "GPU-1.lock"
    leased(folder).close()
    real = fcntl.flock

    def delete_first(descriptor: int, how: int) -> None:
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            path.unlink()
            monkeypatch.setattr(fcntl, "flock", real)
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", delete_first)
    lease = leased(folder)
    assert try_lease(folder, "GPU-1", me("b")) == ME
    lease.close()


def test_a_full_disk_is_said_and_holds_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(InfrastructureError, match=r"GPU-1\.lock: can not be locked: No space left on device"):
            leased(folder)
    assert holder_of(folder, "GPU-1") is None
    leased(folder).close()


def test_a_link_or_a_fifo_in_the_place_of_a_lock_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "GPU-1.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InfrastructureError, match="can not be opened"):
        try_lease(folder, "GPU-1", ME)
    os.mkfifo(folder / "GPU-2.lock")
    with pytest.raises(InfrastructureError, match="no plain file"):
        try_lease(folder, "GPU-2", ME)
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "precious").write_text("precious")
    os.link(tmp_path / "precious", folder / "GPU-3.lock")
    with pytest.raises(InfrastructureError, match="no plain file"):
        try_lease(folder, "GPU-3", ME)
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    site.chmod(0o750)
    (tmp_path / "link").symlink_to(site)
    for folder in (site, tmp_path / "link"):
        open_folder(folder)
        assert site.stat().st_mode & 0o7777 == 0o750
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file: the folder of leases is no folder"):
        open_folder(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a link of another user")
def test_another_users_link_does_not_choose_the_folder(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir(mode=0o700)
    link = tmp_path / "leases"
    link.symlink_to(tmp_path / "victim")
    os.lchown(link, 65534, 65534)
    with pytest.raises(UsageError, match="is a link of another user"):
        open_folder(link)
    assert (tmp_path / "victim").stat().st_mode & 0o7777 == 0o700


def test_all_users_get_the_same_folder_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks, temporary = tmp_path / "lock", tmp_path / "tmp"
    for folder in (locks, temporary):
        folder.mkdir()
        folder.chmod(0o1777)
    monkeypatch.setattr(leases, "SHARED", locks)
    monkeypatch.setattr(leases, "TEMPORARY", temporary)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert default_folder() == locks / "ci-toolkit"
    locks.chmod(0o755)  # root could write here, others can not
    assert default_folder() == temporary / "ci-toolkit"
    open_folder(locks / "ci-toolkit")
    assert default_folder() == locks / "ci-toolkit"


def test_a_folder_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {tmp_path}/far rw - nfs4 server:/x rw\n")
    monkeypatch.setattr("ci_toolkit.devices.mounts.MOUNTS", mounts)
    open_folder(tmp_path / "near")
    with pytest.raises(UsageError, match="can not lie on the network file system nfs4"):
        open_folder(tmp_path / "far" / "leases")
    assert not (tmp_path / "far").exists()


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
