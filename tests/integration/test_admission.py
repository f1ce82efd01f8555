"""When a lane's devices are used: strangers on them, a site's broker, and disks that are full."""

import json

import pytest

USAGE = """
from pathlib import Path
from ci_toolkit.devices.admission import ForeignProcess, Usage

def ailment(device, since):
    sick = Path({strangers!r}).with_name("sick")
    return sick.read_text() if sick.exists() else ""

def usage(device):
    strangers = Path({strangers!r})
    found = strangers.read_text().split() if strangers.exists() else []
    return Usage(8 << 30, tuple(ForeignProcess(int(pid), "miner", "bob") for pid in found))
"""
BROKER = """
import json, sys
from pathlib import Path
log = Path({log!r})
with log.open("a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
said = {said!r}
if sys.argv[1] == "request":
    device = sys.argv[sys.argv.index("--device") + 1]
    print(said.replace("DEVICE", device))
sys.exit({status})
"""


@pytest.fixture
def lane(project):
    """Runs one small lane on two registered cards; the platform says ``more``."""

    def lane(more: str):
        env = project.register_cards(2)
        card = project.folder / "plugins/toy_card.py"
        strangers = str(project.folder / "strangers")
        card.write_text(card.read_text(encoding="utf-8") + USAGE.format(strangers=strangers), encoding="utf-8")
        toy = f"{{device: toy, count: 1, {more}}}"
        project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms: {{toy: {toy}}}\n")
        suite = "{small: {platforms: [toy], root: {path: tests}, paths: [.]}}"
        project.write("conf/suites.yml", f"schema: suites/1\nsuites: {suite}\n")
        project.write("tests/test_a.py", "def test_one(): pass\n")
        return project.toolkit("ci", **env)

    return lane


def leases(project) -> str:
    return f"lease: {{folder: {project.folder}/leases}}"


@pytest.mark.parametrize(("foreign", "said"), [("wait", "no device within 0.5 s: TOY-0"), ("refuse", "TOY-0")])
def test_a_strangers_process_is_waited_for_and_then_infrastructure(project, lane, foreign: str, said: str) -> None:
    (project.folder / "strangers").write_text("77")
    ran = lane(f"{leases(project)}, admission: {{foreign: {foreign}, wait: 500ms}}")
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert f"{said} is in use by miner (77 of bob)" in ran.stdout


def test_a_strangers_process_may_be_allowed(project, lane) -> None:
    (project.folder / "strangers").write_text("77")
    ran = lane(f"{leases(project)}, admission: {{foreign: allow}}")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_too_little_memory_is_waited_for(project, lane) -> None:
    ran = lane(f"{leases(project)}, admission: {{min_free: 9GiB, wait: 300ms}}")
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert "TOY-0 has 8.0 GiB free, 9.0 GiB are asked for" in ran.stdout


@pytest.mark.parametrize(
    ("said", "status", "code", "shown"),
    [
        ({"id": "g1", "devices": ["DEVICE"], "ttl_s": 60}, 0, 0, ""),
        ({"devices": []}, 0, 4, "no device within 0.5 s: TOY-0 is not granted by the broker now"),
        ({"id": "g1", "devices": ["TOY-9"]}, 0, 4, "granted TOY-9, asked was TOY-0"),
        ({}, 3, 4, "the broker's request ended with 3: it said nothing"),
        ("nonsense", 0, 4, "answered no grant"),
        ({"id": "g1", "devices": ["DEVICE"], "ttl_s": 0}, 0, 4, "answered no grant"),
    ],
)
def test_a_sites_broker_grants_and_gets_back(project, lane, said: object, status: int, code: int, shown: str) -> None:
    import sys

    log = project.folder / "log"
    text = said if isinstance(said, str) else json.dumps(said)
    project.write("broker.py", BROKER.format(log=str(log), said=text, status=status))
    broker = json.dumps([sys.executable, str(project.folder / "broker.py")])
    ran = lane(f"lease: {{broker: {broker}}}, admission: {{wait: 500ms}}")
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert shown in ran.stdout
    asked = log.read_text().splitlines()
    assert asked[0] == "request --module toy --count 1 --device TOY-0 --ttl 600 --holder lane small-toy"
    assert ("release g1" in asked) == ("g1" in text and 'ttl_s": 0' not in text)


def test_a_sick_device_is_infrastructure_and_no_case_ran(project, lane) -> None:
    (project.folder / "sick").write_text("3 uncorrected ECC errors")
    ran = lane(leases(project))
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert "TOY-0 is sick: 3 uncorrected ECC errors" in ran.stdout
    report = json.loads((project.folder / "out/small-toy/a1/report.json").read_text(encoding="utf-8"))
    assert report["counts"] == {}
