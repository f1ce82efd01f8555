"""What is written holds whatever it is given."""

import shlex

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ci_toolkit.adoption.conf_files import suites_text
from ci_toolkit.adoption.draft import Suite
from ci_toolkit.adoption.project import Project
from ci_toolkit.adoption.setup_script import setup_text
from ci_toolkit.adoption.toolkit import Toolkit, parse_toolkit
from ci_toolkit.adoption.workflow_files import pull_request_text
from ci_toolkit.adoption.yaml_text import flow, scalar
from ci_toolkit.errors import UsageError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT)
@example("on")
@example("1.5")
@example("3_0")
@example("a: b # c")
@example('it\'s\n"quoted"')
@example("\x85\u2028\ufeff\x7f")
def test_a_scalar_is_read_back_from_one_line(text: str) -> None:
    written = scalar(text)
    assert written.splitlines() == [written]
    assert yaml.safe_load(f"a: [{written}, {written}] # x")["a"] == [text, text]
    assert yaml.load(f"{{{written}: 1}}", Loader=yaml.SafeLoader) == {text: 1}


@given(st.lists(TEXT))
def test_a_list_is_read_back(texts: list[str]) -> None:
    assert yaml.safe_load(flow(texts)) == texts


@given(TEXT, TEXT)
def test_hostile_names_stay_values(path: str, label: str) -> None:
    read = yaml.safe_load(suites_text([Suite("a", "", (path,), (label,), 1)], ["cpu"], "", ()))
    assert read["suites"]["a"]["paths"] == [path]
    assert read["suites"]["a"]["exclude"] == [label]


@given(TEXT)
def test_a_branch_stays_a_value(branch: str) -> None:
    read = yaml.safe_load(pull_request_text(Toolkit("o/n", "v1"), "conf", branch))
    assert read[True]["push"]["branches"] == [branch]
    assert read["jobs"]["hardware"]["uses"] == "o/n/.github/workflows/pr.yml@v1"


@pytest.mark.parametrize(
    ("project", "installed"),
    [
        (Project(), ["pytest"]),
        (Project("ops", installable=True), ["-e", ".", "pytest"]),
        (Project("ops", extra="test", installable=True), ["-e", ".[test]", "pytest"]),
        (Project("ops", requirements="requirements/test.txt"), ["-r", "requirements/test.txt", "pytest"]),
        (Project("ops", group="test", installable=True), ["-e", ".", "--group", "test", "pytest"]),
    ],
)
def test_what_is_installed(project, installed) -> None:
    words = shlex.split(setup_text(project).splitlines()[-1])
    assert words[words.index("--disable-pip-version-check") + 1 :] == installed


@pytest.mark.parametrize("text", ["o/n@v1", "o-1/n.n_n@releases/v1", f"o/n@{'a' * 40}"])
def test_references(text) -> None:
    toolkit = parse_toolkit(text)
    assert f"{toolkit.repository}@{toolkit.ref}" == text
    assert toolkit.is_pinned is (len(toolkit.ref) == 40)


@pytest.mark.parametrize(
    "text", ["", "o/n", "o@v1", "o/n@", "o/n@v1\n", "o/n@v 1", "o/n@a..b", "o/n/m@v1", "../n@v1", "o/n@-x"]
)
def test_what_is_no_reference(text) -> None:
    with pytest.raises(UsageError, match="is no OWNER/NAME@REF"):
        parse_toolkit(text)
