"""What act can not prove about the toolkit's own YAML: permissions, timeouts, pins, scripts, inputs."""

import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
SCRIPTS = Path(sysconfig.get_path("scripts"))
LANES = [f"lanes_{chunk}" for chunk in range(4)]
BUILDS = "builds"


class Loader(yaml.SafeLoader):
    """YAML as GitHub reads it: `on` is a word."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader)
    return document


MATRIX = load(ROOT / ".github/workflows/hardware-matrix.yml")


def jobs(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from load(path)["jobs"].items()


def steps() -> list[tuple[str, dict[str, Any]]]:
    found = [
        (f"{path.name} {name}", step) for path in FILES for name, job in jobs(path) for step in job.get("steps", [])
    ]
    return found + [("action.yml", step) for step in load(ACTION)["runs"]["steps"]]


def test_the_linters_find_nothing() -> None:
    """zizmor says "No findings" of a file that it can not read, so the schemas come first."""
    schema = [SCRIPTS / "check-jsonschema", "--builtin-schema"]
    for command in (
        [*schema, "vendor.github-workflows", *FILES],
        [*schema, "vendor.github-actions", ACTION],
        [
            SCRIPTS / "zizmor",
            "--offline",
            "--persona",
            "pedantic",
            "--no-progress",
            "--strict-collection",
            ACTION,
            *FILES,
        ],
    ):
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"


# The most that a job may be given. Whatever is not here reads the repository at most.
GRANTED = {
    ("comment.yml", "approve"): {"contents": "read", "pull-requests": "write"},
    ("comment.yml", "hardware"): {"actions": "read", "contents": "read"},
    ("comment.yml", "report"): {"checks": "write", "contents": "read", "pull-requests": "write"},
    ("hardware-matrix.yml", "approval"): {"actions": "read"},
    ("pr.yml", "hardware"): {"actions": "read", "contents": "read"},
    ("pr.yml", "report"): {"checks": "write", "contents": "read", "pull-requests": "write"},
    ("nightly.yml", "hardware"): {"actions": "read", "contents": "read"},
    ("nightly.yml", "report"): {"contents": "read", "issues": "write"},
    ("triage.yml", "hardware"): {"actions": "read", "contents": "read"},
    ("report-fork.yml", "report"): {"actions": "read", "contents": "read", "pull-requests": "write"},
    ("ratchet-update.yml", "propose"): {"actions": "read", "contents": "write", "pull-requests": "write"},
}


# What is lost there is judged, and is red by a name of its own.
SOFT = {
    ("hardware-matrix.yml", "gate"): ["Get the plan", "Get the evidence", "Get what was built"],
    ("comment.yml", "report"): ["Get the verdict"],
    ("nightly.yml", "report"): ["Get the verdict"],
    ("pr.yml", "report"): ["Get the verdict"],
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_job_has_its_own_permissions_and_an_end(path: Path) -> None:
    assert load(path)["permissions"] == {}
    for name, job in jobs(path):
        assert job["permissions"] == GRANTED.get((path.name, name), {"contents": "read"}), name
        assert "uses" in job or "timeout-minutes" in job, name
        assert "continue-on-error" not in job, name
        soft = [step["name"] for step in job.get("steps", []) if "continue-on-error" in step]
        assert soft == SOFT.get((path.name, name), []), name


def test_no_job_that_runs_code_of_a_change_can_write() -> None:
    for name, job in MATRIX["jobs"].items():
        assert "write" not in job["permissions"].values(), name
        for step in job["steps"]:
            assert "token" not in step.get("with", {}), name
    for path in FILES:
        assert "secrets" not in path.read_text(encoding="utf-8"), path.name
        assert "pull_request_target" not in load(path)["on"], path.name


def test_actions_of_others_are_pinned_by_commit_and_keep_no_token() -> None:
    seen = set()
    for where, step in steps():
        used = step.get("uses", "")
        if not used or used.startswith("./"):
            continue
        name, _, commit = used.partition("@")
        assert re.fullmatch(r"[0-9a-f]{40}", commit), f"{where}: {used}"
        seen.add((name, commit))
        if name == "actions/checkout":
            assert step["with"]["persist-credentials"] is False, where
    assert len(seen) == len({name for name, _ in seen}), "one commit for each action"
    for path in (ACTION, *FILES):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "uses: actions/" not in line or re.search(r"@[0-9a-f]{40} # v\d", line), f"{path.name}: {line}"


def test_no_script_holds_an_expression() -> None:
    scripts = [(where, step["run"]) for where, step in steps() if "run" in step]
    assert scripts
    for where, script in scripts:
        assert "${{" not in script, where


def test_the_last_line_of_what_runs_the_toolkit_is_exec() -> None:
    """So that the signals of a cancelled job reach the toolkit itself."""
    [step] = [step for step in load(ACTION)["runs"]["steps"] if step.get("id") == "run"]
    assert step["run"].strip().splitlines()[-1].startswith('exec "$RUNNER_TEMP/ci-toolkit/bin/ci-toolkit"')
    for where, step in steps():
        for line in step.get("run", "").splitlines():
            if "bin/ci-toolkit" in line and not line.lstrip().startswith("test "):
                assert line.lstrip().startswith("exec "), f"{where}: {line}"


def test_inputs_of_the_action_reach_scripts_through_env_alone() -> None:
    for step in load(ACTION)["runs"]["steps"]:
        if "run" in step:
            assert step["shell"] == "bash"
            assert set(step["env"].values()) <= {f"${{{{ inputs.{name} }}}}" for name in load(ACTION)["inputs"]}


def test_evidence_is_uploaded_whatever_the_run_did() -> None:
    upload = load(ACTION)["runs"]["steps"][-1]
    assert upload["if"].startswith("always() ")
    assert upload["with"]["include-hidden-files"] is True


def test_the_jobs_of_the_four_matrices_differ_in_their_number_alone() -> None:
    texts = [yaml.dump(MATRIX["jobs"][name]).replace(f"matrix_{name[-1]}", "matrix_N") for name in LANES]
    assert len(set(texts)) == 1
    assert MATRIX["jobs"][LANES[0]]["strategy"]["fail-fast"] is False


def test_the_gate_waits_for_every_job_and_always_runs() -> None:
    gate = MATRIX["jobs"]["gate"]
    assert gate["if"] == "always()"
    assert set(gate["needs"]) == set(MATRIX["jobs"]) - {"gate"}
    for name in ("plan", BUILDS, *LANES):
        assert f'"{name}": {{"result": "${{{{ needs.{name}.result }}}}"' in " ".join(str(gate["steps"]).split())


def test_each_call_of_the_toolkit_gives_inputs_that_the_action_has() -> None:
    known = set(load(ACTION)["inputs"])
    calls = [(where, step["with"]) for where, step in steps() if step.get("uses") == "./.ci-toolkit/toolkit"]
    assert len(calls) >= 10
    for where, given in calls:
        assert set(given) <= known, where
        assert {"args", "python", "wheelhouse"} <= set(given), where


def test_a_caller_passes_on_what_its_inputs_say() -> None:
    known = MATRIX["on"]["workflow_call"]["inputs"]
    for path in FILES:
        for name, job in jobs(path):
            if "uses" not in job:
                continue
            assert set(job["with"]) <= set(known), f"{path.name} {name}"
            own = load(path)["on"]["workflow_call"]["inputs"]
            shared = set(own) & set(known) - {"name"}
            assert shared <= set(job["with"]), f"{path.name} {name}"


def test_the_approval_of_a_fork_comes_before_every_lane() -> None:
    for name in (*LANES, BUILDS):
        job = MATRIX["jobs"][name]
        assert "approval" in job["needs"]
        assert "needs.approval.result == (needs.plan.outputs.approve == 'false' && 'skipped' || 'success')" in job["if"]
        assert job["if"].startswith("!cancelled() && ")
    assert MATRIX["jobs"]["approval"]["if"] == "needs.plan.outputs.approve != 'false'", "a lost answer means yes"
    approve = MATRIX["jobs"]["plan"]["outputs"]["approve"]
    assert "github.event.pull_request.head.repo.full_name != github.repository" in approve
    assert approve.endswith("&& 'true' || 'false' }}")
    assert MATRIX["jobs"]["approval"]["environment"] == "${{ inputs.environment }}"


def test_a_commit_is_tested_only_where_a_comment_names_it_and_its_job_approved_it() -> None:
    approve = MATRIX["jobs"]["plan"]["outputs"]["approve"]
    named = "startsWith(github.event.comment.body, format('/ci run {0}', inputs.commit))"
    assert f"|| (inputs.commit != '' && !(github.event_name == 'issue_comment' && {named})))" in approve
    comment = load(ROOT / ".github/workflows/comment.yml")["jobs"]
    assert comment["approve"]["if"].startswith("github.event_name == 'issue_comment' && ")
    assert comment["hardware"]["needs"] == "approve"
    run = "needs.approve.outputs.run == 'true'"
    assert comment["hardware"]["if"] == f"{run} && needs.approve.outputs.commit != ''"
    assert comment["report"]["if"] == f"always() && {run}"
    given = {(path.name, job.get("with", {}).get("commit")) for path in FILES for _, job in jobs(path)}
    assert {pair for pair in given if pair[1]} == {("comment.yml", "${{ needs.approve.outputs.commit }}")}


def test_the_commit_is_what_every_job_has_of_the_subject() -> None:
    for name, job in MATRIX["jobs"].items():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@") and "path" not in step["with"]:
                assert step["with"]["ref"] == "${{ inputs.commit }}", name
        args = " ".join(step.get("with", {}).get("args", "") for step in job["steps"])
        if name in ("plan", BUILDS, *LANES):
            assert "--commit '${{ inputs.commit }}'" in args, name
    for path in FILES:
        assert "allow-unsafe-pr-checkout: true" not in path.read_text(encoding="utf-8"), path.name


def test_what_may_write_has_code_of_the_toolkit_alone() -> None:
    """ratchet-update.yml has the default branch."""
    for path in FILES:
        for name, job in jobs(path):
            if "write" in job["permissions"].values() and path.name != "ratchet-update.yml":
                places = [step["with"].get("path") for step in job["steps"] if "checkout@" in step.get("uses", "")]
                assert places == [".ci-toolkit/toolkit"], f"{path.name} {name}"


def test_names_of_artifacts_hold_the_attempt() -> None:
    for where, step in steps():
        name = step.get("with", {}).get("upload", "")
        if name:
            assert name.endswith(".a${{ github.run_attempt }}"), f"{where}: {name}"


def test_the_readme_names_each_workflow_and_each_input_and_output_of_the_action() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("### In a workflow")[2].partition("| command | does |")[0]
    assert section
    words = set(re.findall(r"`([^`\n]+)`", section))
    assert set(load(ACTION)["inputs"]) <= words
    assert {"result", "verdict", "summary", "evidence"} <= words & set(load(ACTION)["outputs"])
    assert {path.name for path in FILES if "workflow_call" in load(path)["on"]} <= words


def test_the_caller_that_the_readme_shows_grants_what_comment_yml_asks_for_and_no_more() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [text] = [block for block in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL) if "issue_comment" in block]
    shown = yaml.load(text, Loader)
    [caller] = shown["jobs"].values()
    asked: dict[str, str] = {}
    for _, job in jobs(ROOT / ".github/workflows/comment.yml"):
        for scope, level in job["permissions"].items():
            asked[scope] = max(level, asked.get(scope, "read"))
    assert caller["permissions"] == asked, "write is the greater word too"
    assert shown["on"] == {"issue_comment": {"types": ["created"]}}
    assert set(caller["with"]) <= set(load(ROOT / ".github/workflows/comment.yml")["on"]["workflow_call"]["inputs"])


def test_what_is_published_can_not_be_of_another_run() -> None:
    """A self-hosted runner keeps its folders; where nothing is checked out first, nothing empties them."""
    for path in FILES:
        for name, job in jobs(path):
            if name == "report":
                [got] = [step for step in job["steps"] if step["name"] == "Get the verdict"]
                folder = got["with"]["path"]
                assert folder.endswith("${{ github.run_id }}.${{ github.run_attempt }}"), path.name
                assert f"publish --out {folder} " in job["steps"][-1]["with"]["args"], path.name
                # A verdict of another run, which ran code of a fork, is told as a comment and no more.
                digest = "--digest '${{ needs.hardware.outputs.digest }}'" in job["steps"][-1]["with"]["args"]
                assert digest == (path.name != "report-fork.yml"), path.name


def test_the_interpreters_of_the_action_see_nothing_of_the_subject() -> None:
    """The checkout may hold a `shlex.py`: without -I, `-c` and `-m` look there first."""
    for step in load(ACTION)["runs"]["steps"]:
        for line in step.get("run", "").splitlines():
            if "python" in line.lower() and (" -c " in line or " -m " in line):
                assert "-I -" in line, line
