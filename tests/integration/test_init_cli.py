"""``ci-toolkit init``: a repository is taken on and tested without an edit, and what drifts later is told."""

import shutil
import site
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[1] / "subjects" / "adoption"
FILES = [
    "conf/platforms.yml",
    "conf/suites.yml",
    "conf/selection.yml",
    "conf/setup.sh",
    ".github/workflows/hardware-ci.yml",
    ".github/workflows/hardware-nightly.yml",
]


@pytest.fixture
def sample(project):
    """A project that is a copy of a sample repository, without conf."""

    def make(name: str):
        shutil.rmtree(project.folder)
        shutil.copytree(SAMPLES / name, project.folder)
        return project

    return make


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def install(project) -> subprocess.CompletedProcess[str]:
    """Runs the script as written, in a virtual environment that has what ours has: nothing is fetched."""
    venv.create(project.folder / ".venv", symlinks=True)
    inner = Path(sysconfig.get_path("purelib", vars={"base": str(project.folder / ".venv")}))
    inner.joinpath("ours.pth").write_text("\n".join(site.getsitepackages()))
    env = project.env | {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    return subprocess.run(["bash", "conf/setup.sh"], cwd=project.folder, env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "lanes"),
    [
        ("pytest_library", {"tests-cpu": 9}),
        ("operators", {"tests-cpu": 1, "operators-cpu": 8}),
        ("scenes", {"tests-cpu": 2, "scenes-cpu": 2}),
    ],
)
def test_a_sample_is_taken_on_and_passes_without_an_edit(sample, name, lanes) -> None:
    project = sample(name)
    ran = project.toolkit("init")
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("wrote")] == FILES
    installed = install(project)
    assert installed.returncode == 0, installed.stderr
    ran = project.toolkit("ci")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for lane, cases in lanes.items():
        assert f"{lane}" in ran.stdout
        assert any(line.split()[:3] == [lane, "passed", str(cases)] for line in ran.stdout.splitlines()), ran.stdout
