"""``devices list`` and ``devices lease`` with cards that a package registers."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from ci_toolkit.devices.leases import Holder, Lease, open_folder, try_lease


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


def test_registered_cards_are_listed_with_who_holds_them(project, cards) -> None:
    folder = open_folder(project.folder / "leases")
    held = try_lease(folder, "TOY-1", Holder(pid=7, user="ann", host="box", purpose="a\x1b[2Jb", since="2026-01-01"))
    assert isinstance(held, Lease)
    try:
        shown = project.toolkit("devices", "list", "--leases", str(folder), **cards)
        found = json.loads(project.toolkit("devices", "list", "--json", "--leases", str(folder), **cards).stdout)
    finally:
        held.close()
    assert shown.returncode == 0, shown.stderr
    (line,) = [line for line in shown.stdout.splitlines() if line.startswith("toy 1")]
    assert line.rstrip().endswith("process 7 of ann on box (ab) since 2026-01-01")
    holders = {device["uuid"]: device["holder"] for device in found["devices"] if device["module"] == "toy"}
    assert holders["TOY-0"] is None
    assert holders["TOY-1"]["user"] == "ann"


def test_a_broken_package_of_a_device_hides_no_other(project, cards) -> None:
    project.write("plugins/bad-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: bad\nVersion: 1\n")
    project.write("plugins/bad-1.dist-info/entry_points.txt", "[ci_toolkit.devices]\nbad = not_there\n")
    shown = project.toolkit("devices", "list", **cards)
    assert shown.returncode == 0
    assert "toy 1" in shown.stdout
    assert "absent  bad: device 'bad' can not be loaded from not_there" in shown.stdout


def test_what_another_user_wrote_breaks_no_line_of_who_waits(project, cards) -> None:
    folder = open_folder(project.folder / "leases")
    held = [try_lease(folder, f"TOY-{n}", Holder(pid=7)) for n in range(2)]
    assert all(isinstance(one, Lease) for one in held)
    for path in folder.iterdir():
        path.write_text(json.dumps({"pid": 7, "user": "x\n::error::forged\x1b[2J"}), encoding="utf-8")
    waited = lease(project, cards, "--wait", "200ms", script="")
    assert waited.returncode == 4
    assert "\x1b" not in waited.stderr
    assert not [line for line in waited.stderr.splitlines() if line.startswith("::")]


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


def test_a_command_whose_lessor_was_killed_keeps_its_devices_until_it_ends(project, cards) -> None:
    up = project.folder / "up"
    holder = project.start(
        "devices", "lease", "toy", "--count", "2", "--leases", str(project.folder / "leases"), "--",
        sys.executable, "-c", f"import os, time; open({str(up)!r}, 'w').write(str(os.getpid())); time.sleep(600)",
        **cards,
    )  # fmt: skip
    while not (up.exists() and up.read_text()):
        assert holder.poll() is None
    holder.kill()
    holder.wait()
    late = lease(project, cards, "--wait", "300ms", script="print('never')")
    assert (late.returncode, late.stdout) == (4, "")
    os.kill(int(up.read_text()), signal.SIGKILL)
    holder.communicate()
    assert lease(project, cards, "--count", "2", "--wait", "30s", script="").returncode == 0


def test_a_command_that_ignores_a_stop_is_killed(project, cards) -> None:
    up = project.folder / "up"
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    holder = project.start(
        "devices", "lease", "toy", "--leases", str(project.folder / "leases"), "--",
        sys.executable, "-c", f"{deaf}; open({str(up)!r}, 'w').close(); time.sleep(600)",
        **cards,
    )  # fmt: skip
    while not up.exists():
        assert holder.poll() is None
    holder.send_signal(signal.SIGTERM)
    holder.communicate(timeout=60)
    assert holder.returncode == 128 + signal.SIGKILL
    assert project.processes() == []


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("lease: {folder: a, broker: [b]}", "platforms.cpu.lease: give either a folder or a broker"),
        ("lease: {foldr: a}", "platforms.cpu.lease.foldr: unknown key; did you mean 'folder'?"),
        ("admission: {foreign: ask}", "platforms.cpu.admission.foreign: there is no rule 'ask'"),
        ("admission: {wait: soon}", "platforms.cpu.admission.wait: 'soon' is no duration"),
        ("admission: {min_free: -1GiB}", "platforms.cpu.admission.min_free: '-1GiB' is no size"),
    ],
)
def test_wrong_rules_of_a_platform_are_told_with_their_line(project, line: str, said: str) -> None:
    project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms:\n  cpu:\n    {line}\n")
    shown = project.toolkit("config", "show")
    assert shown.returncode == 2
    (error,) = shown.stderr.strip().splitlines()
    assert f"platforms.yml:4: {said}" in error
