"""Evidence is believed only when it is whole, unchanged and consistent."""

import os
from pathlib import Path

import pytest

from ci_toolkit.errors import UsageError
from ci_toolkit.formats.evidence import UnusableEvidenceError, attempts, read_evidence
from ci_toolkit.formats.manifest import MANIFEST, check_manifest, create_manifest
from ci_toolkit.model.case import EXCERPT_BYTES, Case, Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage


def failing(number: int, text: str = "why") -> tuple[Case, list[Failure]]:
    failure = Failure(stage=Stage.CALL, cause=Cause.ASSERTION, message=text, excerpt=text, signature=f"s{number}")
    return Case(id=f"a.py::t{number}", outcome=Outcome.FAILED), [failure]


def test_what_is_written_is_read_back(write, passed) -> None:
    evidence = read_evidence(write([*passed, failing(1), failing(2)]))
    assert [case.outcome for case in evidence.cases] == ["passed", "failed", "failed"]
    assert evidence.report.counts == {Outcome.PASSED: 1, Outcome.FAILED: 2}
    assert evidence.failures[evidence.cases[2].failures[0]].signature == "s2"
    assert [one.signature for one in evidence.failures.signatures()] == ["s1", "s2"]


def test_a_folder_that_holds_something_is_refused(write, passed, tmp_path: Path) -> None:
    write(passed)
    with pytest.raises(UsageError, match="is not empty"):
        write(passed)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is not empty"):
        write(passed, folder="file")


def unseal(folder: Path) -> None:
    (folder / MANIFEST).unlink()
    create_manifest(folder)


def test_each_harm_has_its_own_kind(write, passed, tmp_path: Path) -> None:
    def harmed(name: str, harm) -> str:
        folder = write([*passed, failing(1)], folder=name)
        harm(folder)
        with pytest.raises(UnusableEvidenceError) as caught:
            read_evidence(folder)
        return caught.value.kind

    def edited(file: str, old: bytes, new: bytes, seal: bool):
        def edit(folder: Path) -> None:
            raw = (folder / file).read_bytes()
            assert old in raw
            (folder / file).write_bytes(raw.replace(old, new))
            if seal:
                unseal(folder)

        return edit

    assert harmed("a", lambda folder: (folder / MANIFEST).unlink()) == "unfinished"
    assert harmed("b", lambda folder: (folder / MANIFEST).write_text("{}")) == "tampered"
    assert harmed("c", edited("cases.jsonl", b"failed", b"passed", False)) == "tampered"
    assert harmed("d", edited("cases.jsonl", b"failed", b"passed", True)) == "tampered", "counts disagree"
    assert harmed("e", edited("cases.jsonl", b'"failures":[0]', b'"failures":[7]', True)) == "tampered"
    assert harmed("f", edited("report.json", b'"min_reader": 1', b'"min_reader": 9', True)) == "newer"
    assert harmed("g", edited("cases.jsonl", b"\n", b"", True)) == "unreadable"
    with pytest.raises(UnusableEvidenceError) as caught:
        read_evidence(tmp_path / "nowhere")
    assert caught.value.kind == "missing"


def test_the_manifest_names_each_difference(write, passed) -> None:
    folder = write(passed)
    size = (folder / "cases.jsonl").stat().st_size
    log = folder / "workers/001/stdout.log"
    log.write_bytes(b"tell")
    (folder / "new file").write_text("x")
    (folder / "junit.xml").unlink()
    (folder / "cases.jsonl").write_text("")
    assert check_manifest(folder) == [
        f"cases.jsonl: has 0 bytes, the manifest says {size}",
        "junit.xml: is missing",
        "new file: is not in the manifest",
        "workers/001/stdout.log: was changed after its manifest was written",
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: (folder / "link").symlink_to("/etc/passwd"), "neither a file nor a folder"),
        (lambda folder: (folder / "dir").symlink_to("/etc"), "neither a file nor a folder"),
        (lambda folder: os.mkfifo(folder / "pipe"), "neither a file nor a folder"),
        (lambda folder: (folder / "a:b").write_text("x"), "must not hold"),
        (lambda folder: (folder / "a\nb").write_text("x"), "must not hold"),
        (lambda folder: [(folder / name).write_text("x") for name in ("A", "a")], "the same name"),
        (lambda folder: [(folder / name).write_text("x") for name in ("\u00e9", "e\u0301")], "the same name"),
    ],
)
def test_what_can_not_travel_is_refused(tmp_path: Path, make, said: str) -> None:
    make(tmp_path)
    with pytest.raises(UsageError, match=said):
        create_manifest(tmp_path)
    assert not (tmp_path / MANIFEST).exists()


def test_attempts_are_ordered_by_number(tmp_path: Path) -> None:
    for name in ("a10", "a9", "a2", "a0", "ax", "b1"):
        (tmp_path / "lane" / name).mkdir(parents=True)
    assert attempts(tmp_path, "lane") == [2, 9, 10]
    assert attempts(tmp_path, "none") == []


def test_texts_are_bounded_and_later_ones_shorter(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_toolkit.formats.evidence.WHOLE_EXCERPTS", 10_000)
    evidence = read_evidence(write([failing(number, "x" * 50_000) for number in range(20)]))
    sizes = [len(failure.excerpt.encode()) for failure in evidence.failures]
    assert max(sizes) <= EXCERPT_BYTES
    assert sizes[-1] <= 256
    assert "left out" in evidence.failures[19].excerpt
