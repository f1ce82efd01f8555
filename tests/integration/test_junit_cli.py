"""``ci-toolkit junit`` as people and workflows call it."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

PASSING = '<testsuite name="s" tests="1"><testcase classname="k" name="{}" time="0.5"/></testsuite>'
FAILING = '<testsuite name="s"><testcase classname="k" name="bad"><failure message="no"/></testcase></testsuite>'
CUT = PASSING.format("a").replace("</testsuite>", "<testcase classname='k' na")


def toolkit(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ci_toolkit", "junit", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "one.xml": f"<testsuites>{PASSING.format('a')}</testsuites>",
        "two.xml": PASSING.format("b"),
        "bad.xml": FAILING,
        "cut.xml": CUT,
        "empty.xml": "",
        "blank.xml": " \r\n\t",
        "none.xml": "<testsuites/>",
        "declared.xml": '<?xml version="1.0"?>\n',
        "coverage.xml": "<coverage/>",
        "claims.xml": '<testsuites failures="1">' + PASSING.format("a") + "</testsuites>",
        "entity.xml": '<!DOCTYPE a [<!ENTITY e SYSTEM "one.xml">]><testsuite><testcase name="&e;"/></testsuite>',
    }
    for name, text in files.items():
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        (["one.xml"], 0, "one.xml: whole\n  1 passed"),
        (["one.xml", "two.xml"], 0, "two.xml: whole"),
        (["one.xml", "bad.xml"], 1, "1 failed"),
        (["cut.xml"], 3, "cut.xml: incomplete: "),
        (["empty.xml"], 3, "empty.xml: empty: holds nothing\n"),
        (["blank.xml"], 3, "blank.xml: empty: holds nothing but white space"),
        (["none.xml"], 3, "none.xml: zero tests"),
        (["declared.xml"], 3, "declared.xml: no root element"),
        (["coverage.xml"], 3, "coverage.xml: not a test report: the root element is <coverage>"),
        (["claims.xml"], 3, "claims 1 failures or errors, its cases show none"),
        (["entity.xml"], 3, "entity.xml: unreadable: a document type is not accepted"),
        (["absent.xml"], 3, "absent.xml: unreadable: can not be read: No such file or directory"),
        (["entity.xml", "bad.xml", "one.xml"], 3, "one.xml: whole"),
    ],
)
def test_check_says_what_each_file_is_and_its_code_is_the_worst(
    folder: Path, files: list[str], code: int, said: str
) -> None:
    done = toolkit(folder, "check", *files)
    assert (done.returncode, done.stderr) == (code, "")
    assert said in done.stdout


def test_check_keeps_what_a_cut_file_still_shows(folder: Path) -> None:
    shown = toolkit(folder, "check", "cut.xml").stdout
    assert "1 cases before it were read" in shown
    assert "1 passed" in shown


def test_check_in_json_holds_the_same(folder: Path) -> None:
    done = toolkit(folder, "check", "--json", "bad.xml", "cut.xml")
    assert done.returncode == 3
    bad, cut = json.loads(done.stdout)
    assert (bad["verdict"], bad["counts"], bad["untimed"]) == ("whole", {"failed": 1}, 1)
    assert (cut["verdict"], cut["counts"]) == ("incomplete", {"passed": 1})


def test_what_a_file_holds_can_not_write_to_the_terminal_or_the_workflow(folder: Path) -> None:
    name = "\x1b[31m::error::\n##[group].xml"
    cases = "<testcase classname='' name='::stop-commands::x' time='##[error]'/>" * 2
    (folder / name).write_text(f"<testsuite name='::warning::' tests='7'>{cases}</testsuite>", encoding="utf-8")
    checked, merged = toolkit(folder, "check", name), toolkit(folder, "merge", "::set-env::x", name)
    assert (checked.returncode, merged.returncode) == (0, 0)
    for out in (checked.stdout, merged.stdout):
        assert "\x1b" not in out
        assert "##[" not in out
        assert not [line for line in out.splitlines() if line.lstrip().startswith("::")]
    assert "error::" in checked.stdout, "it is shown all the same"


def test_merge_then_check(folder: Path) -> None:
    done = toolkit(folder, "merge", "all.xml", "one.xml", "two.xml", "bad.xml", "one.xml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "all.xml: 4 cases, 1 failures, 0 errors, 0 skipped" in done.stdout
    assert "1 case more than once, such as k::a" in done.stdout
    root = ElementTree.parse(folder / "all.xml").getroot()
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "0", "0"]
    assert len(list(root.iter("testsuite"))) == 4
    checked = toolkit(folder, "check", "all.xml")
    assert checked.returncode == 1
    assert "3 passed, 1 failed" in checked.stdout


@pytest.mark.parametrize("name", ["cut.xml", "empty.xml", "none.xml", "coverage.xml", "claims.xml", "entity.xml"])
def test_a_merge_with_a_part_that_is_no_whole_report_writes_nothing(folder: Path, name: str) -> None:
    done = toolkit(folder, "merge", "all.xml", "one.xml", name)
    assert done.returncode == 3
    assert done.stderr.startswith(f"ci-toolkit: error: {name}: ")
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir() if "all" in path.name) == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["merge", "no/folder/all.xml", "one.xml"], "no/folder/all.xml: can not be written"),
        (["merge", "all.xml"], "Missing argument"),
        (["check"], "Missing argument"),
        (["merge", ".", "one.xml"], "is a directory"),
    ],
)
def test_wrong_usage(folder: Path, args: list[str], said: str) -> None:
    done = toolkit(folder, *args)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize("args", [["--help"], ["merge", "--help"], ["check", "--help"]])
def test_help_has_an_example(folder: Path, args: list[str]) -> None:
    assert "Example: ci-toolkit junit" in toolkit(folder, *args).stdout
