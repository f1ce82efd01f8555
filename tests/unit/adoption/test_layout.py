"""Which tests pytest's own conf leads to."""

import pytest

from ci_toolkit.adoption.layout import Layout, find_tests, is_open, read_layout

FILES = ["tests/test_a.py", "tests/deep/b_test.py", "more/test_c.py", "third_party/lib/test_d.py", ".git/test_e.py"]


@pytest.fixture
def repository(tmp_path):
    for name in [*FILES, "env/pyvenv.cfg", "env/test_f.py", "tests/helper.py"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\ntestpaths = tests 'more'\nmarkers =\n    slow: long\n    wide(bits): many\n"),
        (".pytest.ini", "[pytest]\ntestpaths = tests more\nmarkers =\n  slow: 100%\n  wide\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["tests", "more"]\nmarkers = ["slow: x", "wide"]\n'),
        ("pyproject.toml", '[tool.pytest]\ntestpaths = ["tests", "more"]\nmarkers = ["slow", "wide(bits): many"]\n'),
        ("tox.ini", "[tox]\n[pytest]\ntestpaths = tests more\nmarkers =\n  slow: x\n  wide: y\n"),
        ("setup.cfg", "[tool:pytest]\ntestpaths = tests more\nmarkers =\n  slow: x\n  wide: y\n"),
    ],
)
def test_each_file_that_pytest_reads(repository, file, text) -> None:
    (repository / file).write_text(text)
    assert read_layout(repository) == Layout(("tests", "more"), ("slow", "wide"))


def test_the_first_of_them_stands(repository) -> None:
    (repository / "pytest.ini").write_text("[pytest]\n")
    (repository / "setup.cfg").write_text("[tool:pytest]\ntestpaths = tests\n")
    assert read_layout(repository) == Layout()


def test_without_testpaths_all_are_found_but_those_of_others(repository) -> None:
    assert find_tests(repository, Layout()) == ("more/test_c.py", "tests/deep/b_test.py", "tests/test_a.py")


@pytest.mark.parametrize(
    ("testpaths", "found"),
    [
        (("more",), ("more/test_c.py",)),
        (("./more/",), ("more/test_c.py",)),
        (("more/test_c.py",), ("more/test_c.py",)),
        (("te*",), ("tests/deep/b_test.py", "tests/test_a.py")),
        ((".",), ("more/test_c.py", "tests/deep/b_test.py", "tests/test_a.py")),
        (("gone",), ("more/test_c.py", "tests/deep/b_test.py", "tests/test_a.py")),
    ],
)
def test_testpaths(repository, testpaths, found) -> None:
    assert find_tests(repository, Layout(testpaths)) == found


def test_paths_that_lead_out_and_globs_of_other_files_are_told_apart(repository) -> None:
    (repository / "pytest.ini").write_text(
        "[pytest]\ntestpaths = ../x /etc tests\npython_files = test_*.py check_*.py\n"
    )
    assert read_layout(repository) == Layout(("tests",), others=("check_*.py",))


def test_a_quote_without_its_other_half_is_a_part_of_the_name(repository) -> None:
    (repository / "pytest.ini").write_text("[pytest]\ntestpaths = it's tests\n")
    assert read_layout(repository).testpaths == ("it's", "tests")


@pytest.mark.parametrize(
    ("glob", "answer"),
    [("deep", False), ("de*", False), ("tests/deep", False), ("*/deep", False), ("eep", True), ("b_*", True)],
)
def test_folders_that_pytest_does_not_search(repository, glob, answer) -> None:
    (repository / "pytest.ini").write_text(f"[pytest]\nnorecursedirs = .* {glob}\n")
    assert is_open("tests/deep/b_test.py", read_layout(repository)) is answer
