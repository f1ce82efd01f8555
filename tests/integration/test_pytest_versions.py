"""The child's plug-in under the oldest and older versions of pytest, with the plug-ins of their time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "unit" / "child"
FILES = ("test_pytest_runner.py", "test_alias.py", "test_alias_views.py", "test_alias_evidence.py")
VERSIONS = {
    "7.0": ["pytest==7.0.1", "pytest-xdist<3.4", "pytest-rerunfailures<13", "pytest-subtests<0.12"],
    "7.4": ["pytest==7.4.4", "pytest-xdist<3.6", "pytest-rerunfailures<15", "pytest-subtests<0.14"],
    "8": ["pytest==8.4.2", "pytest-xdist", "pytest-rerunfailures", "pytest-subtests<0.15"],
}


@pytest.mark.skipif(os.environ.get("CI_FULL") != "1", reason="installs other versions of pytest; run with CI_FULL=1")
@pytest.mark.parametrize("version", VERSIONS)
def test_sessions_are_judged_alike_under(version: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *VERSIONS[version]], check=True)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(UNIT / name for name in FILES)],
        env={**os.environ, "SUBJECT_PYTHON": str(python)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
