"""The toolkit at its tag, wheels to install it from, and a repository that uses it."""

import shutil
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from workflows.consumer import PLATFORMS, SUITES, TESTS, Consumer, Toolkit
from workflows.wheels import wheelhouse

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
    wheels = wheelhouse(base / "wheels", folder)
    installed = base / "temporary"
    venv.create(installed / "ci-toolkit", with_pip=True)
    install = [installed / "ci-toolkit/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-index", "--find-links", wheels, "ci-toolkit"], check=True, stdin=subprocess.DEVNULL)
    yield Toolkit(folder, wheels, installed)
    shutil.rmtree(base)


@pytest.fixture
def consumer(tmp_path: Path, toolkit: Toolkit) -> Consumer:
    made = Consumer(tmp_path / "consumer", tmp_path / "act", toolkit)
    made.temporary.mkdir()
    made.write("conf/platforms.yml", PLATFORMS)
    made.write("conf/suites.yml", SUITES)
    made.write("tests/test_small.py", TESTS)
    return made
