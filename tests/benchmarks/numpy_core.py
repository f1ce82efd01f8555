"""NumPy's own tests of its core on this machine: isolated workers, and plain pytest for each file.

    python tests/benchmarks/numpy_core.py

Both run the same files, as many at a time as there are processors. The peer is `python -m pytest FILE`, with nothing
kept but its exit status.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ci_toolkit.catalogue.load import load_catalogue
from ci_toolkit.suites.registry import kind_of
from ci_toolkit.suites.subject import ask

LANE = "numpy-core-cpu"
REPOSITORY = Path(__file__).resolve().parents[2]


def plain(slots: int) -> tuple[float, int]:
    """Seconds for all files with plain pytest, and how many of them ended with another status than 0."""
    conf = load_catalogue(REPOSITORY / "conf").lane(LANE)
    subject = ask(conf.platform.python, (), ["numpy"], dict(os.environ), conf.base)
    found = kind_of("pytest").find(conf, subject)
    env = {**os.environ, **conf.env, "PYTHONHASHSEED": "0"}

    def one(name: str) -> int:
        fixed = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--confcutdir={found.root}"]
        command = [subject.executable, "-m", "pytest", *fixed, *conf.args, f"--rootdir={found.root}", name]
        return subprocess.run(command, cwd=found.root, env=env, stdout=subprocess.DEVNULL, check=False).returncode

    began = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(slots) as pool:
        codes = list(pool.map(one, (unit.name for unit in found.units)))
    return time.perf_counter() - began, sum(code != 0 for code in codes)


def ours() -> float:
    """Seconds of a whole lane, from the command's start to its end."""
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        command = [sys.executable, "-m", "ci_toolkit", "run", LANE, "--full", "--out", out]
        subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began


def main() -> None:
    slots = len(os.sched_getaffinity(0))
    seconds, red = plain(slots)
    print(f"plain pytest for each file   {seconds:6.1f} s on {slots} processors, {red} files not green", flush=True)
    isolated = ours()
    print(f"isolated, with evidence      {isolated:6.1f} s, {isolated / seconds:.2f} of that")


if __name__ == "__main__":
    main()
