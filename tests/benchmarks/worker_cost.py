"""The fixed cost of an isolated worker that needs torch and pytest: forked from a server, and started afresh.

    python tests/benchmarks/worker_cost.py --workers 20 [--device cuda]

One trivial case for each worker; on a card it makes one tensor there, and the worker is granted the card and proves it
first, as in a lane, so that a context is part of the cost. The
peer is plain `python -m pytest` in a process of its own, which neither isolates nor accounts for anything. Targets: a
fork costs at most 1/15 of a fresh interpreter on a processor, and 1/8 with a CUDA context.
"""

import argparse
import itertools
import os
import secrets
import statistics
import sys
import tempfile
import time
from pathlib import Path

from costs import run

from ci_toolkit.devices.admission import Admission, Foreign
from ci_toolkit.devices.registry import available, find
from ci_toolkit.model.plan import ExpectedDevice
from ci_toolkit.model.report import WorkerEnd
from ci_toolkit.model.request import Limits, Request
from ci_toolkit.workers.access import access_to
from ci_toolkit.workers.devices import DevicePool
from ci_toolkit.workers.environment import temporary_folder, worker_environment
from ci_toolkit.workers.jobs import Job, in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

CASE = "import torch\n\n\ndef test_one():\n    assert torch.zeros(1, device={device!r}).item() == 0\n"
TARGETS = {"cpu": 15, "cuda": 8}


def cards(device: str, folder: Path) -> DevicePool | None:
    """The first card of this machine, leased in ``folder``; None for the processor."""
    if device == "cpu":
        return None
    devices, absent = available(ExpectedDevice(module=device, count=1))
    module = find(device)
    if absent or module is None:
        sys.exit(absent)
    policy = Admission(foreign=Foreign.ALLOW)
    return DevicePool(devices[:1], access_to(module, str(folder / "leases"), policy, "benchmark", sys.executable))


def job(folder: Path, number: int, start: str, pool: DevicePool | None) -> Job:
    """A job that runs the one test file of ``folder``."""
    place = folder / start / f"{number:03}"
    place.mkdir(parents=True)
    temporary = temporary_folder()
    request = Request(
        nonce=secrets.token_hex(16),
        lane="cost",
        unit="test_one.py",
        runner="pytest",
        interpreter=sys.executable,
        env=worker_environment(os.environ, ("CUDA_*", "NVIDIA_*"), {}, temporary),
        cwd=str(folder),
        temporary=temporary,
        limits=Limits(unit_s=300),
        start=start,
        preload=("torch",),
        masked=tuple(pool.access.mask(pool.devices)) if pool else (),
        width=1 if pool else 0,
        device="cuda" if pool else "",
        options={"root": str(folder), "files": ["test_one.py"], "args": ["-c", os.devnull]},
    )
    return Job(number=number, request=request, folder=place)


def measure(folder: Path, workers: int, start: str, pool: DevicePool | None) -> tuple[float, float]:
    """(seconds until the first worker ended, median seconds of the others), one worker at a time."""
    ends = [time.perf_counter()]
    jobs = in_order(job(folder, n, start, pool) for n in range(workers + 1))
    for ended in run_jobs(jobs, 1, Stop(), lambda *_: None, pool):
        if ended.worker.end is not WorkerEnd.COMPLETED or ended.worker.start_mode != start:
            sys.exit(f"a worker was {ended.worker.start_mode} and {ended.worker.end}: {ended.message}")
        ends.append(time.perf_counter())
    spans = [late - early for early, late in itertools.pairwise(ends)]
    return spans[0], statistics.median(spans[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--device", default="cpu", choices=sorted(TARGETS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_one.py").write_text(CASE.format(device=options.device))
        plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
        peer = statistics.median(
            run(*plain, f"--rootdir={folder}", str(folder / "test_one.py"), quiet=True).wall for _ in range(5)
        )
        print(f"plain pytest in a process     {peer:6.3f} s", flush=True)
        pool = cards(options.device, folder)
        _, spawn = measure(folder, max(options.workers // 2, 3), "spawn", pool)
        print(f"worker, fresh interpreter     {spawn:6.3f} s", flush=True)
        first, fork = measure(folder, options.workers, "fork", pool)
        print(f"worker, forked from a server  {fork:6.3f} s (the first, with the server's start: {first:.2f} s)")
    target = TARGETS[options.device]
    print(
        f"a fork costs 1/{spawn / fork:.1f} of a fresh worker (target 1/{target}), 1/{peer / fork:.1f} of plain pytest"
    )


if __name__ == "__main__":
    main()
