"""A suite in shards is judged as one suite: nothing is lost between them, and nothing counts twice."""

import json
import shutil

import pytest

PLATFORMS = "schema: platforms/1\nplatforms: {cpu: {device: cpu, runs_on: [x], env_allow: [CI_TOOLKIT_TEST_MARKER]}}\n"
SUITES = "schema: suites/1\nsuites: {small: {platforms: [cpu], root: {path: tests}, shards: 3, %s}}\n"
SKIPPED = "import pytest\n\n@pytest.mark.skip(reason='no card')\ndef test(): pass\n"
GREEN = "def test(): pass\n"
LANES = ["small-cpu-1of3", "small-cpu-2of3", "small-cpu-3of3"]
FLOOR = "schema: ratchet/1\nmembership: grows\nfloor: %d\n"


@pytest.fixture
def sharded(project):
    project.write("conf/platforms.yml", PLATFORMS)
    project.write("conf/suites.yml", SUITES % "ratchet: ratchets/small")
    for name in "abcdef":
        project.write(f"tests/test_{name}.py", GREEN)
    return project


def verdict(project) -> dict:
    return json.loads((project.folder / "out/verdict.json").read_text())


def found(project) -> list[tuple[str, str]]:
    return [(one["kind"], one["lane"]) for one in verdict(project)["findings"] if one.get("blocks", True)]


def run(project, ratchet: str = FLOOR % 6, *args: str) -> int:
    shutil.rmtree(project.folder / "out", ignore_errors=True)
    project.write("conf/ratchets/small/cpu.yml", ratchet)
    return project.toolkit("ci", *args).returncode


def test_the_shards_run_each_file_once(sharded) -> None:
    assert run(sharded) == 0
    reports = [json.loads((sharded.folder / f"out/{lane}/a1/report.json").read_text()) for lane in LANES]
    assert sorted(unit for report in reports for unit in report["units"]) == [f"test_{name}.py" for name in "abcdef"]
    assert [lane["lane"] for lane in verdict(sharded)["lanes"]] == LANES


def test_the_least_number_of_passes_is_that_of_all_shards(sharded) -> None:
    assert run(sharded, FLOOR % 7) == 1
    assert found(sharded) == [("too_few_passed", LANES[0])]
    assert run(sharded, FLOOR % 7, "--only", LANES[1]) == 0, "a part of the suite is no measure of it"


def test_skips_of_all_shards_count_together(sharded) -> None:
    for name in "abc":
        sharded.write(f"tests/test_{name}.py", SKIPPED)
    rule = FLOOR % 3 + "skips: [{reason: no card, ceiling: %d, why: there is none}]\n"
    assert run(sharded, rule % 3) == 0
    assert run(sharded, rule % 2) == 1
    assert found(sharded) == [("skip_ceiling", LANES[0])]


def test_nothing_tested_in_all_shards_is_red_and_in_one_it_is_not(sharded) -> None:
    rule = FLOOR % 0 + "skips: [{reason: no card, ceiling: 6, why: there is none}]\n"
    for name in "bcdef":
        sharded.write(f"tests/test_{name}.py", SKIPPED)
    assert run(sharded, rule) == 0
    sharded.write("tests/test_a.py", SKIPPED)
    assert run(sharded, rule) == 1
    assert found(sharded) == [("too_few_passed", LANES[0])]


def test_more_shards_than_files_is_no_fault_and_no_case_at_all_is(sharded) -> None:
    for name in "bcdef":
        (sharded.folder / f"tests/test_{name}.py").unlink()
    assert run(sharded, FLOOR % 1) == 0
    sharded.write("conf/suites.yml", SUITES % "marker: nothing")
    assert run(sharded) == 3
    assert ("lane_empty", LANES[0]) in found(sharded)


def test_a_member_that_no_shard_shows_is_missing(sharded) -> None:
    assert run(sharded, FLOOR % 0) == 0
    evidence = [word for lane in LANES for word in ("--evidence", f"out/{lane}/a1")]
    proposed = sharded.toolkit("ratchet", "propose", "small-cpu", *evidence, "--out", "proposals")
    assert proposed.returncode == 0, proposed.stderr
    assert "6 members in 6 test files" in proposed.stdout
    few = sharded.toolkit("ratchet", "propose", "small-cpu", *evidence[:4], "--out", "few")
    assert few.returncode == 3
    assert "small-cpu has 3 shards, there is evidence of 1, 2" in few.stderr
    taken = sharded.toolkit("ratchet", "accept", "small-cpu", "proposals/small", "--reason", "reviewed")
    assert taken.returncode == 0, taken.stderr
    (sharded.folder / "tests/test_d.py").unlink()
    shutil.rmtree(sharded.folder / "out")
    assert sharded.toolkit("ci").returncode == 3
    ((kind, lane),) = found(sharded)
    assert kind == "missing"
    assert lane in LANES


def test_a_job_that_runs_one_shard_leaves_the_whole_to_the_gate(sharded) -> None:
    for name in "bcdef":
        sharded.write(f"tests/test_{name}.py", SKIPPED)
    sharded.write("conf/ratchets/small/cpu.yml", FLOOR % 1 + "skips: [{reason: no card, ceiling: 4, why: none}]\n")
    assert sharded.toolkit("plan", "--fleet", "--event", "schedule", "--out", "plan").returncode == 0
    for lane in LANES:
        given = ("--plan", "plan/plan.json", "--job", lane, "--out", f"uploads/evidence.hardware.{lane}.a1")
        assert sharded.toolkit("ci", *given).returncode == 0
    gate = sharded.toolkit("gate", "--plan", "plan/plan.json", "--uploads", "uploads", "--out", "out")
    assert gate.returncode == 1
    assert found(sharded) == [("skip_ceiling", LANES[0])]
