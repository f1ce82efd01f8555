"""Limits of time and memory hold without the worker's help, and name the culprit."""

import time

from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

NATIVE_HANG = """
    import ctypes
    def the_culprit():
        process = ctypes.PyDLL(None)
        mutex = ctypes.create_string_buffer(256)
        process.pthread_mutex_init(mutex, None)
        process.pthread_mutex_lock(mutex)
        process.pthread_mutex_lock(mutex)
"""

CASES = """
    import time
    def cases(events, seconds_of_teardown):
        for name in ("first", "second"):
            events.emit("start", id=name)
            events.emit("phase", id=name, when="setup", outcome="passed")
            events.emit("phase", id=name, when="call", outcome="passed")
            if name == "second":
                time.sleep(seconds_of_teardown)
            events.emit("finish", id=name)
"""
"""Cases of a program that speaks for itself: what a runner of tests would emit."""


def test_a_hang_in_native_code_is_ended_with_its_stack(bench):
    ended = bench.run(NATIVE_HANG + "    the_culprit()\n", unit_s=1.0)
    assert (ended.worker.end, ended.error) == (WorkerEnd.TIMEOUT, ErrorKind.WORKER_TIMEOUT)
    assert ended.message == "the unit ran longer than its limit of 1 s, in case unit_1.py"
    assert ended.timed_out_case == "unit_1.py"
    assert "the_culprit" in bench.stderr()


def test_stacks_of_all_threads_are_written(bench):
    bench.run(
        """
        import threading
        def the_waiting_thread():
            threading.Event().wait()
        threading.Thread(target=the_waiting_thread).start()
        """,
        unit_s=1.0,
    )
    assert "the_waiting_thread" in bench.stderr()


def test_a_worker_that_ignores_every_signal_is_killed(bench):
    ended = bench.run(
        """
        import signal, time
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)
        """,
        unit_s=0.5,
        grace_s=0.3,
    )
    assert (ended.worker.end, ended.worker.signal) == (WorkerEnd.TIMEOUT, "SIGKILL")


def test_a_stopped_worker_is_ended(bench):
    ended = bench.run("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", unit_s=0.5, grace_s=0.3)
    assert ended.worker.end is WorkerEnd.TIMEOUT


def test_a_worker_may_clean_up_within_its_grace(bench):
    ended = bench.run(
        """
        import signal, sys, time
        def leave(number, frame):
            print("cleaned up", flush=True)
            sys.exit(4)
        signal.signal(signal.SIGTERM, leave)
        time.sleep(600)
        """,
        unit_s=0.5,
        grace_s=30.0,
    )
    assert (ended.worker.end, ended.worker.exit_code) == (WorkerEnd.TIMEOUT, 4)
    assert bench.stdout() == b"cleaned up\n"


def test_a_case_has_its_own_limit_and_teardown_counts(bench):
    ended = bench.run(CASES + "    cases(events, 600)\n", case_s=1.0, speaks=True)
    assert ended.worker.end is WorkerEnd.TIMEOUT
    assert ended.message == "case second ran longer than its limit of 1 s, in its teardown"
    assert ended.timed_out_case == "second"


def test_time_between_cases_counts_for_no_case(bench):
    ended = bench.run(
        CASES
        + """
    cases(events, 0)
    time.sleep(1.0)
    cases(events, 0)
    events.emit("start", id="unit_1.py")
""",
        case_s=0.8,
        speaks=True,
    )
    assert ended.worker.end is WorkerEnd.COMPLETED


def test_no_limit_strikes_while_the_host_is_busy(bench):
    """What waits to be read is read before a case is judged by the clock."""

    def slow(job, message):
        if message.get("id") == "first" and message["e"] == "start":
            (bench.folder / "busy").touch()
            while bench.events()[-1]["e"] != "bye":
                time.sleep(0.02)
            time.sleep(0.5)

    job = bench.job(
        """
        import os, time
        events.emit("start", id="first")
        while not os.path.exists("busy"):
            time.sleep(0.01)
        events.emit("finish", id="first")
        """,
        case_s=0.4,
        speaks=True,
    )
    (ended,) = run_jobs(in_order([job]), 1, Stop(), slow)
    assert ended.worker.end is WorkerEnd.COMPLETED


def test_a_flood_of_messages_delays_no_limit(bench):
    ended = bench.run("import os\nwhile True: os.write(channel, b'{}\\n' * 10000)", unit_s=1.0, speaks=True)
    assert ended.worker.end is WorkerEnd.TIMEOUT
    assert ended.strangers > 10000


def test_an_end_at_exit_is_inside_the_limit_of_the_unit(bench):
    ended = bench.run("import atexit, time; atexit.register(time.sleep, 600)", unit_s=1.0)
    assert ended.worker.end is WorkerEnd.TIMEOUT
    assert ended.message == "the unit ran longer than its limit of 1 s"


def test_memory_is_bounded(bench):
    ended = bench.run("bytearray(4 << 30)", memory_bytes=1 << 30)
    assert ended.worker.end is WorkerEnd.CRASHED
    assert "MemoryError" in bench.stderr()


def test_the_limit_of_one_worker_leaves_its_neighbour_alone(bench):
    jobs = [
        bench.job("import time; time.sleep(600)", number=1, unit_s=0.5),
        bench.job("import time; time.sleep(1.5); print('done')", number=2),
    ]
    ends = {ended.job.number: ended.worker.end for ended in run_jobs(in_order(jobs), 2, Stop(), bench.observe)}
    assert ends == {1: WorkerEnd.TIMEOUT, 2: WorkerEnd.COMPLETED}
