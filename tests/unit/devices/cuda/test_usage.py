"""Who is on a card, with a name where this machine knows one."""

import os
import sys
from types import SimpleNamespace

import psutil

from ci_toolkit.devices.cuda import usage
from ci_toolkit.model.report import Device

from .conftest import H200, UUID, FakeNvml, fake_card

NOBODY = 1 << 30
"""A process id that no system gives."""


def card(uuid: str) -> Device:
    return Device(index=0, module="cuda", name="NVIDIA H200", uuid=uuid)


def test_through_nvidia_smi(smi) -> None:
    smi(
        H200.replace(
            "told('busy_apps.csv')", f"print('gpu_uuid, pid, used_gpu_memory [MiB]\\n{UUID}, {os.getpid()}, 520')"
        )
    )
    found = usage(card(UUID))
    assert found is not None
    assert found.free_bytes == 143156 << 20
    (process,) = found.processes
    assert (process.pid, process.used_bytes) == (os.getpid(), 520 << 20)
    assert (process.name, process.user) == (psutil.Process().name(), psutil.Process().username())


def test_a_process_that_is_not_seen_here_has_no_name(smi) -> None:
    smi(
        H200.replace(
            "told('busy_apps.csv')", f"print('gpu_uuid, pid, used_gpu_memory [MiB]\\n{UUID}, {NOBODY}, [N/A]')"
        )
    )
    found = usage(card(UUID))
    assert found is not None
    (process,) = found.processes
    assert (process.pid, process.name, process.user, process.used_bytes) == (NOBODY, "", "", None)


def test_through_nvml(bare, monkeypatch) -> None:
    both = [SimpleNamespace(pid=NOBODY, usedGpuMemory=None), SimpleNamespace(pid=NOBODY + 1, usedGpuMemory=7)]
    fake = FakeNvml({"0": fake_card(0), "1": fake_card(1, compute=both[:1], graphics=both)})
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    found = usage(card("GPU-1"))
    assert found is not None
    assert found.free_bytes == 140_000
    assert [(process.pid, process.used_bytes) for process in found.processes] == [(NOBODY, None), (NOBODY + 1, 7)]
    assert usage(card("GPU-0")).processes == ()
    assert fake.open == 0


def test_unknown_where_the_driver_does_not_tell(bare, smi) -> None:
    assert usage(card(UUID)) is None
    smi("sys.exit(9)")
    assert usage(card(UUID)) is None
    smi("told('query.csv')")
    assert usage(card("MIG-1")) is None
