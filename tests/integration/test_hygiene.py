"""What a killed host left alive on purpose is ended by its mark, and a live run beside it is not touched."""

import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from ci_toolkit.workers.mark import VARIABLE

pytestmark = pytest.mark.xdist_group("hygiene")

OFFLINE = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null"}
DAEMON = """
import os, pathlib, signal, subprocess, sys, time
HERE = pathlib.Path(__file__).parent

def test_leaves_a_daemon():
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        bare = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], env={})
        (HERE / "new").write_text(f"{os.getpid()} {bare.pid}")
        (HERE / "new").rename(HERE / "daemon")
        while True:
            signal.pause()
    while True:
        time.sleep(600)
"""
PATIENT = """
import pathlib, time
HERE = pathlib.Path(__file__).parent

def test_waits():
    (HERE / "up").touch()
    while not (HERE / "go").exists():
        time.sleep(0.01)
"""


def other(project, tmp_path: Path):
    """A second repository, whose processes carry another marker of the tests."""
    folder = tmp_path / "beside"
    (folder / "tests").mkdir(parents=True)
    made = type(project)(folder)
    for name in ("platforms.yml", "suites.yml"):
        made.write(f"conf/{name}", (project.folder / "conf" / name).read_text(encoding="utf-8"))
    made.write("tests/test_a.py", PATIENT)
    return made


@pytest.fixture
def daemon(project) -> list[psutil.Process]:
    """Two processes that a run has left, whose host and keeper were killed at once; the second carries no mark."""
    project.write("tests/test_a.py", DAEMON)
    host = project.start("ci", GITHUB_RUN_ID="77")
    place = project.folder / "tests/daemon"
    while not place.exists():
        assert host.poll() is None
    left = [psutil.Process(int(pid)) for pid in place.read_text(encoding="utf-8").split()]
    keepers = [one for one in psutil.Process(host.pid).children() if "keeper" in one.cmdline()]
    assert keepers
    for one in keepers:
        one.send_signal(signal.SIGSTOP)
    host.kill()
    for one in keepers:
        one.kill()
    host.communicate()
    assert all(one.is_running() for one in left)
    return left


def test_what_a_killed_host_left_is_ended_and_a_live_run_is_not_touched(project, daemon, tmp_path: Path) -> None:
    beside = other(project, tmp_path)
    live = beside.start("ci")
    while not (beside.folder / "tests/up").exists():
        assert live.poll() is None
    stranger = psutil.Popen(["sleep", "600"], env={VARIABLE: "no mark", "CI_TOOLKIT_TEST_MARKER": project.marker})
    before = {one.pid for one in beside.processes()}

    told = project.toolkit("doctor", "--json", **OFFLINE)
    (found,) = [one for one in json.loads(told.stdout)["checks"] if one["name"] == "left by earlier runs"]
    assert (told.returncode, found["result"], found["advice"]) == (0, "warning", "ci-toolkit doctor --clean")
    assert f"process {daemon[0].pid} (" in found["found"]
    assert "of run 77.1, whose host was process " in found["found"]
    assert all(one.is_running() for one in daemon), "it is only told"

    cleaned = project.toolkit("doctor", "--clean", **OFFLINE)
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert f"ended process {daemon[0].pid} (" in cleaned.stdout
    _, alive = psutil.wait_procs(daemon, timeout=30)
    assert not alive
    assert stranger.is_running()
    assert stranger.status() != psutil.STATUS_ZOMBIE
    stranger.kill()
    stranger.wait()
    assert {one.pid for one in beside.processes()} >= before, "a live run has lost a process"
    (beside.folder / "tests/go").touch()
    out, err = live.communicate(timeout=120)
    assert live.returncode == 0, out + err


def test_a_job_on_a_runner_of_ones_own_starts_clean(project, daemon) -> None:
    project.write("tests/test_a.py", "def test(): pass\n")
    github = {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "78"}
    hosted = project.toolkit("ci", "--out", "hosted", **github)
    assert "an earlier run" not in hosted.stdout
    assert all(one.is_running() for one in daemon), "a machine that is thrown away needs no cleaning"
    ran = project.toolkit("ci", **github, RUNNER_ENVIRONMENT="self-hosted")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"ended what an earlier run left: process {daemon[0].pid} (" in ran.stdout
    _, alive = psutil.wait_procs(daemon, timeout=30)
    assert not alive
    assert "this run has left" not in ran.stdout


def test_what_a_run_leaves_itself_is_told(project) -> None:
    """A process that carries the run's mark and that no keeper holds: here conf's plug-in of a device starts it."""
    env = project.register_cards(1)
    card = project.folder / "plugins/toy_card.py"
    starts = f"""
import os, subprocess
from ci_toolkit.workers.mark import marked
def ailment(device, since):
    mine = {{**os.environ, **marked()}}
    process = subprocess.Popen(["sleep", "600"], env=mine, start_new_session=True, stdout=-3, stderr=-3)
    with open({str(project.folder / "left")!r}, "w") as file:
        file.write(str(process.pid))
    return ""
"""
    card.write_text(card.read_text(encoding="utf-8") + starts, encoding="utf-8")
    toy = f"{{device: toy, lease: {{folder: {project.folder}/leases}}}}"
    project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms: {{cpu: {toy}}}\n")
    project.write("tests/test_a.py", "def test(): pass\n")
    ran = project.toolkit("run", "small-cpu", GITHUB_ACTIONS="true", RUNNER_ENVIRONMENT="self-hosted", **env)
    pid = int((project.folder / "left").read_text(encoding="utf-8"))
    os.kill(pid, signal.SIGKILL)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"::warning title=left by this run::this run has left process {pid} (sleep 600, of run local" in ran.stdout


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_keeper_worker_and_what_it_starts_carry_the_mark_of_the_host(project, start: str) -> None:
    conf = (project.folder / "conf/suites.yml").read_text(encoding="utf-8")
    project.write("conf/suites.yml", conf.replace("paths: [.]", f"paths: [.], start: {start}"))
    project.write(
        "tests/test_a.py",
        f"""
        import os, pathlib
        def test():
            host = {VARIABLE!r}
            parent = pathlib.Path(f"/proc/{{os.getppid()}}/environ").read_bytes()
            mine = pathlib.Path("/proc/self/environ").read_bytes()
            mark = os.environ[host]
            assert f"{{host}}={{mark}}".encode() in parent.split(b"\\0")
            assert f"{{host}}={{mark}}".encode() in mine.split(b"\\0")
            pathlib.Path(__file__).with_name("mark").write_text(mark)
        """,
    )
    process = project.start("ci")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    mark = (project.folder / "tests/mark").read_text(encoding="utf-8")
    assert mark.split(":")[0] == "local"
    assert mark.split(":")[2] == str(process.pid)
    request = (project.folder / "out/small-cpu/a1/workers/001/request.json").read_text(encoding="utf-8")
    assert VARIABLE not in request, "evidence does not change with the host's number"
