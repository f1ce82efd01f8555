"""What can go wrong between a plan and a verdict: each is red in the gate, by a finding of its own kind."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from workflows.artifacts import Artifact
from workflows.consumer import Consumer

pytestmark = pytest.mark.xdist_group("act")

PLATFORMS = """
schema: platforms/1
platforms:
  cpu: {device: cpu, runs_on: [self-hosted, cpu]}
  two: {device: toy, count: 2, runs_on: [self-hosted, toy]}
  toy: {device: toy, runs_on: [self-hosted, toy]}
"""
GREEN = "def test(): pass\n"
SIGNAL = """
import signal
import psutil

def test():
    [toolkit] = [p for p in psutil.Process().parents() if "bin/ci-toolkit" in " ".join(p.cmdline())]
    toolkit.send_signal(signal.{name})
    while True:
        signal.pause()
"""
SUITES = {
    "well": GREEN,
    "red": "def test(): assert 6 * 7 == 41\n",
    "killed": SIGNAL.format(name="SIGKILL"),
    "cancelled": SIGNAL.format(name="SIGINT"),
    "skipped": "import pytest\n\ndef test(): pytest.skip('no card')\n",
    "quiet": GREEN,
    "borrowed": GREEN,
    "old": GREEN,
    "changed": GREEN,
    "built": GREEN,
}


def rewritten(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def of_another_lane(artifact: Artifact) -> None:
    def change(files: dict[str, bytes]) -> None:
        for name in list(files):
            files[name.replace("borrowed-cpu", "well-cpu")] = files.pop(name)

    artifact.data = rewritten(artifact.data, change)


def of_attempt_1(artifact: Artifact) -> None:
    artifact.name = artifact.name.replace(".a2", ".a1")


def after_its_manifest(artifact: Artifact) -> None:
    def change(files: dict[str, bytes]) -> None:
        [name] = [name for name in files if name.endswith("a2/report.json")]
        files[name] = files[name].replace(b"passed", b"xfailed")

    artifact.data = rewritten(artifact.data, change)


def of_another_build(artifact: Artifact) -> None:
    """Whole and sealed, and of a build that the plan does not know."""

    def change(files: dict[str, bytes]) -> None:
        [name] = [name for name in files if name.endswith("a2/report.json")]
        report = json.loads(files[name])
        report["provenance"]["builds"] = {"subject": "sha256:0"}
        files[name] = json.dumps(report).encode()
        seal = name.replace("report.json", "manifest.json")
        manifest = json.loads(files[seal])
        [entry] = [entry for entry in manifest["files"] if entry["path"] == "report.json"]
        entry |= {"size": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
        files[seal] = json.dumps(manifest).encode()

    artifact.data = rewritten(artifact.data, change)


FAULTS = {
    "evidence.hardware.borrowed-cpu.a2": of_another_lane,
    "evidence.hardware.old-cpu.a2": of_attempt_1,
    "evidence.hardware.changed-cpu.a2": after_its_manifest,
    "evidence.hardware.built-cpu.a2": of_another_build,
}


EXPECTED = {
    "well-cpu": set(),
    "red-cpu": {"regression"},
    "killed-cpu": {"lane_unfinished"},
    "cancelled-cpu": {"interrupted", "not_run", "too_few_passed"},
    "skipped-cpu": {"unreviewed_skip", "too_few_passed"},
    "quiet-cpu": {"no_upload"},
    "borrowed-cpu": {"another_lane"},
    "old-cpu": {"older_attempt"},
    "changed-cpu": {"tampered_evidence"},
    "built-cpu": {"another_build"},
    "few-two": {"wrong_device", "lane_empty"},
    "sick-toy": {"infrastructure", "not_run", "too_few_passed"},
}


def processes_below(folder: Path) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cwd"]) if (p.info["cwd"] or "").startswith(str(folder))]


def broken(consumer: Consumer) -> None:
    suites = [f"  {name}: {{platforms: [cpu], root: {{path: {name}}}}}" for name in SUITES]
    suites += ["  few: {platforms: [two], root: {path: well}}", "  sick: {platforms: [toy], root: {path: well}}"]
    consumer.write("conf/suites.yml", "\n".join(["schema: suites/1", "suites:", *suites, ""]))
    consumer.write("conf/platforms.yml", PLATFORMS)
    for name, text in SUITES.items():
        consumer.write(f"{name}/test_it.py", text)
    consumer.write("setup.sh", 'test "$CI_TOOLKIT_JOB" != quiet-cpu || { echo "no disk left"; exit 1; }\n')
    consumer.use("setup: setup.sh")


def test_each_fault_of_a_lane_is_red_by_its_own_kind(consumer: Consumer) -> None:
    """One matrix, in run attempt 2, whose lanes meet one fault each; the one that is well stays green."""
    broken(consumer)
    ended = consumer.run("use.yml", faults=FAULTS, GITHUB_RUN_ATTEMPT="2")
    assert ended.exit_code == 1
    assert ended.job("gate").result == "failure"
    verdict = ended.verdict
    found: dict[str, set[str]] = {lane["lane"]: set() for lane in verdict["lanes"]}
    for finding in verdict["findings"]:
        found[finding["lane"]].add(finding["kind"])
    assert found == EXPECTED, ended.log
    assert verdict["exit_code"] == 130, "the worst of them: a lane was interrupted"
    _, alive = psutil.wait_procs(processes_below(consumer.folder.parent), timeout=30)
    assert not alive, "what a killed run had started hangs for ever unless it is ended"


NO_PLAN_OUTPUT = "      digest: ${{ steps.plan.outputs.digest }}\n"
NO_MATRIX = "      matrix_0: ${{ steps.plan.outputs.matrix_0 }}\n"


def without(consumer: Consumer, line: str) -> Path:
    """A toolkit whose reusable workflow lost that output of the job that plans, as a masked word in it would do."""
    folder = consumer.temporary / "repositories/owner/toolkit@v1"
    shutil.copytree(consumer.toolkit.folder, folder)
    path = folder / ".github/workflows/hardware-matrix.yml"
    text = path.read_text(encoding="utf-8")
    assert text.count(line) == 1
    path.write_text(text.replace(line, ""), encoding="utf-8")
    return folder


def test_a_lost_matrix_is_red_though_its_jobs_are_skipped(consumer: Consumer) -> None:
    consumer.use()
    ended = consumer.run("use.yml", toolkit=without(consumer, NO_MATRIX))
    assert ended.job("gate").result == "failure"
    assert ended.findings == {("matrix_lost", f"small-{platform}") for platform in ("alpha", "beta", "gamma")}
    assert not [name for name in ended.jobs if "small" in name]


def test_lost_outputs_of_the_plan_are_red_over_green_evidence(consumer: Consumer) -> None:
    consumer.use()
    ended = consumer.run("use.yml", toolkit=without(consumer, NO_PLAN_OUTPUT))
    assert ended.job("small-alpha").result == "success"
    assert ended.job("gate").result == "failure"
    assert ended.findings == {("plan_lost", "")}


FORK = {"pull_request": {"number": 3, "head": {"sha": "0" * 40, "repo": {"full_name": "stranger/fork"}}}}


@pytest.mark.parametrize(
    ("more", "payload"), [("approve: true", None), ("", FORK)], ids=["asked for", "code of a fork"]
)
def test_lanes_that_nobody_approved_do_not_run_and_are_red(
    consumer: Consumer, more: str, payload: dict[str, Any] | None
) -> None:
    """No environment is named that could give the approval, so the lanes are skipped by their condition."""
    consumer.use(more)
    ended = consumer.run("use.yml", event="pull_request" if payload else "push", payload=payload)
    assert ended.job("approval").errors == ["this code needs an approval: name an environment with required reviewers"]
    assert not [name for name in ended.jobs if "small" in name]
    assert ended.findings == {("lane_skipped", f"small-{platform}") for platform in ("alpha", "beta", "gamma")}
