"""Evidence whose documents contradict each other though every digest is right, and folders that can not be written."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.formats.evidence import EvidenceWriter, UnusableEvidenceError, read_evidence
from ci_toolkit.formats.manifest import MANIFEST, create_manifest
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage
from ci_toolkit.model.report import ErrorKind, ExecutionError

Write = Callable[..., Path]
FAILURE = Failure(stage=Stage.CALL, cause=Cause.ASSERTION, message="m")
CASES = [
    (Case(id="a.py::one", outcome=Outcome.PASSED), ()),
    (Case(id="a.py::two", outcome=Outcome.PASSED), ()),
    (Case(id="a.py::bad", outcome=Outcome.FAILED), (FAILURE,)),
]
ERRORS = [ExecutionError(kind=ErrorKind.COLLECTION, message="m", failures=(0,))]


def fault(folder: Path) -> str:
    with pytest.raises(UnusableEvidenceError) as caught:
        read_evidence(folder)
    assert caught.value.exit_code == 3
    assert folder.name in str(caught.value)
    return f"{caught.value.kind}: {caught.value.message}"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("cases.jsonl", '"failures":[0]', '"failures":[-1]', "tampered: a case points to failure -1, there are 1"),
        ("cases.jsonl", '"failures":[0]', '"failures":[1]', "tampered: a case points to failure 1, there are 1"),
        ("cases.jsonl", "a.py::two", "a.py::one", "tampered: a.py::one is there twice"),
        ("cases.jsonl", '"outcome":"failed"', '"outcome":"passed"', "tampered: the head counts other cases"),
        (
            "report.json",
            '"failures": [\n    0\n',
            '"failures": [\n    5\n',
            "tampered: an execution error points to fail",
        ),
        (
            "report.json",
            '"failures": [\n    0\n',
            '"failures": [\n    -2\n',
            "tampered: an execution error points to fai",
        ),
        ("report.json", '"failed": 1', '"failed": 1, "failed": 0', "unreadable: names the key 'failed' twice"),
        ("report.json", '"report/1"', '"report/2"', "newer: schema is 'report/2'"),
        ("failures.jsonl", "\n", "", "unreadable: the last row is cut short"),
    ],
)
def test_documents_that_contradict_each_other(write: Write, file: str, old: str, new: str, said: str) -> None:
    folder = write(CASES, ERRORS)
    assert len(read_evidence(folder).cases) == 3
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text, text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert fault(folder).startswith("tampered: " + file), "the manifest tells a change before anything is believed"
    (folder / MANIFEST).unlink()
    create_manifest(folder)
    assert fault(folder).startswith(said)


@pytest.mark.parametrize("file", ["report.json", "cases.jsonl", "failures.jsonl"])
def test_a_document_that_was_never_there(write: Write, file: str) -> None:
    folder = write(CASES)
    (folder / file).unlink()
    assert fault(folder) == f"tampered: {file}: is missing"
    (folder / MANIFEST).unlink()
    create_manifest(folder)
    assert fault(folder) == "unreadable: can not be read: No such file or directory"


def test_cases_of_two_engines_may_share_an_id(write: Write) -> None:
    cases = [(Case(id="a.py::one", outcome=Outcome.PASSED, engine=engine), ()) for engine in ("x", "y")]
    assert len(read_evidence(write(cases)).cases) == 2


def test_a_dangling_manifest_is_not_an_unfinished_run(write: Write) -> None:
    folder = write(CASES)
    (folder / MANIFEST).unlink()
    assert fault(folder).startswith("unfinished: ")
    (folder / MANIFEST).symlink_to("nowhere")
    assert fault(folder).startswith("tampered: is a link")


def test_of_two_runs_that_start_at_once_one_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(CASES)
    monkeypatch.setattr(Path, "iterdir", lambda path: iter(()))
    with pytest.raises(UsageError, match="is not empty"):
        EvidenceWriter(folder)


PROGRAM = """
import os, resource, sys
from pathlib import Path
from ci_toolkit.errors import InfrastructureError
from ci_toolkit.formats.evidence import EvidenceWriter
from ci_toolkit.model.case import Case
from ci_toolkit.model.outcome import Outcome

writer = EvidenceWriter(Path("out"))
if sys.argv[1] == "ends":
    writer.add_case(Case(id="a", outcome=Outcome.PASSED))
    os._exit(0)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
try:
    for number in range(100_000):
        writer.add_case(Case(id=f"a.py::{number}", outcome=Outcome.PASSED))
except InfrastructureError as error:
    print(error, error.exit_code)
"""


def run(folder: Path, how: str) -> str:
    command = [sys.executable, "-c", PROGRAM, how]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_run_that_just_ends_is_unfinished(tmp_path: Path) -> None:
    run(tmp_path, "ends")
    assert fault(tmp_path / "out").startswith("unfinished: has no manifest")


def test_a_file_system_that_is_full_is_trouble_of_the_machine(tmp_path: Path) -> None:
    assert run(tmp_path, "full") == "out: evidence can not be written: File too large 4\n"
    assert fault(tmp_path / "out").startswith("unfinished: ")


def test_a_folder_below_a_file_is_trouble_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InfrastructureError, match="evidence can not be written: Not a directory"):
        EvidenceWriter(tmp_path / "file" / "lane")
