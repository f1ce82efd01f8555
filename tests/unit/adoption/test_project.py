"""What a repository packages, by each of the files that may say so."""

import pytest

from ci_toolkit.adoption.project import Project, read_project
from ci_toolkit.errors import UsageError


@pytest.fixture
def write(tmp_path):
    def add(name: str, text: str = "") -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return add


def test_pyproject_with_a_source_folder(tmp_path, write) -> None:
    write("pyproject.toml", '[project]\nname = "my-ops"\n[project.optional-dependencies]\ndev = []\ntest = []\n')
    write("src/my_ops/__init__.py")
    write("src/my_ops/sub/__init__.py")
    write("tests/__init__.py")
    assert read_project(tmp_path) == Project("my-ops", {"my_ops": "src/my_ops"}, extra="test", installable=True)


def test_setup_cfg_with_packages_beside_it(tmp_path, write) -> None:
    write(
        "setup.cfg", "[metadata]\nname = ops\n[options]\npackages = find:\n[options.extras_require]\ntesting = pytest\n"
    )
    for name in ("ops", "ops_c", "tests", "op_tests", "test_helpers", "docs", "not-a-name"):
        write(f"{name}/__init__.py")
    found = read_project(tmp_path)
    assert found == Project("ops", {"ops": "ops", "ops_c": "ops_c"}, extra="testing", installable=True)


def test_setup_py_is_read_and_never_run(tmp_path, write) -> None:
    write(
        "setup.py",
        "import setuptools, sys\nsys.exit('ran')\nNAME = 'kernels'\n"
        "setuptools.setup(name=NAME, version=VERSION, packages=find(), extras_require={'dev': DEV, **MORE})\n",
    )
    assert read_project(tmp_path) == Project("kernels", {}, extra="dev", installable=True)


def test_poetry(tmp_path, write) -> None:
    write("pyproject.toml", '[tool.poetry]\nname = "ops"\n[build-system]\nbuild-backend = "poetry.core.masonry.api"\n')
    write("ops/__init__.py")
    assert read_project(tmp_path) == Project("ops", {"ops": "ops"}, installable=True)


def test_groups_and_requirements_stand_in_for_extras(tmp_path, write) -> None:
    write("requirements-test.txt")
    assert read_project(tmp_path) == Project(requirements="requirements-test.txt")
    write("pyproject.toml", '[dependency-groups]\ntest = ["pytest"]\n')
    assert read_project(tmp_path) == Project(group="test")


@pytest.mark.parametrize(
    ("pyproject", "guessed"),
    [
        ('[project]\nname = "ops"\n', True),
        ('[project]\nname = "ops"\n[tool.setuptools]\npackages = ["ops"]\n', False),
        ('[project]\nname = "ops"\n[tool.setuptools.packages.find]\ninclude = ["ops*"]\n', False),
        ('[project]\nname = "ops"\n[build-system]\nrequires = []\nbuild-backend = "hatchling.build"\n', False),
    ],
)
def test_whether_setuptools_would_take_conf_for_a_package(tmp_path, write, pyproject, guessed) -> None:
    write("pyproject.toml", pyproject)
    write("ops/__init__.py")
    assert read_project(tmp_path).guessed is guessed


def test_a_name_that_is_none_is_left_out(tmp_path, write) -> None:
    write("pyproject.toml", '[project]\nname = "a; rm -rf /\\n"\n')
    found = read_project(tmp_path)
    assert (found.name, found.installable) == ("", True)


def test_a_source_folder_outside_is_not_looked_at(tmp_path, write) -> None:
    write("pyproject.toml", '[tool.setuptools.packages.find]\nwhere = ["../", "/", "./lib"]\n')
    write("lib/ops/__init__.py")
    assert read_project(tmp_path).packages == {"ops": "lib/ops"}


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("pyproject.toml", "[project\n", "pyproject.toml: is not valid TOML"),
        ("pyproject.toml", "a = " + "[" * 100_000, "pyproject.toml: "),
        ("setup.cfg", "name = ops\n", r"setup.cfg:1: is not valid INI: a line before the first \[section\]"),
        ("setup.cfg", "[metadata]\nname = ops\n???\n", "setup.cfg:3: is not valid INI"),
        ("setup.py", "def (\n", "setup.py:1: is not valid Python"),
        ("setup.py", "(" * 100_000, "setup.py.*: is not valid Python"),
    ],
)
def test_what_is_malformed_has_its_place(tmp_path, write, file, text, message) -> None:
    write(file, text)
    with pytest.raises(UsageError, match=f"^{message}"):
        read_project(tmp_path)


@pytest.mark.parametrize("file", ["pyproject.toml", "setup.cfg", "setup.py"])
def test_what_is_no_text_has_its_name(tmp_path, file) -> None:
    (tmp_path / file).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=f"^{file}: is not UTF-8 at byte 0"):
        read_project(tmp_path)
