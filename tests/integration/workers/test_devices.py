"""Workers that need devices: each is one worker's at a time, across processes, and freed by the keeper's end."""

import dataclasses
import os
import signal
from pathlib import Path

import msgspec
import psutil
import pytest

from ci_toolkit.devices.leases import Holder, me, open_folder, try_lease
from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.report import Device, ErrorKind, WorkerEnd
from ci_toolkit.workers import running
from ci_toolkit.workers.devices import Access, DevicePool
from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

USE = """
    import os, time
    mine = os.environ["SHOWN"].split(",")
    for device in mine:
        os.close(os.open({folder!r} + "/" + device, os.O_CREAT | os.O_EXCL))
    time.sleep({seconds})
    for device in mine:
        os.unlink({folder!r} + "/" + device)
    print(",".join(mine))
"""
"""Fails when another process uses one of its devices."""


def pool(folder: Path, count: int, **access) -> DevicePool:
    locks = open_folder(folder / "locks")

    def lease(device):
        held = try_lease(locks, device.uuid, me("test"))
        return f"{device.uuid} is held by {held}" if isinstance(held, Holder) else held

    devices = [Device(index=n, module="test", name="test", uuid=f"D{n}") for n in range(count)]
    rules = {"lease": lease, "mask": lambda devices: {"SHOWN": ",".join(d.uuid for d in devices)}, "wait_s": 60.0}
    return DevicePool(devices, Access(**{**rules, **access}))


def wanting(job, width=1):
    return dataclasses.replace(job, request=msgspec.structs.replace(job.request, width=width, device="test"))


def jobs(bench, count, seconds=0.1, widths=(1,)):
    used = bench.folder / "used"
    used.mkdir(exist_ok=True)
    body = USE.format(folder=str(used), seconds=seconds)
    return [wanting(bench.job(body, number=n + 1), widths[n % len(widths)]) for n in range(count)]


def test_a_device_is_used_by_one_worker_at_a_time(bench):
    ended = list(run_jobs(in_order(jobs(bench, 8)), 6, Stop(), bench.observe, pool(bench.folder, 2)))
    assert [one.worker.end for one in ended] == [WorkerEnd.COMPLETED] * 8
    assert {one.worker.exit_code for one in ended} == {0}
    assert {one.worker.devices for one in ended} == {(0,), (1,)}


def test_wide_workers_get_all_their_devices_or_none_and_do_not_starve(bench):
    widths = (1, 1, 3, 1, 1, 2, 1)
    ended = list(run_jobs(in_order(jobs(bench, 14, 0.05, widths)), 8, Stop(), bench.observe, pool(bench.folder, 3)))
    assert [one.worker.exit_code for one in ended] == [0] * 14
    assert sorted(len(one.worker.devices) for one in ended) == sorted(widths * 2)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child only runs code of ours
def test_two_hosts_share_the_devices_whatever_dies(bench, tmp_path):
    """A second host in a process of its own; both lose workers and keepers on the way."""
    other = os.fork()
    if other == 0:
        status = 1
        try:
            twin = type(bench)(tmp_path / "twin", bench.start, bench.mark)
            twin.folder.mkdir()
            (bench.folder / "used").mkdir(exist_ok=True)
            (twin.folder / "used").symlink_to(bench.folder / "used")
            shared = pool(bench.folder, 2)
            found = list(run_jobs(in_order(jobs(twin, 6)), 3, Stop(), twin.observe, shared))
            status = int({one.worker.exit_code for one in found} != {0})
        finally:
            os._exit(status)
    ended = list(run_jobs(in_order(jobs(bench, 6)), 3, Stop(), bench.observe, pool(bench.folder, 2)))
    assert os.waitpid(other, 0)[1] == 0
    assert {one.worker.exit_code for one in ended} == {0}


def test_a_killed_keeper_frees_its_device(bench):
    killed = []

    def kill(job, message):
        bench.observe(job, message)
        if message["e"] == "granted" and not killed:
            killed.append(psutil.Process(worker_of(bench, job)).parent())
            killed[0].send_signal(signal.SIGKILL)

    first, second = (wanting(bench.job(body, number=n)) for n, body in ((1, "import time; time.sleep(600)"), (2, "")))
    ended = list(run_jobs(in_order([first, second]), 1, Stop(), kill, pool(bench.folder, 1)))
    assert [one.worker.end for one in ended] == [WorkerEnd.CRASHED, WorkerEnd.COMPLETED]


def worker_of(bench, job) -> int:
    return next(event["pid"] for event in bench.events(job.number) if event["e"] == "hello")


def test_a_device_that_never_gets_free_is_infrastructure_and_says_who_holds_it(bench):
    shared = pool(bench.folder, 1, wait_s=0.3)
    held = shared.access.lease(shared.devices[0])
    (ended,) = run_jobs(in_order([wanting(bench.job("pass"))]), 1, Stop(), bench.observe, shared)
    assert not isinstance(held, str)
    held.close()
    assert (ended.worker.end, ended.error) == (WorkerEnd.NOT_STARTED, ErrorKind.INFRA)
    assert ended.message.startswith(f"no device within 0.3 s: D0 is held by process {os.getpid()} of ")
    assert " (test) since 20" in ended.message


def test_a_wish_that_can_not_be_met_is_refused_at_once(bench):
    (ended,) = run_jobs(in_order([wanting(bench.job("pass"), 3)]), 1, Stop(), bench.observe, pool(bench.folder, 2))
    assert (ended.worker.end, ended.message) == (WorkerEnd.NOT_STARTED, "needs 3 devices, this run has 2")


def test_a_device_that_must_not_be_used_is_refused_and_its_lease_let_go(bench):
    def admit(device):
        raise InfrastructureError(f"{device.uuid} is sick")

    shared = pool(bench.folder, 1, admit=admit)
    (ended,) = run_jobs(in_order([wanting(bench.job("pass"))]), 1, Stop(), bench.observe, shared)
    assert (ended.worker.end, ended.message) == (WorkerEnd.NOT_STARTED, "D0 is sick")
    lease = shared.access.lease(shared.devices[0])
    assert not isinstance(lease, str)
    lease.close()


def test_who_is_blamed_for_a_refusal(bench):
    """The runner for a device that is sick or proves another one, nobody for one that is only busy or not set up."""

    def refused(**access):
        number = len(bench.jobs) + 1
        shared = pool(bench.folder, 1, **access)
        (ended,) = run_jobs(in_order([wanting(bench.job("pass", number=number))]), 1, Stop(), bench.observe, shared)
        return ended.error

    def sick(device):
        raise InfrastructureError("sick")

    assert refused(admit=sick) is ErrorKind.RUNNER
    assert refused(admit=lambda device: "busy", wait_s=0.0) is ErrorKind.INFRA
    # The child knows no device "test" and says so: that is a matter of the set-up.
    assert refused(judge=lambda answer, devices: "no probe") is ErrorKind.SETUP
    eager = "sys.modules['_ci_toolkit_child.devices'].answer = lambda *_: {'device': 'another'}"
    job = hooked(bench, eager)
    shared = pool(bench.folder, 1, judge=lambda answer, devices: f"wrong device: {answer['device']}")
    (ended,) = run_jobs(in_order([job]), 1, Stop(), bench.observe, shared)
    assert (ended.error, ended.message) == (ErrorKind.RUNNER, "wrong device: another")


def test_a_device_that_hangs_in_its_proof_costs_a_bounded_time(bench, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE_S", 0.5)
    job = hooked(bench, "import time; sys.modules['_ci_toolkit_child.devices'].answer = lambda *_: time.sleep(600)")
    (ended,) = run_jobs(in_order([job]), 1, Stop(), bench.observe, pool(bench.folder, 1))
    assert (ended.worker.end, ended.error) == (WorkerEnd.NOT_STARTED, ErrorKind.RUNNER)
    assert ended.message == "no kernel ran within 0.5 s on test (test 0, D0): it hangs"
    assert ended.worker.devices == (0,)


def hooked(bench, line):
    """A job that preloads a module which runs ``line`` before the device is proven."""
    number = len(bench.jobs) + 1
    folder = bench.folder / f"preloads_{number}"
    folder.mkdir()
    (folder / "hook.py").write_text(f"import sys\n{line}\n", encoding="utf-8")
    job = wanting(bench.job("pass", number=number, settings={"PYTHONPATH": str(folder)}))
    return dataclasses.replace(job, request=msgspec.structs.replace(job.request, preload=("hook",)))


def test_time_spent_waiting_is_not_the_units(bench):
    slow, other = (wanting(bench.job("import time; time.sleep(1.5)", number=n, unit_s=2.2)) for n in (1, 2))
    ended = list(run_jobs(in_order([slow, other]), 2, Stop(), bench.observe, pool(bench.folder, 1)))
    assert [one.worker.end for one in ended] == [WorkerEnd.COMPLETED] * 2


def test_an_interrupt_ends_those_who_wait(bench):
    stop = Stop()

    def observe(job, message):
        if message["e"] == "granted":
            stop.request("test")

    long = [wanting(bench.job("import time; time.sleep(600)", number=n)) for n in (1, 2)]
    with stop.install():
        ended = list(run_jobs(in_order(long), 2, stop, observe, pool(bench.folder, 1)))
    assert [one.worker.end for one in ended] == [WorkerEnd.INTERRUPTED] * 2


@pytest.mark.parametrize("bench", ["spawn"], indirect=True)
def test_a_case_that_ran_before_the_proof_of_its_devices_is_a_fault(bench):
    """What conf preloads is imported before the devices are asked for; here it runs a case."""
    folder = bench.folder / "preloads"
    folder.mkdir()
    look = "import sys\nframe = sys._getframe()\nwhile 'events' not in frame.f_locals: frame = frame.f_back\n"
    emit = "".join(f"frame.f_locals['events'].emit({kind!r}, id='early')\n" for kind in ("start", "finish"))
    (folder / "eager.py").write_text(look + emit, encoding="utf-8")
    job = wanting(bench.job("pass", settings={"PYTHONPATH": str(folder)}))
    eager = dataclasses.replace(job, request=msgspec.structs.replace(job.request, preload=("eager",)))
    (ended,) = run_jobs(in_order([eager]), 1, Stop(), bench.observe, pool(bench.folder, 1))
    assert [(fault.kind, fault.message) for fault in ended.faults] == [
        (ErrorKind.INFRA, "ran a case before its devices were proven")
    ]
    plain = wanting(bench.job("pass", number=2))
    (proven,) = run_jobs(in_order([plain]), 1, Stop(), bench.observe, pool(bench.folder, 1))
    assert not proven.faults
