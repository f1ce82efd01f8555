"""``devices list`` and ``devices lease`` with cards that a package registers."""

import json
import signal
import sys
from pathlib import Path

import pytest


@pytest.fixture
def cards(project) -> dict[str, str]:
    """The environment in which a package registers the device ``toy``: two cards."""
    return project.register_cards(2)


def lease(project, cards, *args: str, script: str):
    return project.toolkit(
        "devices", "lease", "toy", "--leases", str(project.folder / "leases"), *args, "--",
        sys.executable, "-c", script, **cards,
    )  # fmt: skip


def test_the_processor_is_listed_and_what_is_absent_has_its_reason(project) -> None:
    shown = project.toolkit("devices", "list")
    assert shown.returncode == 0
    assert "cpu 0" in shown.stdout
    found = json.loads(project.toolkit("devices", "list", "--json").stdout)
    assert found["devices"][0]["module"] == "cpu"
    assert found["devices"][0]["holder"] is None


def test_a_command_sees_its_devices_only_and_its_status_is_ours(project, cards) -> None:
    script = "import os, sys; print(os.environ['TOY_VISIBLE']); sys.exit(7)"
    ran = lease(project, cards, script=script)
    assert (ran.returncode, ran.stdout) == (7, "TOY-0\n")
    both = lease(project, cards, "--count", "2", script=script)
    assert both.stdout == "TOY-0,TOY-1\n"
    assert lease(project, cards, script="import os; os.kill(os.getpid(), 9)").returncode == 137


def test_two_commands_never_share_and_who_waits_is_told_who_holds(project, cards) -> None:
    up = project.folder / "up"
    holder = project.start(
        "devices", "lease", "toy", "--count", "2", "--leases", str(project.folder / "leases"), "--",
        sys.executable, "-c", f"import time; open({str(up)!r}, 'w').close(); time.sleep(600)",
        **cards,
    )  # fmt: skip
    while not up.exists():
        assert holder.poll() is None
    late = lease(project, cards, "--wait", "300ms", script="print('never')")
    assert late.returncode == 4, late.stdout + late.stderr
    assert "never" not in late.stdout
    assert f"is held by process {holder.pid} of " in late.stderr
    assert f"(command {sys.executable}) since 20" in late.stderr
    holder.send_signal(signal.SIGTERM)
    holder.communicate(timeout=60)
    assert holder.returncode == 128 + signal.SIGTERM
    assert lease(project, cards, script="").returncode == 0
    assert project.processes() == []


def test_a_killed_holder_frees_its_devices(project, cards) -> None:
    up = project.folder / "up"
    holder = project.start(
        "devices", "lease", "toy", "--count", "2", "--leases", str(project.folder / "leases"), "--",
        sys.executable, "-c", f"open({str(up)!r}, 'w').close(); input()",
        **cards,
    )  # fmt: skip
    while not up.exists():
        assert holder.poll() is None
    holder.kill()
    holder.communicate(timeout=60)
    assert lease(project, cards, "--count", "2", "--wait", "30s", script="").returncode == 0
    for process in project.processes():
        process.kill()


def test_mistakes_are_one_line(project, cards) -> None:
    for args, code, said in (
        (("nothing", "--", "true"), 2, "there is no device 'nothing'"),
        (("toy", "--wait", "soon", "--", "true"), 2, "--wait: 'soon' is no duration"),
        (("toy", "--count", "3", "--", "true"), 4, "asks for 3 devices toy, this machine has 2"),
        (("toy", "--", "/nowhere/cmd"), 2, "/nowhere/cmd can not be started"),
    ):
        ran = project.toolkit("devices", "lease", "--leases", str(project.folder / "leases"), *args, **cards)
        assert (ran.returncode, said in ran.stderr) == (code, True), ran.stderr
        assert len(ran.stderr.strip().splitlines()) == 1


def test_a_lane_on_registered_cards_leases_them_and_names_them(project, cards) -> None:
    toy = f"{{device: toy, count: 2, lease: {{folder: {project.folder}/leases}}}}"
    project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms: {{toy: {toy}}}\n")
    project.write(
        "conf/suites.yml", "schema: suites/1\nsuites: {small: {platforms: [toy], root: {path: tests}, paths: [.]}}\n"
    )
    seen = "import os\ndef test_one(): assert os.environ['TOY_VISIBLE'] in ('TOY-0', 'TOY-1')\n"
    for name in "abc":
        project.write(f"tests/test_{name}.py", seen)
    ran = project.toolkit("ci", **cards)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    report = json.loads((project.folder / "out/small-toy/a1/report.json").read_text(encoding="utf-8"))
    assert {worker["devices"][0] for worker in report["workers"]} <= {0, 1}
    assert [device["uuid"] for device in report["devices"]] == ["TOY-0", "TOY-1"]
    assert len(list(Path(project.folder / "leases").iterdir())) == 2
