"""What ``init`` writes and checks of the toolkit is what the toolkit has."""

from pathlib import Path

import pytest
import yaml

from ci_toolkit.adoption.toolkit import INPUTS, Toolkit
from ci_toolkit.adoption.workflow_files import nightly_text, pull_request_text

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".github" / "workflows"
TOOLKIT = Toolkit("o/n", "v1")
LEVELS = ["none", "read", "write"]


def read(path: Path):
    return yaml.safe_load(path.read_text())


pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="a checkout without workflows")


def test_inputs_are_those_of_the_workflows_and_the_action() -> None:
    reusable = {
        path.name: read(path)[True]["workflow_call"]
        for path in FOLDER.glob("*.yml")
        if "workflow_call" in read(path)[True]
    }
    found = {name: set(call["inputs"]) for name, call in reusable.items()}
    assert found | {"": set(read(ROOT / "action.yml")["inputs"])} == INPUTS


@pytest.mark.parametrize(
    ("name", "text"),
    [("pr.yml", pull_request_text(TOOLKIT, "conf", "main")), ("nightly.yml", nightly_text(TOOLKIT, "conf"))],
)
def test_callers_grant_what_the_called_jobs_ask_for_and_no_more(name, text) -> None:
    """A job that asks for more than its caller has keeps the whole run from starting."""
    (caller,) = yaml.safe_load(text)["jobs"].values()
    asked: dict[str, str] = {}
    for job in read(FOLDER / name)["jobs"].values():
        for scope, level in job["permissions"].items():
            asked[scope] = max(level, asked.get(scope, "none"), key=LEVELS.index)
    assert caller["permissions"] == asked
    assert caller["with"].keys() <= INPUTS[name]
