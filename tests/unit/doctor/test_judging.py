"""What counts against a runner, and what does not."""

import dataclasses

import pytest

from ci_toolkit.catalogue.lanes import Platform
from ci_toolkit.doctor.bounded import Seen
from ci_toolkit.doctor.judging import disk_check, git_check, machine_checks, orphan_check, reach_check
from ci_toolkit.doctor.judging_platforms import device_check, interpreter_check, placed, proof_check
from ci_toolkit.doctor.look_devices import Found, Proof
from ci_toolkit.doctor.look_network import Reached
from ci_toolkit.doctor.machine import Machine
from ci_toolkit.doctor.platforms import Asked
from ci_toolkit.model.plan import ExpectedDevice
from ci_toolkit.model.profile import Check, Disk, Result
from ci_toolkit.model.report import Device
from ci_toolkit.suites.kind import Subject
from ci_toolkit.workers.hygiene import NOTHING, Cleaned
from ci_toolkit.workers.mark import Mark
from ci_toolkit.workers.processes import Process

CARDS = tuple(Device(index=n, module="cuda", name="H200", arch="sm_90", uuid=f"GPU-{n}") for n in range(2))
H200 = Asked(
    platform=Platform("h200", "cuda", "sm_90", 2, "", (), ()),
    device=ExpectedDevice(module="cuda", count=2, arch="sm_90"),
    base="/r",
    env={},
    env_allow=(),
    kinds=frozenset({"pytest"}),
    subject=("Ten_sor",),
    named=False,
)
NAMED = dataclasses.replace(H200, named=True)
GIB = 1 << 30


def outcome(check: Check | None) -> tuple[str, str, bool]:
    assert check is not None
    return check.result.value, check.found, bool(check.advice)


def test_a_platform_with_its_devices_belongs_here() -> None:
    assert placed(H200, Seen(Found(devices=CARDS))).devices == CARDS


def test_a_platform_of_another_runner_is_no_fault_unless_it_is_named() -> None:
    nothing = Seen(Found(reason="no NVIDIA driver on this machine"))
    assert placed(H200, nothing).elsewhere == "no NVIDIA driver on this machine"
    assert outcome(placed(NAMED, nothing).fault) == ("failed", "no NVIDIA driver on this machine", True)
    other = Seen(Found(devices=(Device(index=0, module="cuda", name="A100", arch="sm_80"),)))
    said = "asks for cuda of architecture sm_90, this machine has sm_80"
    assert placed(H200, other).elsewhere == said
    assert outcome(placed(NAMED, other).fault) == ("failed", said, True)


def test_a_card_that_is_gone_and_a_driver_that_shows_none_are_no_matter_of_course() -> None:
    one = Seen(Found(devices=CARDS[:1]))
    said = "asks for 2 devices cuda, this machine has 1"
    assert outcome(placed(H200, one).fault) == ("warning", said, True)
    assert outcome(placed(NAMED, one).fault) == ("failed", said, True)
    broken = Seen(Found(reason="the driver does not answer", present=True))
    assert outcome(placed(H200, broken).fault) == ("warning", "the driver does not answer", True)
    assert outcome(device_check("cuda", broken)) == ("warning", "none: the driver does not answer", True)
    hung = Seen[Found](None, "it gave no answer in 75 s")
    assert outcome(placed(H200, hung).fault) == ("warning", "it gave no answer in 75 s", True)
    assert outcome(placed(NAMED, hung).fault) == ("failed", "it gave no answer in 75 s", True)
    assert device_check("cuda", hung).result is Result.WARNING


def test_holders_are_named() -> None:
    held = Found(devices=CARDS, holders={"GPU-1": "process 7 of ann on box"})
    assert device_check("cuda", Seen(held)).found == (
        "GPU-0 H200 sm_90, GPU-1 H200 sm_90; GPU-1 is held by process 7 of ann on box"
    )


@pytest.mark.parametrize(
    ("python", "packages", "result"),
    [
        ("3.11.7", {"pytest": "9.2.0", "ten-sor": "1"}, "ok"),
        ("3.7.9", {"pytest": "7.4", "ten-sor": "1"}, "failed"),
        ("3.8.0", {"pytest": "6.2.5", "ten-sor": "1"}, "failed"),
        ("3.14.0rc1", {"ten-sor": "1"}, "failed"),
        ("3.11.7", {"pytest": "8.0.0rc1"}, "warning"),
    ],
)
def test_an_interpreter(python: str, packages: dict[str, str], result: str) -> None:
    check, _ = interpreter_check(H200, Seen(Subject("/p", python, "CPython", "linux", packages)))
    assert check.result.value == result, check
    assert bool(check.advice) == (result != "ok")


def test_an_interpreter_that_is_missing_is_needed() -> None:
    check, shown = interpreter_check(H200, Seen(None, "the interpreter x can not be started"))
    assert (outcome(check), shown) == (("failed", "the interpreter x can not be started", True), None)


def test_devices_that_are_busy_are_no_fault_and_sick_ones_are() -> None:
    busy = Proof(proven=CARDS[:1], waits=("GPU-1 is held by process 7",))
    assert outcome(proof_check(H200, Seen(busy))) == (
        "warning",
        "proven: GPU-0 H200 sm_90; GPU-1 is held by process 7",
        True,
    )
    sick = proof_check(H200, Seen(Proof(fault="GPU-1 is sick: Xid 79", waits=("x",))))
    assert outcome(sick) == ("failed", "GPU-1 is sick: Xid 79", True)
    assert proof_check(H200, Seen(None, "it gave no answer")).result is Result.FAILED
    assert proof_check(H200, Seen(Proof(proven=CARDS))).result is Result.OK


@pytest.mark.parametrize(
    ("disk", "result"),
    [
        (Disk(folder="/d", free_bytes=9 * GIB, total_bytes=99 * GIB), "ok"),
        (Disk(folder="/d", free_bytes=GIB, total_bytes=99 * GIB), "warning"),
        (Disk(folder="/d", free_bytes=1000, total_bytes=99 * GIB), "failed"),
        (Disk(folder="/d", free_bytes=9 * GIB, fault="nothing can be written there"), "failed"),
    ],
)
def test_a_disk(disk: Disk, result: str) -> None:
    assert disk_check("d", Seen(disk)).result.value == result


def test_a_drive_that_does_not_answer_and_a_folder_that_needs_no_room() -> None:
    assert disk_check("d", Seen(None, "it gave no answer in 20 s")).result is Result.FAILED
    assert disk_check("d", Seen(Disk(folder="/d", free_bytes=4096)), least=0).result is Result.OK


@pytest.mark.parametrize(
    ("reached", "result", "said"),
    [
        (Reached(status=200), "ok", "x answers"),
        (Reached(status=404), "ok", "x answers"),
        (Reached(status=401), "warning", "x answered 401"),
        (Reached(status=407, proxy="p:1"), "warning", "x by the proxy p:1 answered 407"),
        (Reached(status=503), "warning", "x answered 503"),
        (Reached(fault="no answer in 8 s", proxy="p:1"), "warning", "x by the proxy p:1: no answer in 8 s"),
    ],
)
def test_what_is_reached(reached: Reached, result: str, said: str) -> None:
    assert outcome(reach_check("index", "x", Seen(reached)))[:2] == (result, said)


def test_what_earlier_runs_left() -> None:
    one = Process(7, 1, 5, 0, Mark("77.1", 1, 6, 5), command="python t.py")
    said = "process 7 (python t.py, of run 77.1, whose host was process 6)"
    assert orphan_check([], NOTHING).found == "nothing"
    assert outcome(orphan_check([one], NOTHING)) == ("warning", said, True)
    assert outcome(orphan_check([], Cleaned(ended=(one,)))) == ("ok", f"ended {said}", False)
    stuck = orphan_check([one], Cleaned(stuck=(one,)))
    assert outcome(stuck) == ("failed", f"can not be ended: {said}", True)


def test_small_machines_and_no_git_are_warnings() -> None:
    machine = Machine("box", "r1", "linux", "0", "cpu", 4, 0.5, 2 * GIB, 1 << 20)
    host, cores, memory = machine_checks(machine)
    assert host.found == "box, runner r1, linux, ci-toolkit 0"
    assert (cores.result, cores.found) == (Result.WARNING, "0.5 of 4 allowed, cpu")
    assert (memory.result, memory.found) == (Result.WARNING, "1 MiB of 2.0 GiB available")
    assert git_check(Seen("")).result is Result.WARNING
    assert git_check(Seen("git version 2")).result is Result.OK
