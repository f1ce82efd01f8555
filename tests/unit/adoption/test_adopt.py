"""A repository with tests is taken on once: conf loads, nothing has drifted, and a second time nothing changes."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_toolkit.adoption.adopt import adopt
from ci_toolkit.adoption.drift import drift
from ci_toolkit.adoption.layout import can_be_given, find_tests, read_layout
from ci_toolkit.adoption.toolkit import Toolkit
from ci_toolkit.catalogue.load import load_catalogue
from ci_toolkit.errors import UsageError

TOOLKIT = Toolkit("ci-toolkit/ci-toolkit", "v1")
FOLDERS = st.sampled_from(
    ["tests", "st", "src", "ops", "a b", "it's", "{x}", "*", "Ä", "new\nline", "on", "1.5", "[0]", "-k"]
)
FILES = st.sampled_from(
    ["test_a.py", "test_add.py", "b_test.py", "test_c[0].py", "test_::.py", "__init__.py", "test_*.py"]
)
PATHS = st.lists(st.tuples(st.lists(FOLDERS, max_size=3), FILES), min_size=1, max_size=8)
LABELS = st.lists(
    st.sampled_from(["self-hosted", "h200", "mi300x", "it's h100", "gpu", "a\nb t4"]), min_size=1, max_size=3
)


@settings(max_examples=60)
@given(PATHS, st.lists(FOLDERS, max_size=2), st.lists(LABELS, max_size=3))
def test_it_fits_at_once_and_twice_is_once(paths, testpaths, labels) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for folders, file in paths:
            place = folder.joinpath(*folders, file)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("@pytest.mark.add\ndef test(): pass\n")
        (folder / "ops.yaml").write_text("ops: [{id: add}]\n")
        (folder / "pyproject.toml").write_text(
            f"[tool.pytest.ini_options]\ntestpaths = {[str(t) for t in testpaths]!r}\n"
        )
        workflow = folder / ".github" / "workflows" / "w.yml"
        workflow.parent.mkdir(parents=True)
        workflow.write_text(
            f"jobs: {{{', '.join(f'j{at}: {{runs-on: {json_of(one)}}}' for at, one in enumerate(labels))}}}\n"
        )
        if not any(can_be_given(file) for file in find_tests(folder, read_layout(folder))):
            with pytest.raises(UsageError, match="no test is found here"):
                adopt(folder, "conf", TOOLKIT, ["cpu", "cuda"])
            return
        first = adopt(folder, "conf", TOOLKIT, ["cpu", "cuda"])
        assert first.kept == ()
        assert drift(folder, load_catalogue(folder / "conf"), TOOLKIT, ["cpu", "cuda"]) == ()
        before = contents(folder)
        second = adopt(folder, "conf", TOOLKIT, ["cpu", "cuda"])
        assert (second.written, second.kept) == ((), first.written)
        assert contents(folder) == before


def json_of(labels: list[str]) -> str:
    return "[" + ", ".join('"' + label.replace("\n", "\\n") + '"' for label in labels) + "]"


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n")
    return tmp_path


def test_suites_that_are_written_use_the_platforms_that_are_there(repository: Path) -> None:
    (repository / "conf").mkdir()
    (repository / "conf" / "platforms.yml").write_text("schema: platforms/1\nplatforms: {host: {device: cpu}}\n")
    adopted = adopt(repository, "conf", TOOLKIT, ["cpu"])
    assert adopted.kept == ("conf/platforms.yml",)
    assert [conf.lane.id for conf in load_catalogue(repository / "conf").lanes] == ["top-level-host"]


def test_rules_that_are_written_name_the_suites_that_are_there(repository: Path) -> None:
    (repository / "conf").mkdir()
    (repository / "conf" / "suites.yml").write_text("schema: suites/1\nsuites: {mine: {platforms: [cpu]}}\n")
    adopt(repository, "conf", TOOLKIT, ["cpu"])
    assert [conf.lane.id for conf in load_catalogue(repository / "conf").lanes] == ["mine-cpu"]


def test_nothing_is_written_beside_conf_that_does_not_load(repository: Path) -> None:
    (repository / "conf").mkdir()
    (repository / "conf" / "platforms.yml").write_text("schema: platforms/1\nplatform: {}\n")
    with pytest.raises(UsageError, match=r"platforms.yml:2: platform: unknown key"):
        adopt(repository, "conf", TOOLKIT, ["cpu"])
    assert [path.name for path in (repository / "conf").iterdir()] == ["platforms.yml"]


def test_a_link_to_nothing_is_kept_and_nothing_is_written_through_it(repository: Path) -> None:
    (repository / "conf").mkdir()
    (repository / "conf" / "setup.sh").symlink_to(repository / "elsewhere")
    assert adopt(repository, "conf", TOOLKIT, ["cpu"]).kept == ("conf/setup.sh",)
    assert not (repository / "elsewhere").exists()


def test_a_file_in_the_place_of_a_folder_is_one_line(repository: Path) -> None:
    (repository / "conf").write_text("")
    with pytest.raises(UsageError, match=r"^conf/platforms.yml: can not be written"):
        adopt(repository, "conf", TOOLKIT, ["cpu"])
