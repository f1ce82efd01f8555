"""The child's pytest runner and the host's judgement of it, on real sessions in their own processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import ci_toolkit
from ci_toolkit.model.outcome import Cause, Outcome, Stage
from ci_toolkit.model.report import ErrorKind, Worker, WorkerEnd
from ci_toolkit.suites.kind import Account, UnitResult
from ci_toolkit.suites.pytest.decode import decode

SUBJECTS = Path(__file__).parents[2] / "subjects" / "pytest"
NONCE = "n0"
SUBJECT = os.environ.get("SUBJECT_PYTHON", sys.executable)
"""The interpreter whose pytest is recorded; ``test_pytest_versions`` names others."""
_DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[3])
from ci_toolkit.child import pytest_runner
from ci_toolkit.child.events import Events
sys.exit(pytest_runner.run(json.loads(sys.argv[1]), Events(sys.argv[2], "n0", None), lambda: None))
"""

Run = Callable[..., UnitResult]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a file of tests (its text, or a path) with more files beside it, and judges what is left."""

    def run(
        source: str | Path, *, killed_after: str = "", end: WorkerEnd | None = None, **options: object
    ) -> UnitResult:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        (root / "pytest.ini").write_text(str(options.pop("ini", "[pytest]\n")))
        for name, text in dict(options.pop("beside", {})).items():  # type: ignore[call-overload]
            (root / name).write_text(dedent(text))
        text = source.read_text() if isinstance(source, Path) else dedent(source)
        (root / "a_test.py").write_text(text)
        events = tmp_path / "events.jsonl"
        events.unlink(missing_ok=True)
        request = {"options": {"root": str(root), "files": ["a_test.py"], **options}}
        command = [SUBJECT, "-c", _DRIVER, json.dumps(request), str(events), str(Path(ci_toolkit.__file__).parents[1])]
        with (tmp_path / "stdout").open("w+b") as out, (tmp_path / "stderr").open("w+b") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, cwd=root)
            while killed_after and process.poll() is None:
                if events.exists() and killed_after in events.read_text():
                    process.kill()
            code = process.wait(90)
            tails = [
                (tmp_path / name).read_bytes()[-8000:].decode(errors="backslashreplace")
                for name in ("stdout", "stderr")
            ]
        finished = events.exists() and b'"e":"end"' in events.read_bytes()
        end = end or (WorkerEnd.COMPLETED if finished or code > 0 else WorkerEnd.CRASHED)
        worker = Worker(
            number=1,
            unit="a_test.py",
            end=end,
            exit_code=code if code >= 0 else None,
            signal=signal.Signals(-code).name if code < 0 else "",
        )
        return decode("a_test.py", Account(worker, "", NONCE, events, *tails), str(root))

    return run


def outcomes(result: UnitResult) -> dict[str, Outcome]:
    return {case.id.partition("::")[2]: case.outcome for case in result.cases}


def kinds(result: UnitResult) -> list[ErrorKind]:
    return [error.kind for error in (*((result.death,) if result.death else ()), *result.errors)]


def test_expected_failures_are_told_apart(run: Run) -> None:
    result = run(SUBJECTS / "C23_test.py")
    assert outcomes(result) == {
        "test_now_passes": Outcome.XPASSED,
        "test_now_passes_strict": Outcome.FAILED,
        "test_fails_otherwise": Outcome.FAILED,
        "test_imperative": Outcome.XFAILED,
        "test_not_run": Outcome.XFAILED,
    }
    assert [case.reason for case in result.cases] == [
        "driver 12", "[XPASS(strict)] driver 12", "", "gave up early", "[NOTRUN] ",
    ]  # fmt: skip
    strict, otherwise = (result.failures[case.failures[0]] for case in result.cases[1:3])
    assert strict.exception == "XPASS(strict)"
    assert (otherwise.exception, otherwise.message, otherwise.cause) == ("KeyError", "'x'", Cause.EXCEPTION)
    assert not result.errors


def test_odd_ids_stay_distinct(run: Run) -> None:
    result = run(SUBJECTS / "C21_test.py")
    assert len({case.id for case in result.cases}) == 31
    assert len(result.cases) == 31
    assert all(case.id.isprintable() for case in result.cases)
    assert not result.errors


def test_text_of_messages_survives(run: Run) -> None:
    result = run(SUBJECTS / "C19_test.py")
    assert [failure.message for failure in result.failures] == [
        "row 1\nrow 2\ttabbed\r\nrow 3  two-spaces",
        "literal #x1B and &#10; and &amp;lt; must survive as typed",
        "assert 0",
    ]


def test_a_crash_costs_one_case(run: Run) -> None:
    result = run(SUBJECTS / "C25_test.py")
    assert list(outcomes(result).values()) == [
        Outcome.PASSED, Outcome.FAILED, Outcome.CRASHED, Outcome.NOT_RUN, Outcome.NOT_RUN,
    ]  # fmt: skip
    crash = result.failures[result.cases[2].failures[0]]
    assert (crash.signal, crash.stage, crash.frames[-1].function) == ("SIGSEGV", Stage.CALL, "test_c_crash")
    assert crash.frames[-1].file == "a_test.py"
    assert result.cases[3].reason == "the worker died of SIGSEGV in a_test.py::test_c_crash"
    assert kinds(result) == [ErrorKind.WORKER_CRASHED]
    assert result.death is not None
    assert result.death.case == result.culprit == "a_test.py::test_c_crash"
    assert result.before == tuple(case.id for case in result.cases[:2])
    assert result.rest == tuple(case.id for case in result.cases[3:])


def test_a_hang_in_teardown_keeps_the_first_failure(run: Run) -> None:
    result = run(SUBJECTS / "C27_test.py", killed_after='"when":"call"', end=WorkerEnd.TIMEOUT)
    case = result.cases[0]
    assert list(outcomes(result).values()) == [Outcome.TIMEOUT, Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert [result.failures[row].exception for row in case.failures] == ["ValueError", ""]
    assert case.stage is Stage.TEARDOWN
    assert kinds(result) == [ErrorKind.WORKER_TIMEOUT]


def test_an_interrupt_names_no_culprit(run: Run) -> None:
    source = "import time\ndef test_a(): pass\ndef test_b(): print('x'); time.sleep(600)\ndef test_c(): pass\n"
    result = run(source, killed_after='::test_b","when":"setup"', end=WorkerEnd.INTERRUPTED)
    assert list(outcomes(result).values()) == [Outcome.PASSED, Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert result.cases[1].reason == "interrupted"
    assert kinds(result) == [ErrorKind.INTERRUPTED]


PHASES = """
    import pytest, unittest
    @pytest.fixture
    def bad_setup(): raise OSError("no")
    @pytest.fixture
    def bad_teardown():
        yield
        raise RuntimeError("late")
    def test_setup(bad_setup): pass
    def test_teardown(bad_teardown): pass
    def test_both(bad_teardown): assert False, "first"
    def test_skip(): pytest.skip("no card")
    @pytest.mark.skip(reason="not today")
    def test_mark(): pass
    def test_exit(): raise SystemExit(0)
    class TestOld(unittest.TestCase):
        def test_ok(self): pass
        def test_bad(self): self.assertEqual(1, 2)
        @unittest.skip("old")
        def test_skip(self): pass
        def test_sub(self):
            for i in range(3):
                with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_sub(subtests):
        for i in range(3):
            with subtests.test(i=i): assert i != 1
"""


def test_outcomes_over_phases(run: Run) -> None:
    result = run(PHASES)
    assert {name: str(outcome) for name, outcome in outcomes(result).items()} == {
        "test_setup": "error",
        "test_teardown": "error",
        "test_both": "error",
        "test_skip": "skipped",
        "test_mark": "skipped",
        "test_exit": "failed",
        "TestOld::test_ok": "passed",
        "TestOld::test_bad": "failed",
        "TestOld::test_skip": "skipped",
        "TestOld::test_sub": "failed",
        "test_sub": "failed",
    }
    by_name = {case.id.partition("::")[2]: case for case in result.cases}
    assert by_name["test_setup"].stage is Stage.SETUP
    both = by_name["test_both"]
    assert both.stage is Stage.TEARDOWN
    assert [result.failures[row].stage for row in both.failures] == [Stage.CALL, Stage.TEARDOWN]
    assert [by_name[name].reason for name in ("test_skip", "test_mark", "TestOld::test_skip")] == [
        "no card", "not today", "old",
    ]  # fmt: skip
    assert not result.errors


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pytest.exit('enough', returncode=0)", "enough"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("request.session.shouldstop = 'a plug-in says so'", "a plug-in says so"),
    ],
)
def test_a_session_that_stops_early_is_no_pass(run: Run, body: str, said: str) -> None:
    result = run(f"import pytest\ndef test_a(request): {body}\ndef test_b(): pass\n")
    assert outcomes(result)["test_b"] is Outcome.NOT_RUN
    assert ErrorKind.LOST_CASES in kinds(result)
    assert any(said in error.message for error in result.errors)


def test_exitfirst_and_parallel_and_reruns_of_the_user_do_not_thin_out_the_run(run: Run) -> None:
    result = run(
        "def test_a(): assert 0\ndef test_b(): assert 0\n",
        ini="[pytest]\naddopts = -x -n 2 --dist loadfile --reruns 2\n",
    )
    assert list(outcomes(result).values()) == [Outcome.FAILED, Outcome.FAILED]
    assert not result.errors
    assert not result.cases[0].tries


def test_tries_of_a_flaky_case_are_kept(run: Run) -> None:
    result = run(
        """
        import pytest
        seen = []
        @pytest.mark.flaky(reruns=2)
        def test_a():
            seen.append(1)
            assert len(seen) > 1, "first try"
        """
    )
    case = result.cases[0]
    assert case.outcome is Outcome.PASSED
    assert case.tries == (Outcome.FAILED, Outcome.PASSED)
    assert result.failures[case.failures[0]].exception == "AssertionError"
    assert not result.errors


CHOICE = "import pytest\n@pytest.mark.slow\ndef test_slow(): pass\ndef test_quick(): pass\ndef test_other(): pass\n"
MARKERS = "[pytest]\nmarkers = slow\n"


def test_declared_selectors_deselect(run: Run) -> None:
    for options in ({"marker": "not slow"}, {"keyword": "not slow"}, {"args": ["--deselect=a_test.py::test_slow"]}):
        result = run(CHOICE, ini=MARKERS, **options)
        assert list(outcomes(result)) == ["test_quick", "test_other"]
        assert result.deselected == 1
        assert not result.errors
    nothing = run(CHOICE, ini=MARKERS, marker="slow and not slow")
    assert not nothing.cases
    assert not nothing.errors


@pytest.mark.parametrize(
    "hook",
    [
        "items[:] = items[1:]",
        "config.hook.pytest_deselected(items=[items.pop(0)])",
        "items.pop(0); items.insert(0, items[-1]); items.pop()",
    ],
)
def test_deselection_by_a_conftest_is_an_error(run: Run, hook: str) -> None:
    conftest = f"def pytest_collection_modifyitems(config, items):\n    {hook}\n"
    result = run(CHOICE, ini=MARKERS, beside={"conftest.py": conftest})
    assert kinds(result) == [ErrorKind.UNDECLARED_DESELECTION]
    assert "a_test.py::test_slow" in result.errors[0].message


def test_a_wrapper_around_all_others_can_not_hide_what_it_drops(run: Run) -> None:
    conftest = """
        import pytest
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(items):
            yield
            del items[0]
    """
    assert kinds(run(CHOICE, ini=MARKERS, beside={"conftest.py": conftest})) == [ErrorKind.UNDECLARED_DESELECTION]


def test_withheld_cases_never_run(run: Run) -> None:
    source = "import os\ndef test_a(): pass\ndef test_b(): os._exit(3)\n"
    result = run(source, withheld={"a_test.py::test_b": "hangs the card"})
    assert [(case.outcome, case.reason) for case in result.cases] == [
        (Outcome.PASSED, ""), (Outcome.NOT_RUN, "hangs the card"),
    ]  # fmt: skip
    assert not result.errors
    alone = run(source, withheld={"a_test.py::test_b": "x", "a_test.py::test_a": "y"})
    assert [case.outcome for case in alone.cases] == [Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert not alone.errors


@pytest.mark.parametrize(
    ("source", "beside", "kind", "said"),
    [
        ("import nowhere_at_all\n", {}, ErrorKind.COLLECTION, "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("def test_a(:\n", {}, ErrorKind.COLLECTION, "SyntaxError"),
        (
            "import pytest\npytest.skip('no card', allow_module_level=True)\n",
            {},
            ErrorKind.COLLECTION,
            "skipped itself while it was collected: no card",
        ),
        (
            "import pytest\npytest.importorskip('nowhere_at_all')\n",
            {},
            ErrorKind.COLLECTION,
            "could not import 'nowhere_at_all'",
        ),
        ("x = 1\n", {}, ErrorKind.EMPTY_SELECTION, "no case was collected"),
        (
            "def test_a(): pass\n",
            {"conftest.py": "import pytest\nraise pytest.UsageError('not like this')\n"},
            ErrorKind.EXIT_DISAGREES,
            "not like this",
        ),
        (
            "def test_a(): pass\n",
            {"conftest.py": "def pytest_runtest_setup(item): raise SystemError('x')\ndef pytest_configure(): 1/0\n"},
            ErrorKind.EXIT_DISAGREES,
            "ZeroDivisionError",
        ),
        (
            "def test_a(): pass\n",
            {"conftest.py": "raise SystemExit(0)\n"},
            ErrorKind.NO_FINAL_REPORT,
            "sys.exit(0)",
        ),
        (
            "def test_a(): pass\n",
            {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0 ; session.exitstatus = 9\n"},
            ErrorKind.EXIT_DISAGREES,
            "ended with 9",
        ),
        (
            "def test_a(): assert 0\n",
            {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n"},
            ErrorKind.EXIT_DISAGREES,
            "ended with 0 although cases failed",
        ),
        (
            "def test_a(): pass\n",
            {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 1\n"},
            ErrorKind.EXIT_DISAGREES,
            "ended with 1 although no case failed",
        ),
        (
            "def test_a(): pass\n",
            {"conftest.py": "def pytest_runtestloop(session): return True\n"},
            ErrorKind.LOST_CASES,
            "1 collected cases were not run",
        ),
    ],
)  # fmt: skip
def test_what_makes_a_session_untrustworthy(run: Run, source: str, beside: dict, kind: ErrorKind, said: str) -> None:
    result = run(source, beside=beside)
    assert kind in kinds(result), result.errors
    assert any(said in error.message for error in result.errors), result.errors


def test_an_exit_while_collecting_is_an_error(run: Run) -> None:
    result = run("import sys\nsys.exit(0)\n")
    assert kinds(result) in ([ErrorKind.EXIT_DISAGREES], [ErrorKind.COLLECTION])
    assert "SystemExit" in result.errors[0].message


def test_cases_are_told_in_the_order_of_the_source_whatever_order_they_run_in(run: Run) -> None:
    conftest = "def pytest_collection_modifyitems(items): items.reverse()\n"
    result = run(
        "order = []\ndef test_a(): assert order\ndef test_b(): order.append(1)\n", beside={"conftest.py": conftest}
    )
    assert list(outcomes(result).items()) == [("test_a", Outcome.PASSED), ("test_b", Outcome.PASSED)]
    assert not result.errors


def test_leaving_through_the_back_door_is_a_crash(run: Run) -> None:
    result = run("import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\n")
    assert list(outcomes(result).values()) == [Outcome.PASSED, Outcome.CRASHED]
    assert kinds(result) == [ErrorKind.WORKER_CRASHED]


def test_a_crash_after_the_last_case_is_an_error(run: Run) -> None:
    conftest = "import os\ndef pytest_sessionfinish(): os.abort()\n"
    result = run("def test_a(): pass\n", beside={"conftest.py": conftest})
    assert list(outcomes(result).values()) == [Outcome.PASSED]
    assert kinds(result) == [ErrorKind.WORKER_CRASHED]
    assert result.death is not None
    assert "after its last case" in result.death.message


HOSTILE = r"""
    import functools
    class Rude(Exception):
        def __str__(self): raise ValueError("no words")
    class Odd(Exception):
        def __str__(self): return "\ud800 and \x1b[31m red"
    class Huge(Exception):
        def __str__(self): return "x" * 200_000_000 + "end"
    class Liar(Exception):
        def __str__(self): return 7
    def test_rude(): raise Rude()
    def test_odd(): raise Odd()
    def test_huge(): raise Huge()
    def test_liar(): raise Liar()
    def deep(n): return deep(n + 1)
    def test_deep(): deep(0)
    def test_chain():
        try: {}["k"]
        except KeyError as e: raise OSError("outer") from e
    def test_memory(): raise MemoryError("full")
    def test_unsupported(): raise NotImplementedError("fp4")
    def test_library(): functools.reduce(lambda a, b: a / b, [1, 0])
"""


def test_hostile_exceptions_are_described_within_bounds(run: Run) -> None:
    result = run(HOSTILE, args=["--tb=short"])
    by_name = {case.id.partition("::test_")[2]: result.failures[case.failures[0]] for case in result.cases}
    assert {case.outcome for case in result.cases} == {Outcome.FAILED}
    assert not result.errors
    assert by_name["rude"].exception == "a_test.Rude"
    assert by_name["rude"].message == "<str() of this Rude raised ValueError>"
    assert by_name["odd"].message == "\\ud800 and  red"
    assert len(by_name["huge"].message.encode()) <= 8192
    assert by_name["huge"].message.endswith("end")
    assert by_name["liar"].message == "<str() of this Liar raised TypeError>"
    assert len(by_name["deep"].frames) <= 40
    assert by_name["deep"].frames[0].function == "test_deep"
    assert (by_name["chain"].exception, by_name["chain"].message) == ("OSError", "outer")
    assert by_name["memory"].cause is Cause.RESOURCE
    assert by_name["unsupported"].cause is Cause.UNSUPPORTED
    assert all(len(failure.excerpt.encode()) <= 4096 for failure in result.failures)
    assert all(frame.own for frame in by_name["library"].frames if frame.file == "a_test.py")


YAML = """
    import pytest
    def pytest_collect_file(file_path, parent):
        if file_path.suffix == ".yaml": return Yaml.from_parent(parent, path=file_path)
    class Yaml(pytest.File):
        def collect(self):
            for line in self.path.read_text().splitlines(): yield Line.from_parent(self, name=line)
    class Line(pytest.Item):
        def runtest(self): raise ValueError("yaml")
"""


def test_doctests_are_cases(run: Run) -> None:
    result = run('def f():\n    """\n    >>> 1 + 1\n    3\n    """\n', args=["--doctest-modules"])
    (case,) = result.cases
    failure = result.failures[case.failures[0]]
    assert (case.outcome, failure.cause, failure.message) == (Outcome.FAILED, Cause.ASSERTION, "Expected: 3\nGot: 2")
    assert not result.errors


def test_items_of_files_that_are_no_python_are_cases(run: Run) -> None:
    result = run("", beside={"conftest.py": YAML, "x.yaml": "one: 1\ntwo: 2\n"}, files=["x.yaml"])
    assert [(case.id, case.outcome, case.file) for case in result.cases] == [
        ("x.yaml::one: 1", Outcome.FAILED, "x.yaml"),
        ("x.yaml::two: 2", Outcome.FAILED, "x.yaml"),
    ]
    assert not result.errors


def test_one_id_of_several_cases_is_an_error_and_the_worst_of_them_stands(run: Run) -> None:
    conftest = YAML.replace('raise ValueError("yaml")', "assert self is not self.session.items[0]")
    result = run("", beside={"conftest.py": conftest, "x.yaml": "same\nsame\n"}, files=["x.yaml"])
    assert kinds(result) == [ErrorKind.DUPLICATE_IDS]
    assert "x.yaml::same" in result.errors[0].message
    assert outcomes(result) == {"same": Outcome.FAILED}


def test_ids_with_hidden_characters_are_escaped_and_their_node_ids_kept(run: Run) -> None:
    result = run(
        """
        import pytest
        @pytest.mark.parametrize("v", [1, 2], ids=["a\\n\\x1b\\u202e", "\u00e9"])
        def test_a(v): pass
        """,
        ini="[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n",
    )
    odd, plain = result.cases
    assert (odd.id, odd.nodeid) == (r"a_test.py::test_a[a\n\x1b\u202e]", "a_test.py::test_a[a\n\x1b\u202e]")
    assert (plain.id, plain.nodeid) == ("a_test.py::test_a[\u00e9]", "")
    assert {case.outcome for case in result.cases} == {Outcome.PASSED}
    assert not result.errors


def test_events_of_a_forked_test_are_not_written_twice(run: Run) -> None:
    result = run(
        """
        import os
        def test_a():
            if os.fork() == 0:
                raise AssertionError("in the child")
        def test_b(): pass
        """
    )
    assert outcomes(result)["test_a"] is Outcome.PASSED
    assert not result.errors


def test_events_of_strangers_and_cut_lines(tmp_path: Path) -> None:
    rows = [
        {"e": "cases", "n": "n0", "rows": [{"id": "t.py::a"}]},
        {"e": "collected", "n": "n0", "count": 1},
        {"e": "start", "n": "n0", "id": "t.py::a"},
        {"e": "phase", "n": "other", "id": "t.py::a", "when": "call", "outcome": "passed"},
    ]
    events = tmp_path / "events.jsonl"
    events.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"e": "phase", "no')
    worker = Worker(number=1, unit="t.py", end=WorkerEnd.CRASHED, signal="SIGKILL")
    result = decode("t.py", Account(worker, "", "n0", events), str(tmp_path))
    assert [case.outcome for case in result.cases] == [Outcome.CRASHED]
    assert kinds(result) == [ErrorKind.WORKER_CRASHED, ErrorKind.STRANGER]


def test_a_worker_that_left_nothing_is_an_error(tmp_path: Path) -> None:
    worker = Worker(number=1, unit="t.py", end=WorkerEnd.COMPLETED, exit_code=0)
    result = decode("t.py", Account(worker, "", "n0", tmp_path / "none"), str(tmp_path))
    assert kinds(result) == [ErrorKind.NO_FINAL_REPORT]


def test_a_case_that_fails_itself_is_an_assertion(run: Run) -> None:
    result = run("import pytest\ndef test_a(): pytest.fail('by hand')\ndef test_b(): pytest.fail('Timeout >5.0s')\n")
    causes = [result.failures[case.failures[0]].cause for case in result.cases]
    assert causes == [Cause.ASSERTION, Cause.RESOURCE]
