"""Selections expand to one unit a file; what is missing, outside or selected twice is refused."""

from pathlib import Path

import pytest

from ci_toolkit.errors import UsageError
from ci_toolkit.suites.pytest.files import Selected, select


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = [
        "test_a.py",
        "b_test.py",
        "helper.py",
        "sub/test_c.py",
        "sub/deep/test_d.py",
        ".hidden/test_e.py",
        "build/test_f.py",
    ]
    for name in [*files, "own/pyvenv.cfg", "own/test_venv.py", "-k_test.py", "sub/@file_test.py", "empty/readme.txt"]:
        place = tmp_path / "root" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
    return tmp_path / "root"


def names(selected: tuple[Selected, ...]) -> list[str]:
    return [one.file for one in selected]


def test_no_paths_mean_every_test_file_of_the_root(root: Path) -> None:
    assert names(select(root, (), ())) == [
        "-k_test.py", "b_test.py", "test_a.py", "sub/@file_test.py", "sub/test_c.py", "sub/deep/test_d.py",
    ]  # fmt: skip


def test_paths_keep_their_order_and_node_ids_share_their_files_unit(root: Path) -> None:
    selected = select(
        root, ("sub/deep", "helper.py", "test_a.py::test_x", "*_test.py", "test_a.py::B::test_y[a::b]"), ()
    )
    assert selected == (
        Selected("sub/deep/test_d.py"),
        Selected("helper.py"),
        Selected("test_a.py", ("test_a.py::test_x", "test_a.py::B::test_y[a::b]")),
        Selected("-k_test.py"),
        Selected("b_test.py"),
    )


def test_excluded_files_are_left_out(root: Path) -> None:
    assert names(select(root, ("sub",), ("sub/deep/*",))) == ["sub/@file_test.py", "sub/test_c.py"]


@pytest.mark.parametrize(
    ("paths", "exclude", "said"),
    [
        (("nothing",), (), "'nothing' is not there"),
        (("no*.py",), (), "fits nothing"),
        (("../test_x.py",), (), "outside the suite's root"),
        (("/etc",), (), "outside the suite's root"),
        (("sub", "sub/test_c.py"), (), "selected twice, by 'sub' and by 'sub/test_c.py'"),
        (("test_a.py", "test_a.py"), (), "selected twice"),
        (("test_a.py", "test_a.py::test_x"), (), "a part of 'test_a.py'"),
        (("test_a.py::test_x", "test_a.py"), (), "selected twice"),
        (("test_a.py::test_x[1]", "test_a.py::test_x"), (), "a part of 'test_a.py::test_x'"),
        (("test_a.py::T", "test_a.py::T::test_x"), (), "a part of 'test_a.py::T'"),
        (("test_a.py::T", "test_a.py::T"), (), "selected twice"),
        (("sub", "empty"), (), "'empty' holds no test file"),
        (("sub",), ("sub/gone*",), "fits none of the selected files"),
    ],
)
def test_bad_selections_say_what_is_wrong(root: Path, paths, exclude, said) -> None:
    with pytest.raises(UsageError, match=said.replace("*", r"\*").replace("[", r"\[")):
        select(root, paths, exclude)


def test_neighbours_that_share_a_prefix_are_no_overlap(root: Path) -> None:
    assert len(select(root, ("test_a.py::test_x", "test_a.py::test_xy"), ())[0].nodes) == 2


def test_links_out_of_the_root_are_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside_test.py").write_text("")
    (root / "sub" / "linked_test.py").symlink_to(tmp_path / "outside_test.py")
    for path in ("sub", "sub/linked_test.py"):
        with pytest.raises(UsageError, match="is a link to"):
            select(root, (path,), ())


def test_a_folder_without_tests_selects_nothing(root: Path) -> None:
    assert select(root, ("empty",), ()) == ()


def test_a_file_that_pytest_can_not_be_given_is_named(root: Path) -> None:
    (root / "sub" / "odd[1]_test.py").write_text("")
    with pytest.raises(UsageError, match=r"odd\[1\]_test.py"):
        select(root, ("sub",), ())
    assert len(select(root, ("sub",), ("sub/odd[1]*",))) == 3


def test_a_root_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gone is no folder"):
        select(tmp_path / "gone", (), ())
