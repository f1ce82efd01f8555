"""The subject is built once, handed on by digest, and what a lane tests is proven to be that build."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = """
from setuptools import setup
setup(name="small-ops", version="1.0", py_modules=["small_ops"], options={"egg_info": {"egg_base": "."}})
"""
PIP = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
SUITES = "schema: suites/1\nsuites: {ops: {platforms: [cpu], root: {path: tests}, subject: [small-ops]}}\n"
TESTS = "import small_ops\ndef test(): assert small_ops.ANSWER == 42\n"
COMMAND = """\
import os, subprocess, sys
out = os.environ["CI_TOOLKIT_BUILD_OUT"]
pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
sys.exit(subprocess.call([*pip, "-w", out, "."], stdin=subprocess.DEVNULL))
"""


class Fleet:
    """The jobs of one workflow run; each command is a step of a job of its own."""

    def __init__(self, project) -> None:
        self.project = project
        self.folder: Path = project.folder
        self.site = self.folder / "site"
        project.write("setup.py", SETUP)
        project.write("small_ops.py", "ANSWER = 42\n")
        project.write("tests/test_ops.py", TESTS)
        project.write("conf/suites.yml", SUITES)
        cpu = f"device: cpu, runs_on: [x], build: wheel, env: {{PYTHONPATH: {self.site}}}"
        more = "env_allow: [CI_TOOLKIT_TEST_MARKER]"
        project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms: {{cpu: {{{cpu}, {more}}}}}\n")
        self.build_is(COMMAND)

    def build_is(self, text: str, timeout: str = "5m") -> None:
        self.project.write("build.py", text)
        run = json.dumps([sys.executable, "build.py"])
        conf = f"schema: builds/1\nbuilds: {{wheel: {{run: {run}, runs_on: [x], timeout: {timeout}}}}}\n"
        self.project.write("conf/builds.yml", conf)

    def step(self, *args: str, attempt: int = 1, **env: str) -> subprocess.CompletedProcess[str]:
        github = {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": str(attempt)}
        return self.project.toolkit(*args, **github | env)

    def plan(self) -> None:
        ran = self.step("plan", "--fleet", "--event", "schedule", "--out", "plan")
        assert ran.returncode == 0, ran.stderr

    def make(self, attempt: int = 1, **env: str) -> subprocess.CompletedProcess[str]:
        """The build's job, with both of its uploads."""
        out = f"uploads/build.hardware.wheel.a{attempt}"
        ran = self.step("builds", "make", "wheel", "--plan", "plan/plan.json", "--out", out, attempt=attempt, **env)
        told = self.folder / f"uploads/built.hardware.wheel.a{attempt}"
        if (self.folder / out / "build.json").is_file():
            told.mkdir()
            shutil.copy(self.folder / out / "build.json", told)
        return ran

    def take(self, attempt: int = 1) -> subprocess.CompletedProcess[str]:
        given = ("--plan", "plan/plan.json", "--uploads", "uploads", "--out", "taken")
        return self.step("builds", "take", "wheel", *given, attempt=attempt)

    def install(self) -> None:
        wheels = [str(wheel) for wheel in (self.folder / "taken/files").glob("*.whl")]
        pip = [*PIP, "install", "--no-index", "--no-deps", "--target", str(self.site), *wheels]
        subprocess.run(pip, check=True, stdin=subprocess.DEVNULL, env={**os.environ, "PIP_NO_COMPILE": "1"})

    def lane(self, *more: str, attempt: int = 1) -> subprocess.CompletedProcess[str]:
        out = f"uploads/evidence.hardware.ops-cpu.a{attempt}"
        given = ("--plan", "plan/plan.json", "--job", "ops-cpu", "--out", out)
        return self.step("ci", *given, *(more or ("--build", "taken")), attempt=attempt)

    def gate(self, attempt: int = 1) -> list[str]:
        """The findings' kinds and messages; none where it is green."""
        ran = self.step("gate", "--plan", "plan/plan.json", "--uploads", "uploads", "--out", "out", attempt=attempt)
        verdict = json.loads((self.folder / "out/verdict.json").read_text())
        assert ran.returncode == verdict["exit_code"]
        return [f"{one['kind']}: {one['message']}" for one in verdict["findings"]]


@pytest.fixture
def fleet(project) -> Fleet:
    return Fleet(project)


def through(fleet: Fleet) -> None:
    fleet.plan()
    for ran in (fleet.make(), fleet.take()):
        assert ran.returncode == 0, ran.stdout + ran.stderr
    fleet.install()


def test_what_was_built_once_is_what_the_lane_tests(fleet) -> None:
    through(fleet)
    ran = fleet.lane()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert fleet.gate() == []
    report = json.loads((fleet.folder / "uploads/evidence.hardware.ops-cpu.a1/ops-cpu/a1/report.json").read_text())
    built = json.loads((fleet.folder / "taken/build.json").read_text())
    assert report["provenance"]["builds"] == {"wheel": built["digest"]}
    (build,) = json.loads((fleet.folder / "plan/plan.json").read_text())["builds"]
    assert (build["id"], build["runs_on"], build["timeout_minutes"]) == ("wheel", ["x"], 15)


def test_what_is_installed_beside_the_build_is_another_build(fleet) -> None:
    through(fleet)
    (fleet.site / "small_ops.py").write_text("ANSWER = 6 * 7\n")
    assert fleet.lane().returncode == 3
    (finding,) = [one for one in fleet.gate() if one.startswith("another_build")]
    assert "the subject small-ops is not the one that was built" in finding
    assert "small_ops.py has other bytes" in finding


def test_evidence_of_a_build_that_was_made_anew_does_not_count(fleet) -> None:
    through(fleet)
    assert fleet.lane().returncode == 0
    fleet.project.write("small_ops.py", "ANSWER = 40 + 2\n")
    assert fleet.make(attempt=2).returncode == 0
    (finding,) = fleet.gate(attempt=2)
    assert finding.startswith("another_build: the evidence is of another build: wheel sha256:")


def test_the_newest_attempt_of_a_build_is_taken(fleet) -> None:
    fleet.plan()
    fleet.make()
    fleet.project.write("small_ops.py", "ANSWER = 40 + 2\n")
    fleet.make(attempt=2)
    assert fleet.take(attempt=2).returncode == 0
    fleet.install()
    assert (fleet.site / "small_ops.py").read_text() == "ANSWER = 40 + 2\n"
    assert fleet.lane(attempt=2).returncode == 0
    assert fleet.gate(attempt=2) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("print('::error::forged'); print('ops.cc:3: error: no such header'); raise SystemExit(2)", "no such header"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal 11"),
        ("pass", "it left nothing in CI_TOOLKIT_BUILD_OUT"),
        ("import os; os.symlink('/etc/passwd', os.environ['CI_TOOLKIT_BUILD_OUT'] + '/link')", "can not be handed on"),
        ("import time\nwhile True: time.sleep(1)", "took longer than 1 s"),
    ],
    ids=["exit", "signal", "nothing", "link", "timeout"],
)
def test_a_build_that_fails_is_named_with_its_reason(fleet, text: str, said: str) -> None:
    fleet.build_is(text, timeout="1s" if "time" in said or "longer" in said else "5m")
    fleet.plan()
    ran = fleet.make()
    assert ran.returncode == 1
    assert said in ran.stdout
    assert not (fleet.folder / "uploads/build.hardware.wheel.a1/files").exists()
    taken = fleet.take()
    assert taken.returncode == 3
    assert said in taken.stderr
    (finding,) = fleet.gate()
    assert finding.startswith("build_failed: the build wheel failed: ")
    assert said in finding


def test_a_runner_carries_out_no_command_that_a_build_prints(fleet) -> None:
    fleet.build_is("print('::set-output name=result::passed')\nraise SystemExit('::error::forged')")
    fleet.plan()
    lines = fleet.make().stdout.splitlines()
    mark = lines[0].removeprefix("::stop-commands::")
    assert len(mark) == 48
    end = lines.index(f"::{mark}::")
    assert lines.index("::set-output name=result::passed") < end
    after = [line for line in lines[end + 1 :] if line.startswith("::")]
    assert [line.partition(" ")[0] for line in after] == ["::error"], "ours alone"


def test_a_build_gets_no_token_and_no_file_of_the_runner(fleet) -> None:
    names = ["GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "ACTIONS_RUNTIME_TOKEN"]
    fleet.build_is(f"import os\nassert not set({names}) & set(os.environ), 'too much'\nprint(os.environ['KEPT'])")
    fleet.plan()
    ran = fleet.make(KEPT="as it is", **dict.fromkeys(names, "/dev/null"))
    assert "as it is" in ran.stdout
    assert "left nothing" in ran.stdout


def test_nothing_of_a_build_stays_behind(fleet) -> None:
    fleet.build_is(
        "import os, subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time\\nwhile True: time.sleep(1)'])\n"
        "open(os.environ['CI_TOOLKIT_BUILD_OUT'] + '/a', 'w').close()\n"
    )
    fleet.plan()
    assert fleet.make().returncode == 0
    assert fleet.project.processes() == []


def test_a_build_that_left_nothing_at_all_is_lost(fleet) -> None:
    fleet.plan()
    (fleet.folder / "uploads").mkdir()
    (finding,) = fleet.gate()
    assert finding.startswith("build_lost: the build wheel left nothing")


def test_a_build_that_was_changed_or_is_of_something_else_is_not_taken(fleet) -> None:
    fleet.plan()
    fleet.make()
    place = fleet.folder / "uploads/build.hardware.wheel.a1"
    (wheel,) = (place / "files").glob("*.whl")
    good, head = wheel.read_bytes(), json.loads((place / "build.json").read_text())
    wheel.write_bytes(good + b" ")
    assert "bytes, the manifest says" in fleet.take().stderr
    shutil.copytree(fleet.folder / "taken", place)
    shutil.rmtree(fleet.folder / "taken")
    wheel.write_bytes(good)
    for change in ({"commit": "c" * 40}, {"plan_digest": "0"}, {"run": "8"}):
        changed = head | {"provenance": head["provenance"] | change}
        (place / "build.json").write_text(json.dumps(changed))
        ran = fleet.take()
        assert ran.returncode == 3
        assert f"of another {next(iter(change)).partition('_')[0]}" in ran.stderr
    (place / "build.json").write_text(json.dumps(head | {"digest": "0" * 64}))
    assert "the files are not those of the build wheel" in fleet.take().stderr


def test_a_lane_of_a_build_does_not_run_without_it(fleet) -> None:
    through(fleet)
    ran = fleet.lane("--jobs", "1")
    assert ran.returncode == 2
    assert "the lanes test the build wheel, given was none" in ran.stderr


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ("builds: {whele: {run: [x]}}", "platforms.yml:2: platforms.cpu.build"),
        ("builds: {wheel: {run: []}}", "builds.wheel.run: names no command"),
        ("builds: {Wheel: {run: [x]}}", "'Wheel' is no name of a build"),
        ("builds: {wheel: {run: [x], timeout: soon}}", "builds.wheel.timeout"),
        ("builds: {wheel: {run: [x]}}", "build wheel has no runner labels"),
    ],
)
def test_conf_that_can_not_be(fleet, conf: str, said: str) -> None:
    fleet.project.write("conf/builds.yml", f"schema: builds/1\n{conf}\n")
    ran = fleet.step("plan", "--fleet", "--event", "schedule", "--out", "plan")
    assert ran.returncode == 2
    assert said in ran.stderr
