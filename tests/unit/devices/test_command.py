"""A short program is bounded in time and output, and nothing of its group stays behind."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from ci_toolkit.devices import command
from ci_toolkit.devices.command import Cut, run_command


def python(body: str, timeout_s: float = 60.0, **rest):
    return run_command([sys.executable, "-I", "-S", "-c", body], timeout_s, **rest)


def gone(file: Path) -> bool:
    pid = int(file.read_text())
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_what_a_program_says() -> None:
    done = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (done.exit_code, done.stdout, done.stderr, done.cut, done.signal_name) == (3, "out\n", "err\n", None, "")
    assert done.last_line() == "err"


def test_the_signal_that_ended_it() -> None:
    assert python("import ctypes; ctypes.string_at(0)").signal_name == "SIGSEGV"
    assert python("import os; os.kill(os.getpid(), 40)").signal_name == "signal 40"


def test_the_environment_is_the_given_one() -> None:
    assert (
        python("import os; print(sorted(os.environ))", env={"A": "1", "LC_CTYPE": "C.UTF-8"}).stdout
        == "['A', 'LC_CTYPE']\n"
    )


GRANDCHILD = """
import os, pathlib, signal, sys, time
reader, writer = os.pipe()
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pathlib.Path({file!r}).write_text(str(os.getpid()))
    os.write(writer, b"x")
    time.sleep(600)
os.read(reader, 1)
{rest}
"""


@pytest.mark.parametrize(("rest", "cut"), [("sys.exit(0)", None), ("time.sleep(600)", Cut.TIMEOUT)])
def test_a_grandchild_that_holds_the_output_and_ignores_signals_goes_too(tmp_path, rest: str, cut: Cut | None) -> None:
    file = tmp_path / "pid"
    done = python(GRANDCHILD.format(file=str(file), rest=rest), timeout_s=2.0 if cut else 60.0)
    assert done.cut is cut
    assert done.exit_code == (-9 if cut else 0)
    until = time.monotonic() + 10
    while not gone(file) and time.monotonic() < until:
        time.sleep(0.01)
    assert gone(file)


def test_a_flood_is_ended(monkeypatch) -> None:
    monkeypatch.setattr(command, "OUTPUT_BYTES", 1 << 20)
    done = python("while True: print('x' * 1000)")
    assert done.cut is Cut.OUTPUT
    assert len(done.stdout) <= command.KEPT_BYTES


def test_a_stop_ends_it() -> None:
    assert python("import time; time.sleep(600)", stop=lambda: True).cut is Cut.STOPPED


def test_an_error_in_the_host_leaves_no_process(tmp_path) -> None:
    file = tmp_path / "pid"

    def stop() -> bool:
        if file.exists() and file.read_text():
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        python(
            f"import os, pathlib, time; pathlib.Path({str(file)!r}).write_text(str(os.getpid())); time.sleep(600)",
            stop=stop,
        )
    assert not psutil.pid_exists(int(file.read_text()))


def test_what_can_not_be_started_raises() -> None:
    with pytest.raises(FileNotFoundError):
        run_command(["/no/such/program"], 1.0)
