"""``ci-toolkit init``: a repository is taken on and tested without an edit, and what drifts later is told."""

import os
import shutil
import site
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest
import yaml

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

    def make(name: str = "pytest_library"):
        shutil.rmtree(project.folder)
        shutil.copytree(SAMPLES / name, project.folder)
        return project

    return make


@pytest.fixture
def adopted(sample):
    """A sample repository that has been taken on."""

    def make(name: str = "pytest_library", *args: str):
        project = sample(name)
        ran = project.toolkit("init", *args)
        assert ran.returncode == 0, ran.stderr
        return project

    return make


def said(stdout: str, word: str) -> list[str]:
    return [line.removeprefix(word).strip() for line in stdout.splitlines() if line.startswith(f"{word} ")]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def make_venv(project) -> None:
    """A virtual environment that has what ours has, so that nothing needs to be fetched."""
    venv.create(project.folder / ".venv", symlinks=True)
    inner = Path(sysconfig.get_path("purelib", vars={"base": str(project.folder / ".venv")}))
    inner.joinpath("ours.pth").write_text("\n".join(site.getsitepackages()))


def install(project) -> None:
    """Runs the script as it was written."""
    make_venv(project)
    env = project.env | {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    ran = subprocess.run(["bash", "conf/setup.sh"], cwd=project.folder, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


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
    before = everything(project.folder)
    ran = project.toolkit("init")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert said(ran.stdout, "wrote") == FILES
    assert {name: raw for name, raw in everything(project.folder).items() if name not in FILES} == before
    assert os.access(project.folder / "conf" / "setup.sh", os.X_OK)

    after = everything(project.folder)
    again = project.toolkit("init")
    assert (again.returncode, said(again.stdout, "wrote")) == (0, [])
    assert said(again.stdout, "kept") == [f"{file}: it is there already" for file in FILES]
    assert everything(project.folder) == after

    checked = project.toolkit("init", "--check")
    assert (checked.returncode, checked.stdout) == (0, "conf and repository fit\n")

    install(project)
    ran = project.toolkit("ci")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for lane, cases in lanes.items():
        assert any(line.split()[:3] == [lane, "passed", str(cases)] for line in ran.stdout.splitlines()), ran.stdout


def test_what_was_found_is_told(sample) -> None:
    ran = sample().toolkit("init")
    assert said(ran.stdout, "package") == ["tensor-views, imports tensor_views"]
    assert said(ran.stdout, "markers") == ["slow, wide"]
    assert said(ran.stdout, "suite") == ["tests: 2 test files in tests"]
    assert said(ran.stdout, "platform") == [
        "cpu: ubuntu-24.04",
        "cuda_h200: self-hosted, linux, h200 (.github/workflows/tests.yml, job hopper)",
    ]
    assert said(ran.stdout, "note") == [
        "mi300x: device rocm is not known yet, left out (.github/workflows/tests.yml, job instinct)"
    ]
    assert said(ran.stdout, "lanes") == ["tests-cpu, tests-cuda_h200"]
    assert ran.stdout.endswith("next      bash conf/setup.sh\n          ci-toolkit ci\n")


def test_conf_that_setuptools_would_take_for_a_package_is_told_with_the_remedy(project) -> None:
    project.write("pyproject.toml", '[project]\nname = "ops"\nversion = "1"\n')
    project.write("ops/__init__.py", "")
    project.write("tests/test_a.py", "import ops\n\ndef test_a(): pass\n")
    shutil.rmtree(project.folder / "conf")
    ran = project.toolkit("init")
    told = ran.stdout.partition("edit      ")[2].splitlines()[:2]
    assert told[0] == "pyproject.toml, for setuptools would take conf for a package:"
    header, remedy = told[1].split("  ")[-2:]
    project.write("pyproject.toml", f'[project]\nname = "ops"\nversion = "1"\n{header}\n{remedy}\n')
    install(project)
    assert "edit" not in project.toolkit("init").stdout
    assert project.toolkit("ci").returncode == 0


def test_the_python_of_conf_is_the_repositorys_wherever_the_command_runs(adopted) -> None:
    project = adopted("operators")
    make_venv(project)
    outside = type(project)(project.folder.parent, project.marker)
    ran = outside.toolkit("ci", "--conf", "repository/conf", "--only", "tests-*")
    # Found, and without the subject: nobody has run setup.sh.
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert f"the subject flat-ops is not installed in {project.folder}/.venv/bin/python" in ran.stdout


def test_a_repository_without_tests_is_one_line(project) -> None:
    shutil.rmtree(project.folder / "conf")
    ran = project.toolkit("init")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "ci-toolkit: error: no test is found here; write one (test_*.py or *_test.py), or go to the folder of "
        "your tests\n"
    )
    assert list(project.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("pyproject.toml", "[project\n", "pyproject.toml: is not valid TOML: "),
        ("pytest.ini", "[pytest]\nx\n", "pytest.ini:2: is not valid INI: "),
        (".github/workflows/tests.yml", "on: [push\njobs:\n", ".github/workflows/tests.yml:2: is not valid YAML: "),
        (".github/workflows/tests.yml", "[" * 9999, ".github/workflows/tests.yml:1: is not valid YAML: "),
    ],
)
@pytest.mark.parametrize("args", [[], ["--check"]])
def test_what_is_malformed_is_one_line(adopted, file, text, message, args) -> None:
    project = adopted()
    project.write(file, text)
    ran = project.toolkit("init", *args)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"ci-toolkit: error: {message}")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--toolkit", "me"], "'me' is no OWNER/NAME@REF; such as --toolkit ci-toolkit/ci-toolkit@v1"),
        (["--conf", "a/b"], "'a/b' is no name of a folder here; suites are relative to the folder that holds conf"),
        (["--check"], "conf: there is no such conf folder; name one with --conf"),
    ],
)
def test_wrong_usage(sample, args, message) -> None:
    ran = sample().toolkit("init", *args)
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", f"ci-toolkit: error: {message}\n")


def test_hostile_names_are_only_names(sample) -> None:
    project = sample()
    for folder in ("tests", "benchmarks"):
        shutil.rmtree(project.folder / folder)
    for folder in ('it\'s "a" $(touch gone)', "new\nline: {x}", "#1 & *"):
        project.write(f"tests/{folder}/st/test_a.py", "def test_a(): pass\n")
        project.write(f"{folder}/test_b.py", "def test_b(): pass\n")
    project.write("pytest.ini", "[pytest]\n")
    project.write(
        ".github/workflows/tests.yml",
        r"""
        jobs:
          "x\n::error::y":
            runs-on: ["self-hosted", "h200'\n\"${{ x", "h200'\n\"{$(touch gone)"]
          z:
            runs-on: ["self-hosted", "h200'\n\"{$(touch gone)"]
        """,
    )
    ran = project.toolkit("init")
    assert ran.returncode == 0, ran.stderr
    assert "\n::error" not in ran.stdout
    assert project.toolkit("init", "--check").returncode == 0
    platforms = yaml.safe_load((project.folder / "conf/platforms.yml").read_text())["platforms"]
    assert platforms["cuda_h200"]["runs_on"] == ["self-hosted", "h200'\n\"{$(touch gone)"]
    install(project)
    ran = project.toolkit("ci")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (project.folder / "gone").exists()


@pytest.mark.parametrize("reference", ["ci-toolkit/ci-toolkit@v1", f"me/ci-toolkit@{'0' * 40}"])
def test_the_workflows_are_clean(adopted, reference) -> None:
    project = adopted("pytest_library", "--toolkit", reference)
    for command in (
        ["zizmor", "--persona", "pedantic", "--offline", "--no-progress"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
    ):
        program = Path(sysconfig.get_path("scripts")) / command[0]
        if not program.exists():
            pytest.skip(f"{command[0]} is not installed")
        ran = subprocess.run(
            [program, *command[1:], *FILES[-2:]], cwd=project.folder, env=project.env, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def workflow(*jobs: str) -> str:
    return "on: push\njobs:\n" + "".join(f"  {job}\n" for job in jobs)


CALL = "ci-toolkit/ci-toolkit/.github/workflows"


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("tests/new/test_x.py", "", "folder tests/new: holds 1 test file that no suite runs"),
        (
            ".github/workflows/a.yml",
            workflow("big: {runs-on: [self-hosted, h100]}"),
            ".github/workflows/a.yml: job big runs on 'h100', which no platform names",
        ),
        (
            ".github/workflows/a.yml",
            workflow(f"a: {{uses: {CALL}/pr.yml@v1, with: {{setpu: x}}}}"),
            ".github/workflows/a.yml: job a calls pr.yml with 'setpu', an input that it does not have; did you mean "
            "'setup'?",
        ),
        (
            ".github/workflows/a.yml",
            workflow("a: {runs-on: ubuntu-24.04, steps: [{uses: me/ci-toolkit@v1, with: {args: ci, out: x}}]}"),
            ".github/workflows/a.yml: job a calls the action with 'out', an input that it does not have; known: args, "
            "path, python, retention-days, token, upload, wheelhouse",
        ),
        (
            ".github/workflows/a.yml",
            workflow(f"a: {{uses: {CALL}/prs.yml@v1}}"),
            ".github/workflows/a.yml: job a calls prs.yml, which the toolkit does not have; did you mean 'pr.yml'?",
        ),
        (
            ".github/workflows/a.yml",
            workflow(f"a: {{uses: {CALL}/triage.yml@main}}"),
            ".github/workflows/a.yml: job a calls triage.yml at ci-toolkit/ci-toolkit@main, others are called at "
            "ci-toolkit/ci-toolkit@v1",
        ),
    ],
)
def test_each_drift_is_one_line(adopted, file, text, line) -> None:
    project = adopted()
    # Suites are named file by file here: what comes beside them is new.
    suites = project.folder / "conf" / "suites.yml"
    suites.write_text(suites.read_text().replace("[tests]", "[tests/unit, tests/integration/offset_test.py]"))
    assert project.toolkit("init", "--check").returncode == 0
    project.write(file, text)
    ran = project.toolkit("init", "--check")
    assert ran.returncode == 1, ran.stderr
    assert line in ran.stdout.splitlines()


def test_files_that_are_gone_are_told_for_each_suite(adopted) -> None:
    project = adopted("scenes")
    shutil.rmtree(project.folder / "examples")
    shutil.rmtree(project.folder / "tests" / "st")
    ran = project.toolkit("init", "--check")
    assert ran.returncode == 1, ran.stderr
    assert [line.partition(", under")[0] for line in ran.stdout.splitlines()] == [
        "suite tests: exclude 'tests/st/*' fits none of the selected files",
        "suite scenes: 'examples/scale' is not there",
        "folder tests/ut: holds 1 test file that no suite runs",
    ]


def test_conf_that_does_not_load_is_no_drift(adopted) -> None:
    project = adopted()
    suites = project.folder / "conf" / "suites.yml"
    suites.write_text(suites.read_text().replace("paths:", "path:"))
    ran = project.toolkit("init", "--check")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("ci-toolkit: error: conf/suites.yml:11: suites.tests.path: unknown key")


def test_help_has_an_example(project) -> None:
    ran = project.toolkit("init", "--help")
    assert "Example: ci-toolkit init && bash conf/setup.sh && ci-toolkit ci" in ran.stdout
    assert "Example: ci-toolkit init --check" in ran.stdout
