"""The conf that follows from what was found."""

import pytest

from ci_toolkit.adoption.cover import cover
from ci_toolkit.adoption.draft import Row, draft
from ci_toolkit.adoption.layout import Layout
from ci_toolkit.adoption.project import Project
from ci_toolkit.adoption.repository import Repository
from ci_toolkit.adoption.workflows import Runner, Workflows


def found(*tests: str, runners: tuple[Runner, ...] = (), **more) -> Repository:
    layout = Layout(closed=more.pop("closed", ()))
    return Repository(more.pop("project", Project()), layout, Workflows(runners), tuple(sorted(tests)), **more)


def suites(repository: Repository) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {suite.name: (suite.paths, suite.exclude) for suite in draft(repository, ["cpu", "cuda"]).suites}


@pytest.mark.parametrize(
    ("files", "roots", "places"),
    [
        ({"t/st/a/x", "t/st/b/x"}, ("t",), ("t/st",)),
        ({"t/st/a/x", "t/st/b/x"}, (), ("t/st",)),
        ({"t/u/x"}, ("t",), ("t/u",)),
        ({"t/u/x", "t/y"}, ("t",), ("t/u", "t/y")),
        ({"e/s/x"}, ("e",), ("e/s",)),
        ({"e/s/x"}, (), ("e",)),
        (set(), (), ()),
    ],
)
def test_cover(files, roots, places) -> None:
    assert cover(sorted(files), ["t/st/a/x", "t/st/b/x", "t/u/x", "t/y", "t/z", "e/s/x"], roots) == places


def test_one_suite_for_each_folder_of_the_repository() -> None:
    assert suites(found("tests/a/test_a.py", "tests/test_b.py", "more tests/test_c.py", "test_d.py")) == {
        "more-tests": (("more tests",), ()),
        "top-level": (("test_d.py",), ()),
        "tests": (("tests",), ()),
    }


def test_tests_in_packages_belong_to_them() -> None:
    project = Project("ops", {"ops": "src/ops"})
    assert suites(found("src/ops/a/test_a.py", "src/ops/test_b.py", project=project)) == {"src-ops": (("src/ops",), ())}


def test_the_paths_of_pytests_conf_are_the_suites() -> None:
    assert suites(found("t/unit/test_a.py", "t/it/test_b.py", "t/x/test_c.py", roots=("t/unit", "t"))) == {
        "t": (("t",), ("t/unit/*",)),
        "t-unit": (("t/unit",), ()),
    }


def test_operators_and_scenes_have_suites_of_their_own() -> None:
    tests = ["t/test_a.py", "t/ops/test_add.py", "t/st/x/test_x.py", "t/test_mul.py"]
    special = {
        "operators": frozenset({"t/ops/test_add.py", "t/test_mul.py"}),
        "scenes": frozenset({"t/st/x/test_x.py"}),
    }
    assert suites(found(*tests, **special)) == {
        "t": (("t",), ("t/ops/*", "t/st/*", "t/test_mul.py")),
        "operators": (("t/ops", "t/test_mul.py"), ()),
        "scenes": (("t/st",), ()),
    }


def test_names_that_are_taken_or_none() -> None:
    operators = frozenset({"operators/x/test_add.py"})
    names = suites(found("operators/test_a.py", "Ä/test_b.py", "ß/test_c.py", *operators, operators=operators))
    assert list(names) == ["operators", "tests", "tests-2", "operators-2"]


def test_a_file_that_pytest_can_not_be_given_is_left_out() -> None:
    made = draft(found("t/test_a[1].py", "t/test_b.py"), ["cpu"])
    assert made.suites[0].exclude == ("t/test_a[1].py",)
    assert made.notes == ("t/test_a[1].py: pytest can not be given this name, left out",)


def test_a_folder_that_pytest_does_not_search_is_left_out() -> None:
    assert suites(found("t/test_a.py", "t/subjects/test_b.py", "subjects/test_c.py", closed=("subjects",))) == {
        "t": (("t",), ("t/subjects/*",))
    }


def test_rows_of_selection() -> None:
    project = Project("ops", {"ops": "src/ops", "odd": "{src}/odd"})
    made = draft(
        found(
            "t/test_a.py",
            "t/st/test_x.py",
            "{u}/test_b.py",
            "test_c.py",
            scenes=frozenset({"t/st/test_x.py"}),
            project=project,
        ),
        ["cpu"],
    )
    assert made.rows == (
        Row("src/ops/**", ("*",)),
        Row("t/**", ("t", "scenes")),
        Row("test_c.py", ("top-level",)),
    )


def test_platforms_are_those_whose_device_is_known() -> None:
    runners = (
        Runner("a.yml", "x", ("self-hosted", "h200")),
        Runner("b.yml", "y", ("self-hosted", "h200")),
        Runner("b.yml", "z", ("self-hosted", "h200", "big")),
        Runner("b.yml", "n\n", ("mi300x",)),
        Runner("b.yml", "m", ("mi300x",)),
        Runner("b.yml", "o", ("builder",)),
    )
    made = draft(found("t/test_a.py", runners=runners), ["cpu", "cuda"])
    assert [(one.name, one.arch, one.runs_on) for one in made.platforms] == [
        ("cpu", "*", ("ubuntu-24.04",)),
        ("cuda_h200", "sm_90", ("self-hosted", "h200")),
        ("cuda_h200_2", "sm_90", ("self-hosted", "h200", "big")),
    ]
    assert made.notes == ("mi300x: device rocm is not known yet, left out (b.yml, job n\\n and one more job)",)
