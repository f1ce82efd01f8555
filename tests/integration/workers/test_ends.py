"""How a worker ended is told truly, and its whole process tree ends with it."""

from pathlib import Path

import pytest

from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

ORPHAN = """
    import os, signal, sys, time
    ready, started = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.write(started, b"x")
            time.sleep(600)
        os._exit(0)
    os.wait()
    os.read(ready, 1)
    print("orphan is up", flush=True)
"""


def descriptors():
    return sorted(entry.name for entry in Path("/proc/self/fd").iterdir())


def test_a_program_that_ends_well(bench):
    ended = bench.run("print('fine')")
    assert (ended.worker.end, ended.message, ended.error, ended.faults) == (WorkerEnd.COMPLETED, "", None, ())
    assert ended.worker.exit_code == 0
    assert ended.worker.containment == "keeper"
    assert ended.worker.seconds > 0
    assert ended.worker.started
    assert bench.stdout() == b"fine\n"
    assert [event["e"] for event in bench.events()] == [
        "hello",
        "cases",
        "collected",
        "start",
        "phase",
        "finish",
        "end",
        "bye",
    ]
    assert [message["e"] for message in bench.messages] == ["hello", "start", "phase", "finish", "bye"]


def test_the_true_exit_status_is_kept(bench):
    ended = bench.run("import sys; sys.exit(7)")
    assert (ended.worker.end, ended.worker.exit_code) == (WorkerEnd.COMPLETED, 7)


def test_a_segfault_is_named_and_its_stack_kept(bench):
    ended = bench.run("""
        import ctypes
        def the_culprit():
            ctypes.string_at(0)
        the_culprit()
    """)
    assert (ended.worker.end, ended.worker.signal, ended.worker.exit_code) == (WorkerEnd.CRASHED, "SIGSEGV", None)
    assert (ended.message, ended.error) == ("ended by SIGSEGV", ErrorKind.WORKER_CRASHED)
    assert "the_culprit" in bench.stderr()


def test_no_core_file_is_left(bench):
    bench.run("import resource; print(resource.getrlimit(resource.RLIMIT_CORE)[0])")
    assert bench.stdout() == b"0\n"


def test_an_exit_with_success_but_without_final_report_is_a_crash(bench):
    ended = bench.run("import os; os._exit(0)")
    assert (ended.worker.end, ended.worker.exit_code) == (WorkerEnd.CRASHED, 0)
    assert ended.message == "exited with status 0 without its final report"
    assert ended.error is ErrorKind.NO_FINAL_REPORT


def test_an_uncaught_exception_is_a_crash_with_its_traceback(bench):
    ended = bench.run("raise ValueError('what a pity')")
    assert ended.worker.end is WorkerEnd.CRASHED
    assert ended.message == "exited with status 1 without its final report"
    assert "what a pity" in bench.stderr()


def test_a_crash_at_exit_after_the_final_report_is_a_crash(bench):
    ended = bench.run("import atexit, ctypes; atexit.register(ctypes.string_at, 0)")
    assert bench.events()[-1]["e"] == "bye"
    assert ended.worker.end is WorkerEnd.CRASHED
    assert ended.message == "ended by SIGSEGV after its final report"


def test_a_status_that_disagrees_with_the_final_report_is_a_crash(bench):
    ended = bench.run("import atexit, os; atexit.register(os._exit, 3)")
    assert ended.worker.end is WorkerEnd.CRASHED
    assert ended.message == "exited with status 3, its final report says 0"
    assert ended.error is ErrorKind.EXIT_DISAGREES


def test_an_orphan_that_ignores_signals_and_holds_the_output_ends_with_the_worker(bench):
    ended = bench.run(ORPHAN)
    assert ended.worker.end is WorkerEnd.COMPLETED
    assert ended.worker.leftovers == 1
    assert bench.processes() == []
    assert bench.stdout() == b"orphan is up\n"


def test_a_crash_takes_its_orphans_along(bench):
    ended = bench.run(ORPHAN + "    os.abort()\n")
    assert ended.message == "ended by SIGABRT"
    assert bench.processes() == []


def test_children_that_fork_on_and_on_all_end(bench):
    ended = bench.run("""
        import os, time
        ready, started = os.pipe()
        if os.fork() == 0:
            os.setsid()
            for generation in range(2000):
                if os.fork():
                    os._exit(0)
                if generation == 50:
                    os.write(started, b"x")
                time.sleep(0.001)
            time.sleep(600)
        os.read(ready, 1)
    """)
    assert ended.worker.end is WorkerEnd.COMPLETED
    assert ended.worker.leftovers >= 1
    assert bench.processes() == []


def test_helpers_that_end_by_themselves_are_no_leftovers(bench):
    ended = bench.run("""
        from multiprocessing import shared_memory
        memory = shared_memory.SharedMemory(create=True, size=4096)
        print(memory.name)
    """)
    assert (ended.worker.end, ended.worker.leftovers) == (WorkerEnd.COMPLETED, 0)
    assert not (Path("/dev/shm") / bench.stdout().decode().strip()).exists()


def test_a_worker_that_kills_its_keeper_dies_with_it(bench):
    ended = bench.run("""
        import os, signal, subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()
    """)
    assert ended.worker.end is WorkerEnd.CRASHED
    assert ended.message == "its keeper was ended from outside, so what became of it is unknown"


@pytest.mark.parametrize(
    ("details", "message"),
    [
        (
            {"interpreter": "/nowhere/python"},
            "the interpreter /nowhere/python can not be started: No such file or directory",
        ),
        ({"cwd": "/nowhere"}, "the working directory /nowhere can not be entered: No such file or directory"),
        ({"interpreter": "/"}, "the interpreter / can not be started: Permission denied"),
    ],
)
def test_what_can_not_start_says_why_in_one_line(bench, details, message):
    ended = bench.run("print('never')", **details)
    assert (ended.worker.end, ended.message, ended.error) == (WorkerEnd.NOT_STARTED, message, ErrorKind.INFRA)
    assert not Path(ended.job.request.temporary).exists()


def test_a_folder_that_is_not_empty_is_refused(bench):
    job = bench.job("print('never')")
    (job.folder / "stdout.log").write_text("of an earlier run")
    (ended,) = run_jobs(in_order([job]), 1, Stop(), bench.observe)
    assert ended.worker.end is WorkerEnd.NOT_STARTED
    assert "stdout.log" in ended.message
    assert bench.stdout() == b"of an earlier run"


def test_the_temporary_folder_goes_whatever_its_permissions(bench):
    ended = bench.run("""
        import os, tempfile
        folder = tempfile.mkdtemp()
        os.makedirs(folder + "/a/b")
        open(folder + "/a/b/file", "w").close()
        os.symlink("/etc", folder + "/a/link")
        os.chmod(folder + "/a/b", 0)
        os.chmod(folder + "/a", 0o500)
        print(folder)
    """)
    folder = Path(bench.stdout().decode().strip())
    assert folder.parent == Path(ended.job.request.temporary)
    assert not folder.parent.exists()
    assert Path("/etc/passwd").exists()


def test_many_workers_side_by_side_leak_no_descriptor(bench):
    jobs = (bench.job(f"import sys; sys.exit({number % 5})", number=number) for number in range(1, 51))
    before = descriptors()
    seen = {ended.job.number: ended for ended in run_jobs(in_order(jobs), 4, Stop(), bench.observe)}
    assert descriptors() == before
    assert sorted(seen) == list(range(1, 51))
    for number, ended in seen.items():
        assert (ended.worker.end, ended.worker.exit_code) == (WorkerEnd.COMPLETED, number % 5)


def test_a_deep_folder_is_no_trouble(bench):
    bench.folder = bench.folder / ("deep" * 40) / ("er" * 90)
    assert bench.run("print('here')").worker.end is WorkerEnd.COMPLETED


def test_a_worker_inherits_no_descriptor_but_its_channel(bench):
    bench.run("""
        import os, subprocess
        print(sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name)
                     and "pipe" not in os.readlink("/proc/self/fd/" + name))[:3])
        print(subprocess.check_output(["ls", "/proc/self/fd"]).split())
    """)
    own, inherited = bench.stdout().decode().splitlines()
    assert own == "[0, 1, 2]"
    assert len(eval(inherited)) == 4  # 0, 1, 2, and the folder that ls reads


def test_standard_input_is_empty_and_signals_are_as_at_login(bench):
    bench.run("""
        import signal, sys
        print(repr(sys.stdin.read()))
        ignored = [number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN]
        print(sorted(signal.Signals(number).name for number in ignored))
        print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    """)
    assert bench.stdout().decode().splitlines() == ["''", "['SIGPIPE', 'SIGXFSZ']", "set()"]


@pytest.mark.parametrize("bench", ["spawn"], indirect=True)
def test_a_keeper_that_can_not_be_started_says_why(bench, monkeypatch):
    monkeypatch.setattr("ci_toolkit.workers.keeper.COMMAND", ("/nowhere/python",))
    ended = bench.run("print('never')")
    assert ended.worker.end is WorkerEnd.NOT_STARTED
    assert ended.message == "its keeper can not be started: No such file or directory"
    assert not Path(ended.job.request.temporary).exists()
