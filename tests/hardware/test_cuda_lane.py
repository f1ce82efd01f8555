"""Lanes on a real NVIDIA card: what a broken context costs, and masks that show nothing or something else."""

import json
import os

import pytest

from ci_toolkit.devices.registry import available
from ci_toolkit.formats.evidence import read_evidence
from ci_toolkit.model.plan import ExpectedDevice

pytest.importorskip("torch")
DEVICES, REASON = available(ExpectedDevice(module="cuda", count=1))
pytestmark = pytest.mark.skipif(not DEVICES, reason=REASON)
MASK = "CUDA_VISIBLE_DEVICES"

WILD = """
import pytest, torch
triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

@triton.jit
def wild(place):
    tl.store(place + (1 << 36), 1.0)

def works():
    assert torch.ones(4, device="cuda").sum().item() == 4

def test_before(): works()
def test_illegal_address(): wild[(1,)](torch.zeros(1, device="cuda"))
def test_after(): works()
def test_device_assert(): torch.zeros(4, device="cuda")[torch.tensor([9], device="cuda")]
def test_last(): works()
"""


@pytest.fixture
def lane(project):
    """Runs a lane on one card, with forked workers."""

    def lane(text: str, *args: str, **env: str):
        access = f"env_allow: [CI_TOOLKIT_TEST_MARKER], lease: {{folder: {project.folder}/leases}}"
        cuda = f"{{device: cuda, count: 1, {access}}}"
        project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms: {{cuda: {cuda}}}\n")
        suite = "platforms: [cuda], root: {path: tests}, paths: [.], start: fork, preload: [torch], limits: {case: 2m}"
        project.write("conf/suites.yml", f"schema: suites/1\nsuites: {{small: {{{suite}}}}}\n")
        project.write("tests/test_a.py", text)
        return project.toolkit("ci", *args, **env)

    return lane


def test_a_broken_context_costs_its_case_only(project, lane) -> None:
    ran = lane(WILD)
    evidence = read_evidence(project.folder / "out/small-cuda/a1")
    assert [case.outcome.value for case in evidence.cases] == ["passed", "failed", "passed", "failed", "passed"], (
        ran.stdout
    )
    for case in (evidence.cases[1], evidence.cases[3]):
        assert evidence.failures[case.failures[0]].cause == "device"
    assert ran.returncode == 1
    assert {worker.start_mode for worker in evidence.report.workers} == {"fork"}
    assert {worker.devices for worker in evidence.report.workers} == {(DEVICES[0].index,)}
    assert evidence.report.devices[0].uuid == DEVICES[0].uuid
    assert project.processes() == []


@pytest.mark.parametrize("mask", ["", "GPU-00000000-0000-0000-0000-000000000000", "77"])
def test_a_mask_that_shows_no_such_card_is_infrastructure(project, lane, mask: str) -> None:
    ran = lane("def test_one(): pass\n", "--only", "small-cuda", **{MASK: mask})
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert MASK in ran.stdout


def test_a_test_that_shows_itself_nothing_is_no_pass_elsewhere(project, lane) -> None:
    """A worker is shown its card by its hardware id, whatever the suite's own environment says."""
    seen = f"import os, torch\ndef test_one(): assert os.environ[{MASK!r}] == {DEVICES[0].uuid if DEVICES else ''!r}\n"
    ran = lane(seen)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_card_in_use_by_a_stranger_is_waited_for_and_then_infrastructure(project, lane) -> None:
    import subprocess
    import sys

    hold = "import torch; x = torch.ones(1, device='cuda'); print('up', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as stranger:
        assert stranger.stdout is not None
        assert stranger.stdout.readline() == "up\n"
        project.write("tests/test_a.py", "def test_one(): pass\n")
        lane("def test_one(): pass\n", "--only", "nothing")
        platforms = project.folder / "conf/platforms.yml"
        text = platforms.read_text(encoding="utf-8")
        platforms.write_text(
            text.replace("count: 1", "count: 1, admission: {foreign: wait, wait: 1s}"), encoding="utf-8"
        )
        ran = project.toolkit("ci")
        stranger.communicate("\n")
    found = json.loads((project.folder / "out/verdict.json").read_text(encoding="utf-8"))
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert "is in use by" in found["findings"][0]["message"]
