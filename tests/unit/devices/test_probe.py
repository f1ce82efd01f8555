"""A probe runs in the subject's interpreter; each way in which it does not prove the device is one clear reason.

Torch is the real one where its CPU build shows the fault, else a small stand-in on the path of a real interpreter.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from ci_toolkit.devices.probe import Probe, answer_of, probe
from ci_toolkit.devices.registry import available
from ci_toolkit.errors import InfrastructureError
from ci_toolkit.model.plan import ExpectedDevice
from ci_toolkit.model.report import Device

FIRST = "8450de50-50fd-d44d-3afd-3f59a47cabaa"
SECOND = "11111111-50fd-d44d-3afd-3f59a47cabaa"
ENV = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CUDA_", "FAKE_"))}

TORCH = """
import json, os, sys, time
from types import SimpleNamespace as Namespace
plan = json.loads(os.environ["FAKE_TORCH"])
__version__ = plan.get("torch", "2.11.0")
version = Namespace(cuda=plan.get("cuda", "13.0"), hip=plan.get("hip"))
int64 = "int64"
exec(plan.get("at_import", ""))
visible = plan.get("visible", os.environ["CUDA_VISIBLE_DEVICES"].replace("GPU-", "").split(","))

class OutOfMemoryError(RuntimeError): pass

class Tensor:
    def __init__(self, numbers, where):
        kind, _, index = where.partition(":")
        self.numbers, self.device = numbers, Namespace(type=kind, index=int(index) if index else None)
        self.where = where
    def __mul__(self, other): return Tensor([n * other for n in self.numbers], self.where)
    def __add__(self, other): return Tensor([n + other for n in self.numbers], self.where)
    def sum(self): return Tensor([sum(self.numbers) + plan.get("off", 0)], self.where)
    def item(self): return self.numbers[0]

def arange(length, dtype, device):
    print("kernel on", device)
    exec(plan.get("at_kernel", ""))
    return Tensor(range(length), plan.get("falls_back_to", device))

class cuda:
    @staticmethod
    def is_available(): return True
    @staticmethod
    def init(): exec(plan.get("at_init", ""))
    @staticmethod
    def device_count(): return len(visible)
    @staticmethod
    def synchronize(ordinal): pass
    @staticmethod
    def get_device_properties(ordinal):
        major, minor = plan.get("capability", [9, 0])
        return Namespace(name="NVIDIA H200", uuid=visible[ordinal], major=major, minor=minor,
                         total_memory=150, multi_processor_count=132)
"""


def card(uuid: str = FIRST, index: int = 0) -> Device:
    return Device(index=index, module="cuda", name="NVIDIA H200", arch="sm_90", uuid=f"GPU-{uuid}", driver="470.82.01")


@pytest.fixture
def faked(tmp_path):
    """Probes cards with a stand-in for torch that follows ``plan``."""
    tmp_path.joinpath("torch.py").write_text(TORCH, encoding="utf-8")

    def run(*cards: Device, timeout_s: float = 60.0, stop=bool, **plan) -> Probe:
        env = {**ENV, "PYTHONPATH": str(tmp_path), "FAKE_TORCH": json.dumps(plan)}
        return probe("cuda", cards or (card(),), "", (), env, timeout_s, stop)

    return run


def test_the_processor_is_proven_without_torch() -> None:
    devices, _ = available(ExpectedDevice(module="cpu", count=1))
    found = probe("cpu", devices, "", ("-I", "-S"), ENV)
    assert (found.reason, found.torch) == ("", "")
    assert found.devices[0].arch == devices[0].arch
    assert found.python == ".".join(map(str, sys.version_info[:3]))
    assert found.require() is found


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_cpu_build_of_torch_is_no_cuda() -> None:
    import torch

    if torch.version.cuda:
        pytest.skip(f"this torch is built for CUDA {torch.version.cuda}")
    found = probe("cuda", [card()], "", (), ENV)
    assert found.reason == f"torch {torch.__version__} was built without CUDA"
    with pytest.raises(InfrastructureError, match=r"the probe of cuda failed: torch .* was built without CUDA"):
        found.require()


def test_an_interpreter_without_torch(tmp_path) -> None:
    venv.create(tmp_path / "empty", with_pip=False)
    python = str(tmp_path / "empty" / "bin" / "python")
    assert probe("cuda", [card()], python, (), ENV).reason == (
        f"the interpreter {python} has no torch, and a device cuda is probed with it"
    )


def test_an_interpreter_that_is_not_there() -> None:
    assert probe("cuda", [card()], "/no/such/python", (), ENV).reason == (
        "the interpreter /no/such/python can not be started: No such file or directory"
    )


def test_cards_are_proven_in_their_order(faked) -> None:
    found = faked(card(SECOND, 1), card(FIRST, 0))
    assert found.reason == ""
    assert [device.uuid for device in found.devices] == [SECOND, FIRST]
    assert (found.torch, found.runtime, found.devices[0].multiprocessors) == ("2.11.0", "13.0", 132)


OLD = "The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver."
NONE_FOUND = "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU."


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"cuda": None, "hip": "6.2"}, "torch 2.11.0 was built without CUDA, for ROCm 6.2"),
        (
            {"at_import": "raise ImportError('libcudart.so.13: cannot open shared object file')"},
            "torch can not be imported: ImportError: libcudart.so.13: cannot open shared object file",
        ),
        (
            {"at_init": f"raise RuntimeError({OLD!r})"},
            f"the driver 470.82.01 is too old for torch 2.11.0 (CUDA 13.0): {OLD}",
        ),
        ({"at_init": f"raise RuntimeError({NONE_FOUND!r})"}, f"torch 2.11.0 finds no NVIDIA driver: {NONE_FOUND}"),
        (
            {"at_init": "raise RuntimeError('No CUDA GPUs are available')"},
            f"CUDA sees no device, asked for GPU-{FIRST}: No CUDA GPUs are available",
        ),
        (
            {"at_init": "raise RuntimeError('CUDA error: system not yet initialized')"},
            "CUDA can not be used: RuntimeError: CUDA error: system not yet initialized",
        ),
        (
            {"at_kernel": "raise OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 MiB.')"},
            f"out of memory on GPU-{FIRST}: another process holds it (CUDA out of memory. Tried to allocate 2.00 MiB.)",
        ),
        (
            {"at_kernel": "raise RuntimeError('CUDA error: no kernel image is available\\nCompile with ...')"},
            f"no kernel runs on GPU-{FIRST}: CUDA error: no kernel image is available",
        ),
        ({"off": 1}, f"no kernel runs on GPU-{FIRST}: a kernel gave 6442418177 instead of 6442418176"),
        ({"falls_back_to": "cpu"}, f"no kernel runs on GPU-{FIRST}: a kernel ran on {{}} instead of cuda:0"),
        ({"visible": [SECOND]}, f"wrong device: number 0 is {SECOND}, asked for GPU-{FIRST}"),
        ({"visible": [None]}, f"wrong device: number 0 is without a UUID, asked for GPU-{FIRST}"),
        ({"visible": []}, "1 devices were asked for, 0 are visible"),
        ({"visible": [FIRST, SECOND]}, f"1 devices were asked for, 2 are visible ({FIRST}, {SECOND})"),
        ({"capability": [8, 0]}, "wrong device: number 0 is NVIDIA H200 of sm_80, asked for sm_90"),
        ({"at_init": "os.abort()"}, "it was ended by SIGABRT: kept for the log"),
        ({"at_init": "os._exit(0)"}, "{python} printed no answer: kept for the log"),
        ({"at_init": "os._exit(7)"}, "it ended with status 7: kept for the log"),
        ({"at_init": "raise SystemExit('bye')"}, "CUDA can not be used: SystemExit: bye"),
    ],
)
def test_what_is_no_proof(faked, plan: dict, reason: str) -> None:
    plan.setdefault("at_import", "print('kept for the log', file=sys.stderr, flush=True)")
    found = faked(**plan)
    where = "namespace(type='cpu', index=None)"
    assert found.reason == reason.replace("{python}", sys.executable).replace("{}", where)
    assert len(found.reason.splitlines()) == 1


def test_no_kernel_runs_on_a_card_that_was_not_asked_for(faked, tmp_path) -> None:
    file = tmp_path / "ran"
    found = faked(visible=[FIRST, SECOND], at_kernel=f"open({str(file)!r}, 'w')")
    assert "2 are visible" in found.reason
    assert not file.exists()


def test_the_order_counts(faked) -> None:
    assert faked(card(FIRST), card(SECOND, 1), visible=[SECOND, FIRST]).reason == (
        f"wrong device: number 0 is {SECOND}, asked for GPU-{FIRST}"
    )


def test_noise_around_the_answer_changes_nothing(faked) -> None:
    noise = "import atexit; print('{\"schema\": \"probe/1\"}'); sys.stdout.write('no newline')\n"
    assert faked(at_import=noise + "atexit.register(print, 'goodbye {')").reason == ""


def test_a_crash_after_the_answer_beats_it(faked) -> None:
    assert faked(at_import="import atexit; atexit.register(os.abort)").reason == "it was ended by SIGABRT"


def test_a_hang_is_ended(faked) -> None:
    assert faked(at_init="time.sleep(600)", timeout_s=2.0).reason == "it gave no answer in 2 s"
    assert faked(at_init="time.sleep(600)", stop=lambda: True).reason == "it was stopped"


def test_a_device_of_a_package_has_no_probe_yet() -> None:
    assert probe("musa", [], "", (), ENV).reason == "this version has no module for device musa"


def test_a_device_without_a_uuid_can_not_be_asked_for() -> None:
    nameless = Device(index=0, module="cuda", name="x")
    assert probe("cuda", [nameless], "", (), ENV).reason == "device 0 has no UUID to be named by"


def test_the_last_answer_counts_and_garbage_is_none() -> None:
    answer = {"schema": "probe/1", "device": "cpu", "host": "h", "python": "3", "devices": []}
    text = "\n".join(
        [json.dumps({**answer, "host": "first"}), json.dumps(answer), '"probe/1"', '{"schema": "probe/1"}']
    )
    found = answer_of(text)
    assert found is not None
    assert found.host == "h"
    for garbage in ("", "probe/1", "[" * 100_000 + "probe/1", '["probe/1"]', '{"schema": "probe/1", "devices": 3}'):
        assert answer_of(garbage) is None


def interpreter(version: str) -> str:
    """A CPython of that version which really starts, on the path or under pyenv; empty when there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv")))
    for place in [shutil.which(f"python{version}"), *map(str, pyenv.glob(f"versions/{version}.*/bin/python"))]:
        if place and not subprocess.run([place, "-c", ""], capture_output=True, check=False).returncode:
            return place
    return ""


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.14"])
def test_other_interpreters(version: str) -> None:
    python = interpreter(version)
    if not python:
        pytest.skip(f"no Python {version} on this machine")
    devices, _ = available(ExpectedDevice(module="cpu", count=1))
    assert probe("cpu", devices, python, (), ENV).python.startswith(version)
