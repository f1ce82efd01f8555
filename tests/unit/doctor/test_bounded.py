"""A look into something that never answers ends in its time, with all that it started."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from ci_toolkit.doctor import bounded
from ci_toolkit.doctor.bounded import Look, look, look_all
from ci_toolkit.doctor.look_devices import Found
from ci_toolkit.model.profile import Disk
from ci_toolkit.suites.kind import Subject

DEAF = """
import signal, time
def discover():
    signal.pthread_sigmask(signal.SIG_BLOCK, list(signal.valid_signals()))
    while True:
        time.sleep(600)
def mask(devices):
    return {}
"""


def marked(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("CT_LOOK_MARK") == mark and process.pid != os.getpid():
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CT_LOOK_MARK", str(tmp_path))
    return str(tmp_path)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def test_an_answer(tmp_path: Path) -> None:
    seen = look(Look("disk", {"folder": str(tmp_path / "not/there"), "leases": False}, Disk, 60))
    assert seen.answer is not None
    assert (seen.answer.folder, seen.answer.fault) == (str(tmp_path), "")
    assert seen.answer.total_bytes >= seen.answer.free_bytes > 0


def test_a_driver_that_hangs_is_left_with_what_asked_it(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()\n"
    program(tmp_path / "bin/nvidia-smi", hangs)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/pynvml.py").write_text("raise ImportError\n")
    seen = look(Look("devices", {"module": "cuda"}, Found, 3))
    assert (seen.answer, seen.fault) == (None, "it gave no answer in 3 s")
    assert not marked(mark)


def test_an_interpreter_that_hangs(tmp_path: Path, mark: str) -> None:
    python = program(tmp_path / "bin/python", "import signal\nsignal.pause()\n")
    about = {"python": str(python), "flags": (), "allow": ("CT_LOOK_MARK",), "env": {}, "base": str(tmp_path)}
    seen = look(Look("interpreter", about, Subject, 3))
    assert (seen.answer, seen.fault) == (None, "it gave no answer in 3 s")
    assert not marked(mark)


def test_a_look_that_can_not_end_itself_is_ended(
    project, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # as one that waits for a drive or a driver in the kernel
    monkeypatch.setattr(bounded, "MARGIN_S", 0.5)
    monkeypatch.setenv("PYTHONPATH", project.register_cards(1)["PYTHONPATH"])
    project.write("plugins/toy_card.py", DEAF)
    deaf = Look("devices", {"module": "toy"}, Found, 3)
    well = Look("disk", {"folder": "/", "leases": False}, Disk, 60)
    seen, other = look_all([deaf, well])
    assert (seen.answer, seen.fault) == (None, "it gave no answer in 3 s")
    assert other.answer is not None
    assert not marked(mark)


def test_a_fault_of_the_look_itself_is_told(project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", project.register_cards(1)["PYTHONPATH"])
    project.write("plugins/toy_card.py", "def mask(devices): return {}\ndef discover(): raise OSError('no bus')\n")
    assert look(Look("devices", {"module": "toy"}, Found, 60)).fault == "it ended with status 1: OSError: no bus"
    wrong = look(Look("devices", {"module": "toyy"}, Found, 60))
    assert wrong.fault == "there is no device 'toyy'; did you mean toy?"
