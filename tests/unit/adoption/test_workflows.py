"""Runners and calls in workflows, whatever form they have."""

import pytest

from ci_toolkit.adoption.workflows import Call, Runner, read_workflows
from ci_toolkit.errors import UsageError


@pytest.fixture
def read(tmp_path):
    def write(text: str):
        path = tmp_path / ".github" / "workflows" / "a.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return read_workflows(tmp_path)

    return write


@pytest.mark.parametrize(
    ("runs_on", "labels"),
    [
        ("h200", [("h200",)]),
        ("[self-hosted, h200]", [("self-hosted", "h200")]),
        ("{group: gpus, labels: [h200]}", [("h200",)]),
        ("{group: gpus}", []),
        ("ubuntu-24.04", []),
        ("${{ matrix.machine }}", [("h100",), ("a100", "big"), ("mi300x",)]),
        ("${{ fromJSON(inputs.host) }}", []),
        ("[self-hosted, '${{ inputs.card }}']", []),
        ("3", []),
    ],
)
def test_labels(read, runs_on, labels) -> None:
    matrix = "{machine: [ubuntu-24.04, h100, [a100, big]], include: [{machine: mi300x}, {python: '3.12'}, x]}"
    found = read(
        f"on: push\njobs:\n  test:\n    strategy:\n      matrix: {matrix}\n    runs-on: {runs_on}\n    steps: []\n"
    )
    assert [runner.labels for runner in found.runners] == labels


def test_anchors_and_keys_that_yaml_reads_as_something_else(read) -> None:
    found = read("on: push\njobs:\n  1: &job\n    runs-on: h200\n  two: *job\n")
    assert found.runners == (
        Runner(".github/workflows/a.yml", "1", ("h200",)),
        Runner(".github/workflows/a.yml", "two", ("h200",)),
    )


def test_calls_of_workflows_and_actions(read) -> None:
    found = read(
        "on: push\njobs:\n"
        "  a:\n    uses: o/ci-toolkit/.github/workflows/pr.yml@v1\n    with: {conf: conf}\n"
        "  b:\n    steps:\n      - uses: o/ci-toolkit@main\n        with: {args: ci}\n"
        "      - uses: ./local\n      - run: x\n"
    )
    file = ".github/workflows/a.yml"
    assert found.calls == (
        Call(file, "a", "o/ci-toolkit", "pr.yml", "v1", ("conf",)),
        Call(file, "b", "o/ci-toolkit", "", "main", ("args",)),
    )


@pytest.mark.parametrize("text", ["jobs: []", "jobs: {a: 3}", "jobs: {a: {runs-on: null, steps: {}, with: 3}}", "a: b"])
def test_what_says_nothing(read, text) -> None:
    assert read(text) == read("a: b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs: [\n", "a.yml:2: is not valid YAML"),
        ("", "a.yml: is no workflow"),
        ("- a\n", "a.yml: is no workflow"),
        ("[" * 100_000, "a.yml:1: is not valid YAML"),
        ("a: !!python/object:os.system x", "a.yml:1: is not valid YAML"),
        ("{[a]: b}", "a.yml:1: is not valid YAML"),
        ("a: 2026-13-45", "a.yml: is not valid YAML"),
    ],
)
def test_what_is_malformed(read, text, message) -> None:
    with pytest.raises(UsageError, match=f"^.github/workflows/{message}"):
        read(text)
