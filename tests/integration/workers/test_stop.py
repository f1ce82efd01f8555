"""Signals to the host, and the death of the host, end every worker and lose nothing that was finished."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

STUBBORN = """
    import os, signal, subprocess, sys, time
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    events.emit("start", id="up")
    time.sleep(600)
"""

HOST = """
import importlib.util, sys
from pathlib import Path
from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop
spec = importlib.util.spec_from_file_location("support", sys.argv[1])
support = importlib.util.module_from_spec(spec)
sys.modules["support"] = support
spec.loader.exec_module(support)
bench = support.Bench(Path(sys.argv[2]), mark=sys.argv[3])
body = sys.stdin.read()
jobs = (bench.job(body if n > 1 else "events.emit('start', id='up')", number=n, speaks=True) for n in range(1, 9))
def observe(job, message):
    if message.get("id") == "up":
        print("up", job.number, flush=True)
with Stop().install() as stop:
    for ended in run_jobs(in_order(jobs), 2, stop, observe):
        print("ended", ended.job.number, ended.worker.end, ended.message, flush=True)
print("left in order after", stop.reason, flush=True)
"""


@pytest.fixture
def host(bench):
    """A host in a process of its own: worker 1 finishes, 2 and 3 hang when this returns."""
    support = Path(__file__).with_name("conftest.py")
    process = subprocess.Popen(
        [sys.executable, "-c", HOST, str(support), str(bench.folder), bench.mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(STUBBORN)
    process.stdin.close()
    seen = []
    while not {"up 2", "up 3"} <= set(seen):
        line = process.stdout.readline()
        assert line, "the host ended early"
        seen.append(line.strip())
    assert "ended 1 completed " in [f"{line} " for line in seen]
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_host_ends_the_run_in_order(bench, host, number):
    host.send_signal(number)
    assert sorted(host.stdout.read().splitlines()) == [
        f"ended 2 interrupted interrupted by {number.name}",
        f"ended 3 interrupted interrupted by {number.name}",
        f"left in order after {number.name}",
    ]
    assert host.wait() == 0
    assert bench.processes() == []
    assert not (bench.folder / "workers" / "004").exists()


def test_more_signals_change_nothing(bench, host):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        host.send_signal(number)
    lines = host.stdout.read().splitlines()
    assert len([line for line in lines if " interrupted " in line]) == 2
    assert lines[-1].startswith("left in order after SIG")
    assert host.wait() == 0


def test_a_killed_host_takes_its_workers_along(bench, host):
    workers = bench.processes()
    children = psutil.Process(host.pid).children()
    keepers = [process for process in children if process.status() != psutil.STATUS_ZOMBIE]
    temporary = [Path(process.environ()["TMPDIR"]) for process in workers]
    assert len(keepers) == 2
    assert len(workers) == 4
    host.kill()
    _, alive = psutil.wait_procs([*workers, *keepers], timeout=30)
    assert alive == []
    assert not any(folder.exists() for folder in temporary)


def test_a_stop_from_within_needs_no_signal(bench):
    stop = Stop()

    def observe(job, message):
        if message["e"] == "start":
            stop.request("the budget")

    jobs = (bench.job("import time; time.sleep(600)", number=number) for number in range(1, 4))
    (ended,) = run_jobs(in_order(jobs), 1, stop, observe)
    assert (ended.worker.end, ended.error) == (WorkerEnd.INTERRUPTED, ErrorKind.INTERRUPTED)
    assert ended.message == "interrupted by the budget"


def test_a_stop_before_the_start_starts_nothing(bench):
    stop = Stop()
    stop.request("SIGTERM")
    assert list(run_jobs(in_order(bench.job("pass", number=number) for number in (1, 2)), 1, stop, bench.observe)) == []


def test_a_worker_that_completes_while_it_is_stopped_is_complete(bench):
    stop = Stop()

    def observe(job, message):
        if message.get("id") == "ready":
            stop.request("SIGINT")

    body = """
        import signal
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        events.emit("start", id="ready")
        signal.sigwait([signal.SIGTERM])
    """
    (ended,) = run_jobs(in_order([bench.job(body, speaks=True)]), 1, stop, observe)
    assert (ended.worker.end, ended.message) == (WorkerEnd.COMPLETED, "")


def test_leaving_the_iterator_ends_the_workers(bench):
    patient = """
        import os, time
        while not os.path.exists("workers/002/events.jsonl"):
            time.sleep(0.01)
    """
    jobs = [bench.job(patient, number=1), bench.job(STUBBORN, number=2, speaks=True)]
    run = run_jobs(in_order(jobs), 2, Stop(), bench.observe)
    assert next(run).job.number == 1
    run.close()
    assert bench.processes() == []
    assert (bench.folder / "workers" / "002" / "events.jsonl").exists()


def test_handlers_are_restored():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with Stop().install() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert bool(stop)
    assert stop.reason == "SIGINT"
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
