"""An upstream's own tests against a candidate: green where it conforms; each way to be fooled is red by its name."""

import hashlib
import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

UP = {
    "upx/__init__.py": "from upx.core import double\n",
    "upx/core.py": "def double(x): return 2 * x\n",
    "upx/extra.py": "ANSWER = 42\n",
    "upx/tests/__init__.py": "",
    "upx/tests/test_double.py": "import upx\n\ndef test_double(): assert upx.double(21) == 42\n",
    "upx/tests/test_core.py": "from upx.core import double\n\ndef test_zero(): assert double(0) == 0\n",
}
CANDIDATE = {
    "src/candx/__init__.py": "from candx.core import double\n",
    "src/candx/core.py": "def double(x): return x + x\n",
}
PLATFORMS = "schema: platforms/1\nplatforms: {cpu: {device: cpu, env_allow: [CI_TOOLKIT_TEST_MARKER]}}\n"
SUITES = """
schema: suites/1
suites:
  upx:
    kind: conformance
    platforms: [cpu]
    root: {path: up}
    paths: [upx/tests]
    conformance:
      upstream: {name: upx, tests: [upx/tests], commit: COMMIT}
      candidate: {name: candx, folder: src/candxLIBRARIES}
"""


class Suite:
    """A repository with a checkout of an upstream, and a candidate that stands in for it."""

    def __init__(self, project) -> None:
        self.project = project
        self.folder: Path = project.folder
        self.libraries = ""
        self.more = ""
        project.write("conf/platforms.yml", PLATFORMS)
        for name, text in CANDIDATE.items():
            project.write(name, text)
        for name, text in UP.items():
            project.write(f"up/{name}", text)
        self.commit()

    def git(self, *args: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", "-C", str(self.folder / "up"), *identity, *args], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, **files: str) -> None:
        """Commits the upstream with ``files`` (test_NAME -> text) added, and pins it."""
        for name, text in files.items():
            self.project.write(f"up/upx/tests/{name}.py", text)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "pin", "--allow-empty")
        self.pin(self.git("rev-parse", "HEAD"))

    def pin(self, commit: str) -> None:
        text = SUITES.replace("COMMIT", commit).replace("LIBRARIES", self.libraries)
        self.project.write("conf/suites.yml", text + self.more)

    def run(self, *args: str, **env: str) -> list[tuple[str, str, bool]]:
        """(kind, lane, whether it blocks) of each finding."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.ran = self.project.toolkit("ci", *args, **env)
        assert "Traceback" not in self.ran.stderr, self.ran.stderr
        verdict = json.loads((self.folder / "out/verdict.json").read_text())
        return sorted((one["kind"], one["lane"], one.get("blocks", True)) for one in verdict["findings"])

    def report(self, lane: str = "upx-cpu") -> dict:
        found: dict = json.loads((self.folder / f"out/{lane}/a1/report.json").read_text())
        return found


@pytest.fixture
def suite(project) -> Suite:
    return Suite(project)


def test_a_candidate_that_conforms_is_green_and_who_answered_is_known(suite) -> None:
    assert suite.run() == []
    assert suite.ran.returncode == 0
    modules = {one["name"]: one for one in suite.report()["providers"]}
    core = suite.folder / "src/candx/core.py"
    assert modules["upx.core"] == {
        "name": "upx.core",
        "provider": "candx.core",
        "kind": "candidate",
        "file": str(core),
        "sha256": hashlib.sha256(core.read_bytes()).hexdigest(),
    }
    test = suite.folder / "up/upx/tests/test_core.py"
    assert (modules["upx.tests.test_core"]["file"], modules["upx.tests.test_core"]["kind"]) == (str(test), "pin")
    kinds = {one["kind"] for one in suite.report("upx-cpu-control")["providers"]}
    assert kinds == {"upstream", "pin"}


def test_the_files_that_ran_are_the_upstreams_to_the_byte(suite) -> None:
    suite.run()
    ran = {one["file"]: one["sha256"] for one in suite.report()["providers"] if one["kind"] == "pin"}
    for name in ("test_core", "test_double"):
        path = f"upx/tests/{name}.py"
        committed = hashlib.sha256(subprocess.run(
            ["git", "-C", str(suite.folder / "up"), "show", f"HEAD:{path}"], check=True, capture_output=True
        ).stdout).hexdigest()  # fmt: skip
        assert ran[str(suite.folder / "up" / path)] == committed


def test_a_candidate_that_differs_is_red_and_the_control_is_not(suite) -> None:
    suite.project.write("src/candx/core.py", "def double(x): return x + x + 1\n")
    assert suite.run() == [("regression", "upx-cpu", True), ("regression", "upx-cpu", True)]
    assert suite.ran.returncode == 1


def test_what_fails_under_the_control_too_is_not_the_candidates(suite) -> None:
    suite.commit(test_broken="import upx\n\ndef test_broken(): assert upx.double(1) == 3\n")
    found = suite.run()
    assert found == [("regression", "upx-cpu-control", True), ("shown_by_control", "upx-cpu", False)]


def test_an_upstream_that_was_edited_does_not_run(suite) -> None:
    suite.project.write("up/upx/tests/test_core.py", "def test_zero(): pass\n")
    found = suite.run()
    assert ("upstream_changed", "upx-cpu", True) in found
    assert suite.ran.returncode == 3
    assert suite.report()["counts"] == {}
    assert "the upstream's checkout has edits: upx/tests/test_core.py" in suite.ran.stdout


def test_another_commit_is_another_upstream(suite) -> None:
    suite.pin("a" * 40)
    assert ("upstream_changed", "upx-cpu", True) in suite.run()


def test_a_candidate_that_is_edited_while_it_runs(suite) -> None:
    text = "import pathlib\ndef double(x):\n    file = pathlib.Path(__file__)\n"
    suite.project.write("src/candx/core.py", text + "    file.write_text(file.read_text() + '#')\n    return x + x\n")
    assert ("changed_during_run", "upx-cpu", True) in suite.run()
    assert suite.ran.returncode == 3


def test_a_test_that_edits_the_upstream(suite) -> None:
    edit = "import upx, pathlib\n\ndef test_edit():\n    file = pathlib.Path(__file__).parents[1] / 'extra.py'\n"
    suite.commit(test_edit=edit + "    file.write_text('ANSWER = 41')\n    assert upx.double(1) == 2\n")
    assert ("changed_during_run", "upx-cpu", True) in suite.run("--only", "upx-cpu")


def test_tests_that_never_meet_the_candidate_prove_nothing(suite) -> None:
    suite.commit(test_alone="def test_alone(): assert 1 + 1 == 2\n")
    assert suite.run() == [("candidate_not_imported", "upx-cpu", True)]


GAP = """
import importlib.util, pathlib, sys
import upx

def test_gap():
    file = pathlib.Path(__file__).parents[1] / "extra.py"
    spec = importlib.util.spec_from_file_location("upx.extra", file)
    sys.modules["upx.extra"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.ANSWER == 42
"""
COPY = """
import importlib.util
import upx.core

def test_copy():
    spec = importlib.util.spec_from_file_location("copied", upx.core.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    upx.core.copy = module
    import sys
    sys.modules["copied"] = module
    assert module.double(1) == 2
"""


@pytest.mark.parametrize(("text", "kind"), [(GAP, "gap_filled"), (COPY, "duplicate_provider")])
def test_another_module_in_the_candidates_place(suite, text: str, kind: str) -> None:
    suite.commit(test_other=text)
    assert (kind, "upx-cpu", True) in suite.run("--only", "upx-cpu")
    assert suite.ran.returncode == 3


def test_what_the_candidate_lacks_is_not_taken_from_the_upstream(suite) -> None:
    suite.commit(test_extra="import upx.extra\n\ndef test_extra(): assert upx.extra.ANSWER == 42\n")
    assert suite.run() == [("execution_error", "upx-cpu", True)]
    assert "No module named 'upx.extra': the candidate" in suite.ran.stdout


def test_another_library_than_the_declared_one(suite) -> None:
    source = next(Path(sysconfig.get_path("stdlib"), "lib-dynload").glob("_heapq*.so"))
    for place in ("lib", "other"):
        (suite.folder / place).mkdir()
        shutil.copy(source, suite.folder / place / "libanswer.so")
    with (suite.folder / "other/libanswer.so").open("ab") as file:
        file.write(b"\0")
    suite.libraries = ", libraries: [lib/libanswer.so]"
    suite.pin(suite.git("rev-parse", "HEAD"))
    load = "import ctypes\nctypes.CDLL({!r})\ndef double(x): return x + x\n"
    suite.project.write("src/candx/core.py", load.format(str(suite.folder / "lib/libanswer.so")))
    assert suite.run() == []
    suite.project.write("src/candx/core.py", load.format(str(suite.folder / "other/libanswer.so")))
    assert {kind for kind, _, _ in suite.run()} == {"wrong_library"}


def test_a_control_that_meets_the_candidate_is_no_control(suite) -> None:
    suite.project.write("up/upx/core.py", "import candx\ndef double(x): return candx.double(x)\n")
    suite.commit()
    path = f"schema: platforms/1\nplatforms: {{cpu: {{device: cpu, env: {{PYTHONPATH: {suite.folder}/src}}}}}}\n"
    suite.project.write("conf/platforms.yml", path)
    assert ("candidate_in_control", "upx-cpu-control", True) in suite.run("--only", "upx-cpu-control")


def test_a_candidate_that_needs_the_upstream_says_so(suite) -> None:
    suite.project.write("src/candx/core.py", "import upx.extra\ndef double(x): return x + x\n")
    found = suite.run("--only", "upx-cpu")
    assert {kind for kind, _, _ in found} >= {"alias_refused"}
    assert "conf does not give it a private copy" in suite.ran.stdout
    assert suite.ran.returncode == 2


def test_a_name_that_no_process_can_be_without_is_refused(suite) -> None:
    text = (suite.folder / "conf/suites.yml").read_text().replace("name: upx,", "name: json,")
    suite.project.write("conf/suites.yml", text)
    ran = suite.project.toolkit("ci")
    assert ran.returncode == 2
    assert "'json' is loaded before any test: nothing can stand in for it" in ran.stderr


def reviewed(suite: Suite) -> None:
    """Makes a ratchet of what the lanes show now, and reviews it."""
    suite.more = "    ratchet: ratchets/upx\n"
    (suite.folder / "conf/ratchets/upx").mkdir(parents=True)
    suite.pin(suite.git("rev-parse", "HEAD"))
    suite.run()
    for lane in ("upx-cpu", "upx-cpu-control"):
        evidence = ("--evidence", f"out/{lane}/a1", "--out", f"proposals/{lane}")
        assert suite.project.toolkit("ratchet", "propose", lane, *evidence).returncode == 0
        took = suite.project.toolkit("ratchet", "accept", lane, f"proposals/{lane}/upx", "--reason", "known")
        assert took.returncode == 0, took.stderr


def test_what_was_reviewed_is_green_until_it_gets_better(suite) -> None:
    suite.project.write("src/candx/core.py", "def double(x): return x + x if x else 1\n")
    reviewed(suite)
    assert suite.run() == []
    suite.project.write("src/candx/core.py", CANDIDATE["src/candx/core.py"])
    assert suite.run() == [("unexpected_pass", "upx-cpu", True)]


def test_expectations_of_another_contract_are_none(suite) -> None:
    reviewed(suite)
    assert suite.run() == []
    suite.commit(test_more="import upx\n\ndef test_more(): assert upx.double(2) == 4\n")
    kinds = {kind for kind, _, _ in suite.run()}
    assert kinds == {"contract_changed", "unlisted_case"}
    assert "upstream is" in suite.ran.stdout


def test_a_variable_of_the_users_that_conf_lets_in_is_another_contract(suite) -> None:
    path = "schema: platforms/1\nplatforms: {cpu: {device: cpu, env_allow: [UPX_*]}}\n"
    suite.project.write("conf/platforms.yml", path)
    reviewed(suite)
    assert suite.run() == []
    assert suite.run(OTHER_FAST="1") == [], "what conf does not let in does not count"
    assert {kind for kind, _, _ in suite.run(UPX_FAST="1")} == {"contract_changed"}
    assert "env.allowed" in suite.ran.stdout


def test_a_case_is_repeated_where_the_candidate_stands_in(suite) -> None:
    suite.project.write("src/candx/core.py", "def double(x): return 3 * x\n")
    suite.run("--only", "upx-cpu")
    told = suite.project.toolkit("reproduce", "*test_double", "--evidence", "out/upx-cpu/a1")
    assert told.returncode == 0
    line = next(line for line in told.stdout.splitlines() if "ci-toolkit run" in line)
    assert "ci-toolkit run upx-cpu --unit upx/tests/test_double.py --out out/again" in line
    again = suite.project.toolkit("run", "upx-cpu", "--unit", "upx/tests/test_double.py", "--out", "out/again")
    assert "1 failed" in again.stdout
