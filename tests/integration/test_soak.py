"""Everything dies at random, on eight logical devices: each case is accounted for, and nothing is left.

CI_FULL=1 runs 500 workers, else 48.
"""

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from ci_toolkit.devices.leases import holder_of
from ci_toolkit.formats.evidence import read_evidence
from ci_toolkit.model.outcome import Outcome

UNITS = 500 if os.environ.get("CI_FULL") else 48
CASES = 3
CARDS = 8
DEEDS = (
    "pass",
    "pass",
    "pass",
    "assert False",
    "ctypes.string_at(0)",
    "os._exit(0)",
    "os.kill(os.getpid(), signal.SIGKILL)",
    "time.sleep(600)",
    "os.fork() or time.sleep(600)",
    "os.write(1, bytes(1 << 20))",
    "raise RuntimeError('CUDA error: unspecified launch failure')",
)
HEAD = """
import ctypes, os, signal, time
USED = {used!r}

def use():
    place = USED + "/" + os.environ["TOY_VISIBLE"]
    os.close(os.open(place, os.O_CREAT | os.O_EXCL))
    os.unlink(place)
"""


def fill(project, seed: int, units: int) -> dict[str, str]:
    """Writes the units and the conf; returns the environment to run in."""
    chance = random.Random(seed)
    cards = project.register_cards(CARDS)
    for folder in ("used", "tmp"):
        (project.folder / folder).mkdir()
    for unit in range(units):
        cases = [f"def test_{n}():\n    use()\n    {chance.choice(DEEDS)}\n" for n in range(CASES)]
        project.write(f"tests/test_{unit}.py", HEAD.format(used=str(project.folder / "used")) + "\n".join(cases))
    access = f"env_allow: [CI_TOOLKIT_TEST_MARKER], lease: {{folder: {project.folder}/leases}}"
    toy = f"{{device: toy, count: {CARDS}, {access}}}"
    project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms: {{toy: {toy}}}\n")
    limits = "budget: 100000, limits: {case: 3s, unit: 60s}"
    suite = f"platforms: [toy], root: {{path: tests}}, paths: [.], start: fork, {limits}"
    project.write("conf/suites.yml", f"schema: suites/1\nsuites: {{soak: {{{suite}}}}}\n")
    return {**cards, "TMPDIR": str(project.folder / "tmp")}


def kill_at_random(project, host, seed: int) -> int:
    """Kills workers, keepers and servers from the first worker on until the host has ended; says how many."""
    chance = random.Random(seed)
    killed = 0
    while host.poll() is None and not list(project.folder.glob("out/soak-toy/a1/workers/*/events.jsonl")):
        time.sleep(0.01)
    while host.poll() is None:
        chosen = [process for process in project.processes() if process.pid != host.pid]
        if chosen and chance.random() < 0.5:
            with suppress(psutil.NoSuchProcess):
                chance.choice(chosen).kill()
                killed += 1
        time.sleep(chance.random())
    return killed


def nothing_is_left(project) -> None:
    _, alive = psutil.wait_procs(project.processes(), timeout=30)
    assert not alive
    assert [holder_of(project.folder / "leases", f"TOY-{n}") for n in range(CARDS)] == [None] * CARDS
    assert list((project.folder / "tmp").iterdir()) == []


def test_each_case_is_accounted_for_and_nothing_is_left(project) -> None:
    env = fill(project, 1, UNITS)
    host = project.start("run", "soak-toy", "--jobs", "9", **env)
    with ThreadPoolExecutor(1) as readers:
        told = readers.submit(host.communicate)
        killed = kill_at_random(project, host, 2)
        out, err = told.result()
    assert host.returncode in {3, 4}, out[-2000:] + err
    assert killed
    evidence = read_evidence(project.folder / "out/soak-toy/a1")
    found: dict[str, list[Outcome]] = {}
    for case in evidence.cases:
        found.setdefault(case.file, []).append(case.outcome)
    faulty = {error.unit for error in evidence.report.errors}
    for unit in range(UNITS):
        name = f"test_{unit}.py"
        assert len(found.get(name, [])) == CASES or name in faulty, name
        assert not set(found.get(name, [])) & {Outcome.MISSING}
        assert Outcome.NOT_RUN not in found.get(name, []) or name in faulty
    assert len(evidence.report.workers) >= UNITS
    nothing_is_left(project)


def test_a_killed_host_leaves_nothing_running_and_no_evidence_that_could_be_believed(project) -> None:
    env = fill(project, 3, 12)
    host = project.start("run", "soak-toy", "--jobs", "4", **env)
    place = project.folder / "out/soak-toy/a1/workers"
    while len(list(place.glob("*/events.jsonl"))) < 4:
        assert host.poll() is None
    host.send_signal(signal.SIGKILL)
    host.communicate()
    nothing_is_left(project)
    with pytest.raises(Exception, match="has no manifest"):
        read_evidence(Path(project.folder / "out/soak-toy/a1"))
