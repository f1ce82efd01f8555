"""Evidence that was changed, cut or mixed up is never judged green; bad conf gives one line."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

GREEN = "def test_one(): pass\ndef test_two(): assert 1 + 1 == 2\n"


def kinds(project) -> set[str]:
    document = json.loads((project.folder / "out/verdict.json").read_text(encoding="utf-8"))
    return {finding["kind"] for finding in document["findings"] if finding.get("blocks", True)}


def evidence(project) -> Path:
    return project.folder / "out/small-cpu/a1"


@pytest.fixture
def ran(project):
    project.write("tests/test_a.py", GREEN)
    done = project.toolkit("ci")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def test_judging_again_gives_the_same_verdict(ran) -> None:
    before = json.loads((ran.folder / "out/verdict.json").read_text(encoding="utf-8"))
    assert ran.toolkit("gate").returncode == 0
    assert json.loads((ran.folder / "out/verdict.json").read_text(encoding="utf-8")) == before


def no_evidence(folder: Path) -> None:
    shutil.rmtree(folder)


def no_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def changed_case(folder: Path) -> None:
    path = folder / "cases.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("test_one", "test_ten"), encoding="utf-8")


def cut_report(folder: Path) -> None:
    path = folder / "report.json"
    path.write_bytes(path.read_bytes()[:-20])


def another_file(folder: Path) -> None:
    (folder / "core.dump").write_bytes(b"x")


def lost_log(folder: Path) -> None:
    (folder / "workers/001/stdout.log").unlink()


def newer_report(folder: Path) -> None:
    path = folder / "report.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"min_reader": 1', '"min_reader": 2'), encoding="utf-8")
    resealed(folder)


def other_lane(folder: Path) -> None:
    path = folder / "report.json"
    path.write_text(path.read_text(encoding="utf-8").replace("small-cpu", "other-cpu"), encoding="utf-8")
    resealed(folder)


def other_run(folder: Path) -> None:
    path = folder / "report.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["provenance"]["run"] = "another"
    path.write_text(json.dumps(document), encoding="utf-8")
    resealed(folder)


def without_a_case(folder: Path) -> None:
    path = folder / "cases.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    resealed(folder)


def resealed(folder: Path) -> None:
    """A forged manifest fits the forged files."""
    from ci_toolkit.formats.manifest import create_manifest

    (folder / "manifest.json").unlink()
    create_manifest(folder)


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        (no_evidence, "lane_missing"),
        (no_manifest, "lane_unfinished"),
        (changed_case, "tampered_evidence"),
        (cut_report, "tampered_evidence"),
        (another_file, "tampered_evidence"),
        (lost_log, "tampered_evidence"),
        (newer_report, "newer_evidence"),
        (without_a_case, "tampered_evidence"),
        (other_lane, "another_lane"),
        (other_run, "foreign_evidence"),
    ],
)
def test_evidence_that_can_not_be_believed_is_red(ran, harm: Callable[[Path], None], kind: str) -> None:
    harm(evidence(ran))
    done = ran.toolkit("gate")
    assert done.returncode == 3, done.stdout + done.stderr
    assert kinds(ran) == {kind}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "conf/suites.yml",
            "paths",
            "pathz",
            "suites.yml:3: suites.small.pathz: unknown key; did you mean 'paths'",
        ),
        ("conf/suites.yml", "small:", "small: {platforms: [cpu]}\n  small:", "a second time"),
        ("conf/suites.yml", "[cpu]", "[cpuu]", "there is no platform 'cpuu'; did you mean 'cpu'"),
        ("conf/suites.yml", "paths: [.]", "paths: [nowhere]", "nowhere"),
        ("conf/suites.yml", "paths: [.]", "paths: [../conf]", "../conf"),
        ("conf/suites.yml", "paths: [.]", "paths: [., .]", "."),
        ("conf/platforms.yml", "platforms/1", "platforms/9", "this version reads 'platforms/1'"),
        ("conf/platforms.yml", "device: cpu", "device: cpuu", "there is no device 'cpuu'"),
    ],
)
def test_a_mistake_in_conf_is_one_line_and_loses_nothing(ran, file: str, old: str, new: str, said: str) -> None:
    path = ran.folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    before = sorted(str(one) for one in (ran.folder / "out/small-cpu").rglob("*"))
    done = ran.toolkit("ci")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(str(one) for one in (ran.folder / "out/small-cpu").rglob("*")) == before


def test_a_plan_of_another_conf_is_refused(ran) -> None:
    ran.write("conf/suites.yml", "schema: suites/1\nsuites: {other: {platforms: [cpu], root: {path: tests}}}\n")
    done = ran.toolkit("run", "small-cpu", "--plan", "out/plan.json", "--out", "again")
    assert done.returncode == 2
    assert "plan again" in done.stderr
    gated = ran.toolkit("gate")
    assert gated.returncode == 3


def test_running_into_a_folder_that_holds_evidence_is_refused(ran) -> None:
    done = ran.toolkit("run", "small-cpu", "--plan", "out/plan.json")
    assert done.returncode == 2
    assert "is not empty" in done.stderr


def test_parts_one_by_one_do_what_ci_does(project) -> None:
    project.write("tests/test_a.py", GREEN)
    project.write("tests/test_b.py", "def test_three(): pass\n")
    assert project.toolkit("plan").returncode == 0
    run = project.toolkit("run", "small-*", "--plan", "out/plan.json")
    assert run.returncode == 0, run.stderr
    assert "not judged yet" in run.stdout
    assert project.toolkit("gate").returncode == 0
    published = project.toolkit("publish")
    assert published.returncode == 0
    assert published.stdout.splitlines()[-1].startswith("PASSED")
    assert project.toolkit("manifest", "verify", "out/small-cpu/a1").returncode == 0


def test_a_run_of_one_file_judges_that_file_only(project) -> None:
    project.write("tests/test_a.py", GREEN)
    project.write("tests/test_b.py", "def test_three(): assert False\n")
    assert project.toolkit("ci", "--unit", "test_a.py").returncode == 0
    assert project.toolkit("ci", "--unit", "test_b.py").returncode == 1
    unknown = project.toolkit("ci", "--unit", "test_c.py")
    assert unknown.returncode == 2
    assert "test_c.py" in unknown.stderr


def test_what_reproduces_a_failure_fails_in_the_same_way(project) -> None:
    project.write("tests/test_a.py", GREEN + "import os\ndef test_bad(): assert os.environ['MODE'] == 'good'\n")
    project.write(
        "conf/suites.yml",
        "schema: suites/1\nsuites: {small: {platforms: [cpu], root: {path: tests}, paths: [.], env: {MODE: bad}}}\n",
    )
    assert project.toolkit("ci").returncode == 1
    found = project.toolkit("reproduce", "*test_bad", "--evidence", "out/small-cpu/a1")
    assert found.returncode == 0, found.stderr
    again = subprocess.run(["sh", "-c", found.stdout], capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "assert 'bad' == 'good'" in again.stdout
    several = project.toolkit("reproduce", "*", "--evidence", "out/small-cpu/a1")
    assert several.returncode == 2
    assert "3 cases fit" in several.stderr
    nothing = project.toolkit("reproduce", "test_a.py::test_bda", "--evidence", "out/small-cpu/a1")
    assert "did you mean 'test_a.py::test_bad'" in nothing.stderr


def test_the_base_tells_what_a_pull_request_inherits(project) -> None:
    test = project.write("tests/test_a.py", GREEN + "def test_bad(): assert False, 'old'\n")
    assert project.toolkit("ci", "--out", "base").returncode == 1
    test.write_text(test.read_text(encoding="utf-8") + "def test_three(): pass\n", encoding="utf-8")
    assert project.toolkit("ci").returncode == 1
    assert project.toolkit("ci", "--base", "base").returncode == 0
    test.write_text(test.read_text(encoding="utf-8") + "def test_worse(): assert False\n", encoding="utf-8")
    assert project.toolkit("ci", "--base", "base").returncode == 1
    assert kinds(project) == {"regression"}
