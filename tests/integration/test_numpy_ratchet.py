"""NumPy's own tests against the reviewed ratchet of this repository: green as it is, red for each planted change.

The fast tier judges the sampled files; with CI_FULL=1 the whole of NumPy's core is run and judged.
"""

import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LANE = "numpy-core-cpu"
FULL = os.environ.get("CI_FULL") == "1"
TODAY = "2026-12-01"

pytestmark = pytest.mark.xdist_group("numpy")


def why_not() -> str:
    if sys.version_info[:2] != (3, 11) or platform.system() != "Linux" or platform.machine() != "x86_64":
        return "the ratchet of numpy-core is for Python 3.11 on Linux x86-64"
    try:
        return "" if metadata.version("numpy") == "2.4.1" else "the ratchet of numpy-core is for NumPy 2.4.1"
    except metadata.PackageNotFoundError:
        return "NumPy is not installed"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this repository's conf and the evidence of one run of the lane."""
    if why_not():
        pytest.skip(why_not())
    folder = tmp_path_factory.mktemp("numpy")
    shutil.copytree(REPOSITORY / "conf", folder / "conf")
    text = (folder / "conf/suites.yml").read_text(encoding="utf-8")
    assert "numpy-core:" in text
    ran = toolkit(folder, "ci", "--only", LANE, *(["--full"] if FULL else []), "--today", TODAY)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-5000:]
    return folder


def toolkit(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ci_toolkit", *args], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def conf(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run / "conf", tmp_path / "conf"))


def findings(run: Path, conf: Path, today: str = TODAY) -> tuple[int, set[str]]:
    """The gate's exit code and the blocking kinds, judging the run's evidence with another conf."""
    verdict = conf.parent / "verdict.json"
    ran = toolkit(
        conf.parent,
        *("gate", "--plan", str(run / "out/plan.json"), "--out", str(run / "out")),
        *("--conf", str(conf), "--today", today, "--verdict", str(verdict)),
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    document = json.loads(verdict.read_text(encoding="utf-8"))
    return ran.returncode, {found["kind"] for found in document["findings"] if found.get("blocks", True)}


def test_unchanged_it_is_green(run: Path, conf: Path) -> None:
    assert findings(run, conf) == (0, set())
