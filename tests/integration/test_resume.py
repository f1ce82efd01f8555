"""What a death costs: one case. The rest goes on in fresh workers, within a budget, and the culprit is looked into."""

import json

import pytest

from ci_toolkit.formats.evidence import Evidence, read_evidence
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.report import ErrorKind, Purpose

CRASH = "import ctypes; ctypes.string_at(0)"


@pytest.fixture
def run(project):
    """Writes one test file and what the suite says besides, runs the job, and gives its exit code and evidence."""

    def run(text: str, suite: str = "", *args: str, more: dict[str, str] | None = None) -> tuple[int, Evidence]:
        project.write("tests/test_a.py", text)
        for name, content in (more or {}).items():
            project.write(name, content)
        keys = f"platforms: [cpu], root: {{path: tests}}, paths: [.]{', ' + suite if suite else ''}"
        project.write("conf/suites.yml", f"schema: suites/1\nsuites: {{small: {{{keys}}}}}\n")
        ran = project.toolkit("ci", *args)
        run.said = ran.stdout + ran.stderr
        assert project.processes() == []
        return ran.returncode, read_evidence(project.folder / "out/small-cpu/a1")

    return run


def outcomes(evidence: Evidence) -> list[str]:
    return [case.outcome.value for case in evidence.cases]


def purposes(evidence: Evidence) -> list[str]:
    return [worker.purpose.value for worker in evidence.report.workers]


@pytest.mark.parametrize(
    ("text", "expected", "stage"),
    [
        (f"def test_1(): pass\ndef test_2(): {CRASH}\ndef test_3(): pass\n", ["passed", "crashed", "passed"], "call"),
        (
            f"import pytest\n@pytest.fixture\ndef f(): {CRASH}\n"
            "def test_1(): pass\ndef test_2(f): pass\ndef test_3(): pass\n",
            ["passed", "crashed", "passed"],
            "setup",
        ),
        (
            f"import pytest\n@pytest.fixture\ndef f():\n    yield\n    {CRASH}\n"
            "def test_1(): pass\ndef test_2(f): pass\ndef test_3(): pass\n",
            ["passed", "crashed", "passed"],
            "teardown",
        ),
    ],
    ids=["call", "fixture", "teardown"],
)
def test_a_crash_costs_its_case_wherever_it_happens(run, text: str, expected: list[str], stage: str) -> None:
    code, evidence = run(text)
    assert (code, outcomes(evidence)) == (1, expected)
    culprit = evidence.cases[1]
    assert culprit.stage == stage
    assert evidence.failures[culprit.failures[0]].signal == "SIGSEGV"
    assert not evidence.report.errors
    assert purposes(evidence) == ["whole", "rest", "alone"]
    assert culprit.alone is Outcome.CRASHED


def test_a_crash_at_import_is_an_error_of_the_unit_and_is_not_tried_again(run) -> None:
    code, evidence = run(f"{CRASH}\ndef test_1(): pass\n", more={"tests/test_b.py": "def test_1(): pass\n"})
    assert (code, outcomes(evidence)) == (3, ["passed"])
    (error,) = evidence.report.errors
    assert (error.kind, error.unit) == (ErrorKind.WORKER_CRASHED, "test_a.py")
    assert "before its cases were collected" in error.message
    assert purposes(evidence) == ["whole", "whole"]


def test_memory_beyond_the_limit_costs_its_case(run) -> None:
    text = "def test_1(): pass\ndef test_2(): bytearray(8 << 30)\ndef test_3(): pass\n"
    code, evidence = run(text, "limits: {memory: 2GiB}")
    assert (code, outcomes(evidence)) == (1, ["passed", "failed", "passed"])
    failure = evidence.failures[evidence.cases[1].failures[0]]
    assert (failure.exception, failure.cause) == ("MemoryError", "resource")


def test_a_hundred_crashing_cases_against_a_budget_of_five(run) -> None:
    text = f"import pytest\n@pytest.mark.parametrize('n', range(100))\ndef test_crash(n): {CRASH}\n"
    code, evidence = run(text, "budget: 5", more={"tests/test_b.py": "def test_1(): pass\n"})
    assert code == 3
    found = outcomes(evidence)
    assert found.count("crashed") == 5
    assert found.count("not_run") == 95
    assert {case.reason for case in evidence.cases if case.outcome is Outcome.NOT_RUN} == {
        "the lane's budget of 5 lost workers is spent"
    }
    assert sum(worker.purpose in (Purpose.WHOLE, Purpose.REST) for worker in evidence.report.workers) <= 6


def test_units_that_the_budget_leaves_no_worker_for_are_named(run) -> None:
    code, evidence = run(
        f"def test_1(): {CRASH}\n", "budget: 1", "--jobs", "1", more={"tests/test_b.py": "def test_1(): pass\n"}
    )
    assert (code, outcomes(evidence)) == (3, ["crashed"])
    (error,) = evidence.report.errors
    assert (error.kind, error.unit) == (ErrorKind.HALTED, "test_b.py")
    assert error.message == "the lane's budget of 1 lost workers is spent before this unit started"


def test_a_culprit_that_depends_on_the_order_is_run_alone_and_then_after_the_others(run) -> None:
    text = f"""
        seen = []
        def test_1(): seen.append(1)
        def test_2():
            if seen: {CRASH}
        def test_3(): pass
    """
    code, evidence = run(text)
    assert (code, outcomes(evidence)) == (1, ["passed", "crashed", "passed"])
    assert purposes(evidence) == ["whole", "rest", "alone", "after"]
    culprit = evidence.cases[1]
    assert (culprit.alone, culprit.after) == (Outcome.PASSED, Outcome.CRASHED)
    assert culprit.tries == (Outcome.CRASHED, Outcome.PASSED, Outcome.CRASHED)
    assert "(alone in a fresh one: passed, after those that had run before it: crashed)" in run.said


@pytest.mark.parametrize(("flaky", "code", "outcome"), [("fail", 1, "failed"), ("pass", 0, "passed")])
def test_new_failures_are_run_again_where_conf_says_so(run, project, flaky: str, code: int, outcome: str) -> None:
    text = f"""
        from pathlib import Path
        ONCE = Path({str(project.folder / "once")!r})
        def test_1(): pass
        def test_2():
            first = not ONCE.exists()
            ONCE.touch()
            assert not first
    """
    found, evidence = run(text, f"confirm: 2, flaky: {flaky}")
    assert (found, outcomes(evidence)) == (code, ["passed", outcome])
    assert evidence.cases[1].tries == (Outcome.FAILED, Outcome.PASSED, Outcome.PASSED)
    assert purposes(evidence) == ["whole", "confirm", "confirm"]
    kinds = {finding["kind"] for finding in json.loads((project.folder / "out/verdict.json").read_text())["findings"]}
    assert "flaky" in kinds


def test_a_failure_that_is_confirmed_stays_one(run) -> None:
    code, evidence = run("def test_1(): assert 0\n", "confirm: 1, flaky: pass")
    assert (code, outcomes(evidence)) == (1, ["failed"])
    assert evidence.cases[0].tries == (Outcome.FAILED, Outcome.FAILED)


def test_fail_fast_names_all_that_did_not_run(run) -> None:
    more = {"tests/test_b.py": "def test_1(): pass\n", "tests/test_c.py": "def test_1(): pass\n"}
    code, evidence = run("def test_1(): assert 0\n", "", "--jobs", "1", "--fail-fast", more=more)
    assert (code, outcomes(evidence)) == (3, ["failed"])
    assert [error.unit for error in evidence.report.errors] == ["test_b.py", "test_c.py"]
    assert "the run was to end at the first failure" in run.said


def test_what_a_resumed_worker_does_not_find_again_is_lost(run, project) -> None:
    text = f"""
        import pytest
        from pathlib import Path
        COUNT = Path({str(project.folder / "count")!r})
        first = not COUNT.exists()
        COUNT.touch()
        def test_1(): {CRASH}
        @pytest.mark.parametrize("n", range(3 if first else 2))
        def test_2(n): pass
    """
    code, evidence = run(text)
    assert (code, outcomes(evidence)) == (3, ["crashed", "passed", "passed", "not_run"])
    assert "1 cases were not collected again by the worker that went on after a death" in run.said


def test_a_case_that_breaks_the_device_costs_itself_only(run) -> None:
    """The text is CUDA's own; what a card really does is shown in tests/hardware."""
    text = """
        broken = False
        def test_1(): pass
        def test_2():
            global broken
            broken = True
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        def test_3(): assert not broken
    """
    code, evidence = run(text)
    assert (code, outcomes(evidence)) == (1, ["passed", "failed", "passed"])
    assert evidence.failures[evidence.cases[1].failures[0]].cause == "device"
    assert purposes(evidence) == ["whole", "rest"]
    assert not evidence.report.errors
