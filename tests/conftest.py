"""A repository in a temporary folder, and the real command run in it."""

import os
import signal
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

# The same examples in each run, so that a change alone can turn the tests red; CI_FULL=1 looks for new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile("new" if os.environ.get("CI_FULL") else "same")

PLATFORMS = """
schema: platforms/1
platforms:
  cpu: {device: cpu}
"""
SUITES = """
schema: suites/1
suites:
  small: {platforms: [cpu], root: {path: tests}, paths: [.]}
"""


CARD = """
from ci_toolkit.model.report import Device

def discover():
    return tuple(Device(index=n, module="toy", name="Toy", uuid=f"TOY-{{n}}") for n in range({count})), ""

def mask(devices):
    return {{"TOY_VISIBLE": ",".join(device.uuid for device in devices)}}

def judge(answer, devices):
    return ""
"""


@dataclass
class Project:
    """A user's repository. Every process started in it carries ``marker`` in its environment."""

    folder: Path
    marker: str = field(default_factory=lambda: uuid.uuid4().hex)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    @property
    def env(self) -> dict[str, str]:
        dropped = ("GITHUB_", "ACTIONS_", "RUNNER_", "PYTEST_", "COLUMNS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        return kept | {"HOME": str(self.folder), "CI_TOOLKIT_TEST_MARKER": self.marker}

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "ci_toolkit", *args],
            cwd=self.folder,
            env=self.env | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def toolkit(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*args, **env)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def register_cards(self, count: int) -> dict[str, str]:
        """The environment in which a package registers the device ``toy``: as many logical cards as are wanted."""
        self.write("plugins/toy_card.py", CARD.format(count=count))
        self.write("plugins/toy_card-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy-card\nVersion: 1\n")
        self.write("plugins/toy_card-1.dist-info/entry_points.txt", "[ci_toolkit.devices]\ntoy = toy_card\n")
        return {"PYTHONPATH": str(self.folder / "plugins")}

    def processes(self) -> list[psutil.Process]:
        """The processes alive that were started from this project, however deep."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("CI_TOOLKIT_TEST_MARKER") == self.marker:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    folder = tmp_path / "repository"
    folder.mkdir()
    made = Project(folder)
    made.write("conf/platforms.yml", PLATFORMS.replace("cpu}", "cpu, env_allow: [CI_TOOLKIT_TEST_MARKER]}"))
    made.write("conf/suites.yml", SUITES)
    yield made
    for process in made.processes():
        process.send_signal(signal.SIGKILL)
