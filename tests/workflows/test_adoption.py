"""What ``init`` writes for a repository runs under act as it stands, against a stand-in of GitHub's API."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from github_api.fake import FakeGitHub
from workflows import act
from workflows.act import Ended
from workflows.consumer import Consumer, Toolkit

pytestmark = pytest.mark.xdist_group("act")
SAMPLES = Path(__file__).parents[1] / "subjects/adoption"
Adopt = Callable[[str], Consumer]


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        yield fake
    assert fake.violations == []


@pytest.fixture
def adopt(tmp_path: Path, toolkit: Toolkit) -> Adopt:
    def adopt(sample: str) -> Consumer:
        made = Consumer(tmp_path / "consumer", tmp_path / "act", toolkit)
        made.temporary.mkdir()
        shutil.copytree(SAMPLES / sample, made.folder)
        # Of the sample's own jobs one asks for a card: its lane is green where there is one.
        shutil.rmtree(made.folder / ".github", ignore_errors=True)
        made.commit()
        made.git("remote", "add", "origin", "https://github.com/o/r")
        init = [Path(sys.executable).with_name("ci-toolkit"), "init", "--toolkit", "owner/toolkit@v1"]
        subprocess.run(init, cwd=made.folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return made

    return adopt


def run(adopted: Consumer, github: FakeGitHub, workflow: str, event: str, **more: object) -> Ended:
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(adopted.toolkit.wheels)}
    path = adopted.toolkit.python.parent
    ended = adopted.run(workflow, event=event, path=path, GITHUB_API_URL=github.url, **offline, **more)
    assert ended.exit_code == 0, ended.log
    assert act.TOKEN not in ended.log
    return ended


def passed(ended: Ended) -> dict[str, int]:
    """The number of passed cases of each lane."""
    assert {lane["result"] for lane in ended.verdict["lanes"]} == {"passed"}
    return {lane["lane"]: lane["counts"]["passed"] for lane in ended.verdict["lanes"]}


def test_a_pytest_library_gates_a_pull_request(adopt: Adopt, github: FakeGitHub) -> None:
    head = {"sha": "c" * 40, "ref": "change", "repo": {"full_name": "o/r"}}
    pull = {"number": 5, "head": head, "base": {"ref": "main"}}
    payload = {"pull_request": pull, "number": 5}
    ended = run(adopt("pytest_library"), github, "hardware-ci.yml", "pull_request", payload=payload)
    assert passed(ended) == {"tests-cpu": 9}
    (comment,) = github.comments.values()
    assert "PASSED: 1 lane, 9 passed" in comment["body"]
    (check,) = github.checks.values()
    assert (check["name"], check["conclusion"], check["head_sha"]) == ("hardware verdict", "success", "c" * 40)


def test_operators_gate_a_push(adopt: Adopt, github: FakeGitHub) -> None:
    ended = run(adopt("operators"), github, "hardware-ci.yml", "push")
    assert passed(ended) == {"tests-cpu": 1, "operators-cpu": 8}
    assert "report" not in {name.rpartition("/")[2] for name, job in ended.jobs.items() if job.result == "success"}
    assert github.requests == []


def test_scenes_run_at_night(adopt: Adopt, github: FakeGitHub) -> None:
    ended = run(adopt("scenes"), github, "hardware-nightly.yml", "schedule")
    assert passed(ended) == {"tests-cpu": 2, "scenes-cpu": 2}
    assert "no issue is open" in ended.job("report").text
