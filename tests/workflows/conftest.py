"""The toolkit at its tag, wheels to install it from, and a repository that uses it."""

import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from workflows.consumer import PLATFORMS, SUITES, TESTS, Consumer, Toolkit
from workflows.wheels import wheelhouse

# One device, whose proof in a worker is never good.
CARD = """
from ci_toolkit.model.report import Device

def discover():
    return (Device(index=0, module="toy", name="Toy", uuid="TOY-0"),), ""

def mask(devices):
    return {}

def judge(answer, devices):
    return "the kernel gave 3, and not 4"
"""
# `python -I -m venv --clear FOLDER` gives one here that has the toolkit: a dozen jobs on two cores install it slowly.
PYTHON = """#!/bin/sh
test "$1 $2 $3" = "-I -m venv" || exec '{python}' "$@"
exec cp -al '{installed}' "$5"
"""
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolkit]:
    base = tmp_path_factory.mktemp("toolkit")
    folder = base / "repositories/owner/toolkit@v1"
    folder.mkdir(parents=True)
    for name in ("action.yml", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    for name in ("ci_toolkit", ".github"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for workflow in (folder / ".github/workflows").iterdir():
        # act looks for a workflow that a called one calls in the repository of the first caller.
        text = workflow.read_text(encoding="utf-8")
        text = re.sub(r"uses: \./(\.github/workflows/\S+)", r"uses: owner/toolkit/\1@v1", text)
        workflow.write_text(text, encoding="utf-8")
    wheels = wheelhouse(base / "wheels", folder)
    installed = base / "temporary"
    venv.create(installed / "ci-toolkit", with_pip=True)
    install = [installed / "ci-toolkit/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-index", "--find-links", wheels, "ci-toolkit"], check=True, stdin=subprocess.DEVNULL)
    [packages] = (installed / "ci-toolkit/lib").glob("python*/site-packages")
    (packages / "toy_card.py").write_text(CARD, encoding="utf-8")
    about = packages / "toy_card-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-card\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[ci_toolkit.devices]\ntoy = toy_card\n", encoding="utf-8")
    python = base / "bin/python3"
    python.parent.mkdir()
    python.write_text(PYTHON.format(python=sys.executable, installed=installed / "ci-toolkit"), encoding="utf-8")
    python.chmod(0o755)
    yield Toolkit(folder, wheels, python)
    shutil.rmtree(base)


@pytest.fixture
def consumer(tmp_path: Path, toolkit: Toolkit) -> Consumer:
    made = Consumer(tmp_path / "consumer", tmp_path / "act", toolkit)
    made.temporary.mkdir()
    made.write("conf/platforms.yml", PLATFORMS)
    made.write("conf/suites.yml", SUITES)
    made.write("tests/test_small.py", TESTS)
    return made
