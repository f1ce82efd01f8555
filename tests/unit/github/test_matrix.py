"""A plan as outputs of a step, within what GitHub takes."""

import json

import pytest

from ci_toolkit.errors import UsageError
from ci_toolkit.github.matrix import OUTPUT_BYTES, outputs
from ci_toolkit.model.plan import Container, Job, Plan
from ci_toolkit.model.provenance import Provenance


def plan(count: int, label: str = "ubuntu-24.04", container: Container | None = None) -> Plan:
    jobs = tuple(
        Job(
            id=f"j{at}", lanes=("l",), platform="p", runs_on=(label,), timeout_minutes=20, chunk=at // 256,
            container=container,
        )
        for at in range(count)
    )  # fmt: skip
    return Plan(provenance=Provenance(toolkit="0"), conf_digest="", lanes=(), jobs=jobs)


@pytest.mark.parametrize("count", [0, 1, 256, 257, 1024])
def test_each_job_is_in_one_matrix(count: int) -> None:
    found = outputs(plan(count))
    matrices = [json.loads(text)["include"] for name, text in found.items() if name.startswith("matrix_") and text]
    assert [entry["job"] for matrix in matrices for entry in matrix] == [f"j{at}" for at in range(count)]
    assert all(0 < len(matrix) <= 256 for matrix in matrices)
    assert found["jobs"] == str(count)
    assert len([name for name in found if name.startswith("matrix_")]) == 4


def test_an_entry_says_where_it_runs_and_how_long() -> None:
    entry = json.loads(outputs(plan(1, container=Container(image="i", volumes=("/a:/a",))))["matrix_0"])["include"][0]
    assert entry == {
        "job": "j0",
        "runs_on": ["ubuntu-24.04"],
        "timeout": 20,
        "container": {"image": "i", "options": "", "volumes": ["/a:/a"]},
    }


def test_what_github_would_drop_for_its_size_is_an_error() -> None:
    label = "x" * (OUTPUT_BYTES // 2 // 100)
    with pytest.raises(UsageError, match=r"it takes 1,048,576"):
        outputs(plan(100, label))
    assert outputs(plan(90, label))
