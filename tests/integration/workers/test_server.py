"""Fork servers: what a fork must not share with its server or its sisters, and what makes one fall back, aloud."""

import dataclasses
import json
import os
import signal
import sys
import textwrap
from pathlib import Path

import msgspec
import psutil
import pytest

from ci_toolkit.model.report import WorkerEnd
from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.server import key_of
from ci_toolkit.workers.stop import Stop

pytestmark = pytest.mark.parametrize("bench", ["fork"], indirect=True)


def asked(job, **request):
    return dataclasses.replace(job, request=msgspec.structs.replace(job.request, **request))


def run(bench, *jobs, slots=1, observe=None):
    return list(run_jobs(in_order(jobs), slots, Stop(), observe or bench.observe))


def fallbacks(bench):
    return [message["message"] for message in bench.messages if message["e"] == "fallback"]


def servers():
    return [
        process
        for process in psutil.Process().children()
        if process.status() != psutil.STATUS_ZOMBIE and process.cmdline()[-2:-1] == ["server"]
    ]


def test_a_worker_is_a_fork_and_the_server_ends_with_the_run(bench):
    (ended,) = run(bench, bench.job("import sys; print(sys.argv[1:], len(sys.modules))"))
    assert (ended.worker.start_mode, ended.worker.start_requested, ended.worker.fallback) == ("fork", "fork", "")
    assert ended.worker.end is WorkerEnd.COMPLETED
    assert not servers()


def test_two_forks_draw_different_numbers_and_the_same_unit_draws_the_same(bench):
    draw = "import random, numpy; print(random.random(), numpy.random.rand())"
    jobs = [asked(bench.job(draw, number=number), preload=("numpy",)) for number in (1, 2, 3)]
    jobs[2] = asked(jobs[2], unit=jobs[0].request.unit)
    run(bench, *jobs)
    first, second, third = (bench.stdout(number).split() for number in (1, 2, 3))
    assert not set(first) & set(second)
    assert first == third


def test_torch_is_reseeded(bench):
    pytest.importorskip("torch")
    draw = "import torch; print(torch.rand(1).item())"
    jobs = [asked(bench.job(draw, number=number), preload=("torch",)) for number in (1, 2)]
    assert [ended.worker.start_mode for ended in run(bench, *jobs)] == ["fork", "fork"]
    assert bench.stdout(1) != bench.stdout(2)


THREADS = """
    import json, os, numpy
    count = lambda: len(os.listdir("/proc/self/task"))
    before = count()
    a = numpy.ones((1500, 1500))
    a @ a
    torch = sys.modules.get("torch")
    print(json.dumps([count(), torch.get_num_threads() if torch else 0]))
"""


@pytest.mark.parametrize("limit", ["", "1", "2"])
def test_a_fork_has_the_threads_of_a_fresh_interpreter(bench, limit):
    settings = {"OMP_NUM_THREADS": limit} if limit else {}
    body = "import sys, numpy, torch\n" + textwrap.dedent(THREADS)
    jobs = [asked(bench.job(body, number=n, settings=settings), preload=("numpy", "torch")) for n in (1, 2)]
    jobs[1] = asked(jobs[1], start="spawn")
    assert [ended.worker.start_mode for ended in run(bench, *jobs)] == ["fork", "spawn"]
    assert json.loads(bench.stdout(1)) == json.loads(bench.stdout(2))


def test_a_library_that_keeps_its_threads_is_held_at_one_and_its_forks_get_theirs_back(bench):
    greedy = """
        import os, threading, time
        if os.environ.get("OMP_NUM_THREADS") != "1":
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    """
    settings = {**module(bench, textwrap.dedent(greedy))["settings"], "OMP_NUM_THREADS": "2"}
    body = "import sys, numpy, torch\n" + textwrap.dedent(THREADS)
    job = asked(bench.job(body, settings=settings), preload=("preloaded", "numpy", "torch"))
    (ended,) = run(bench, job)
    assert (ended.worker.start_mode, ended.worker.fallback) == ("fork", "")
    assert json.loads(bench.stdout())[1] == min(2, len(os.sched_getaffinity(0)))


def test_no_descriptor_of_server_keeper_or_host_is_inherited(bench):
    look = """
        import json, os
        found = {}
        for name in os.listdir("/proc/self/fd"):
            try:
                found[int(name)] = os.readlink("/proc/self/fd/" + name)
            except FileNotFoundError:
                pass
        print(json.dumps(found))
    """
    run(bench, bench.job(look))
    found = json.loads(bench.stdout())
    sockets = [place for place in found.values() if place.startswith("socket:")]
    assert len(sockets) == 1, found
    others = {place for place in found.values() if not place.startswith((str(bench.folder), "socket:", "/proc/"))}
    assert others <= {"/dev/null"}


def test_environment_and_temporary_folder_are_the_workers_own(bench):
    look = "import os, tempfile; print(os.environ['TMPDIR'], tempfile.gettempdir(), os.environ.get('OMP_NUM_THREADS'))"
    jobs = [bench.job(look, number=number) for number in (1, 2)]
    run(bench, *jobs)
    for job in jobs:
        assert bench.stdout(job.number).decode().split() == [job.request.temporary, job.request.temporary, "None"]


def test_what_is_read_at_exec_makes_another_server(bench):
    one, two = bench.job("pass"), bench.job("pass", number=2, settings={"LD_LIBRARY_PATH": "/nowhere"})
    assert key_of(one.request) != key_of(two.request)
    mask = "CUDA_VISIBLE_DEVICES"
    masked = asked(bench.job("pass", number=3, settings={mask: "7"}), masked=(mask,))
    assert key_of(masked.request) == key_of(one.request)
    for job in (one, two, masked):
        Path(job.request.temporary).rmdir()
    look = "import os; print(os.environ.get('LD_LIBRARY_PATH'))"
    jobs = [bench.job(look, number=4), bench.job(look, number=5, settings={"LD_LIBRARY_PATH": "/nowhere"})]
    run(bench, *jobs)
    assert bench.stdout(5) == b"/nowhere\n"


def module(bench, text):
    folder = bench.folder / "preloads"
    folder.mkdir(exist_ok=True)
    (folder / "preloaded.py").write_text(text, encoding="utf-8")
    return {"settings": {"PYTHONPATH": str(folder)}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
            "the server has 2 threads, and a fork would have one",
        ),
        ("raise RuntimeError('no driver')\n", "it can not be prepared: RuntimeError: no driver"),
        ("import os\nos.abort()\n", "it did not get ready: it ended"),
        ("import os\nos._exit(0)\n", "it did not get ready: it ended"),
    ],
    ids=["thread", "raises", "aborts", "exits"],
)
def test_a_server_that_breaks_the_rules_falls_back_to_fresh_workers_aloud(bench, text, said):
    jobs = [
        asked(bench.job("print('ran')", number=number, **module(bench, text)), preload=("preloaded",))
        for number in (1, 2)
    ]
    ended = run(bench, *jobs)
    assert [one.worker.end for one in ended] == [WorkerEnd.COMPLETED] * 2
    assert [one.worker.start_mode for one in ended] == ["spawn", "spawn"]
    assert [one.worker.fallback for one in ended] == [said, said]
    assert fallbacks(bench) == [said, said]
    assert bench.stdout(2) == b"ran\n"


def test_a_subject_that_preload_does_not_name_is_not_shared(bench):
    settings = module(bench, "import json.tool\n")
    job = asked(bench.job("pass", options={"subject": ["json"]}, **settings), preload=("preloaded",))
    (ended,) = run(bench, job)
    assert ended.worker.fallback == "the server has imported the subject (json), which 'preload' does not name"
    named = asked(bench.job("pass", number=2, options={"subject": ["json"]}, **settings), preload=("preloaded", "json"))
    (ended,) = run(bench, named)
    assert ended.worker.start_mode == "fork"


def test_a_server_that_is_killed_is_started_again_and_its_workers_go_on(bench):
    killed = []

    def kill_once(job, message):
        bench.observe(job, message)
        if message["e"] == "hello" and not killed:
            (server,) = servers()
            killed.append(server)
            server.send_signal(signal.SIGKILL)
            server.wait()

    jobs = [bench.job("import time; time.sleep(0.2); print('done')", number=number) for number in (1, 2, 3)]
    ended = run(bench, *jobs, observe=kill_once)
    assert [one.worker.end for one in ended] == [WorkerEnd.COMPLETED] * 3
    assert [one.worker.start_mode for one in ended] == ["fork"] * 3
    assert bench.stdout(1) == b"done\n"
    assert not servers()


def test_a_server_that_is_killed_again_and_again_is_given_up(bench):
    def kill(job, message):
        bench.observe(job, message)
        if message["e"] == "hello":
            for server in servers():
                server.kill()
                server.wait()

    ended = run(bench, *(bench.job("pass", number=number) for number in range(1, 7)), observe=kill)
    assert [one.worker.end for one in ended] == [WorkerEnd.COMPLETED] * 6
    assert [one.worker.start_mode for one in ended] == ["fork"] * 3 + ["spawn"] * 3
    assert "the fork server was lost 3 times" in ended[-1].worker.fallback


def test_keeper_and_worker_die_with_the_host(bench, tmp_path):
    import subprocess

    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        from conftest import Bench
        bench = Bench(Path({str(tmp_path / "inner")!r}), "fork", {bench.mark!r})
        bench.folder.mkdir()
        bench.run("import time; print('up', flush=True); open({str(tmp_path / "up")!r}, 'w').close(); time.sleep(600)")
    """)
    host = subprocess.Popen([sys.executable, "-c", script], env=os.environ | {"CT_TEST_MARK": bench.mark})
    while not (tmp_path / "up").exists():
        assert host.poll() is None
    there = bench.processes()
    assert len(there) >= 4  # host, server, keeper, worker
    host.kill()
    host.wait()
    _, alive = psutil.wait_procs(there, timeout=30)
    assert not alive
