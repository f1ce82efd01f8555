"""The evidence folder of a lane's run: streamed while the lane runs, sealed by its manifest, verified when read."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_toolkit.errors import EvidenceError, InfrastructureError, UsageError, Where
from ci_toolkit.formats.documents import NewerDocumentError, encode_row, read_document, read_rows, write_document
from ci_toolkit.formats.failures import FailureTable
from ci_toolkit.formats.junit_write import JunitWriter
from ci_toolkit.formats.manifest import MANIFEST, create_manifest, verify_manifest
from ci_toolkit.model.case import EXCERPT_BYTES, MESSAGE_BYTES, Case, Failure
from ci_toolkit.model.report import Report
from ci_toolkit.model.text import clip, one_line

REPORT = "report.json"
CASES = "cases.jsonl"
FAILURES = "failures.jsonl"
JUNIT = "junit.xml"
WORKERS = "workers"
WHOLE_EXCERPTS = 64 << 20
SHORT_EXCERPT = 256
_ATTEMPT = re.compile(r"a([1-9]\d*)")


class UnusableEvidenceError(EvidenceError):
    """Evidence that is not there or can not be believed.

    ``kind`` is missing, unfinished, tampered, newer (than this version reads) or unreadable.
    """

    def __init__(self, kind: str, message: str, where: Where | None = None) -> None:
        super().__init__(message, where)
        self.kind = kind


class EvidenceWriter:
    """Writes one lane's evidence, once.

    Raises UsageError for a folder that holds something already, InfrastructureError where the file system refuses.
    """

    def __init__(self, folder: Path) -> None:
        try:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise _occupied(folder)
            folder.mkdir(parents=True, exist_ok=True)
            # Of two runs that found the folder empty at the same time, one is refused here.
            self._cases_file = (folder / CASES).open("xb")
        except FileExistsError as error:
            raise _occupied(folder) from error
        except OSError as error:
            raise _unwritable(folder, error) from error
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self._failures = 0
        self._text = 0
        self._unused: dict[int, Failure] = {}
        self._junit = JunitWriter(folder / JUNIT)
        self._failures_file = (folder / FAILURES).open("wb")

    def worker_folder(self, number: int) -> Path:
        """A new empty folder for a worker's request, events and logs."""
        folder = self.folder / WORKERS / f"{number:03d}"
        folder.mkdir(parents=True)
        return folder

    def add_failure(self, failure: Failure) -> int:
        """Writes a failure and returns its row number, from 0.

        When a lane's failures hold WHOLE_EXCERPTS bytes of text, later ones are cut short; the logs have them whole.
        """
        limit = EXCERPT_BYTES if self._text < WHOLE_EXCERPTS else SHORT_EXCERPT
        excerpt, message = clip(failure.excerpt, limit), clip(failure.message, min(limit, MESSAGE_BYTES))
        failure = msgspec.structs.replace(failure, excerpt=excerpt, message=message)
        self._text += len(excerpt) + len(message)
        self._unused[self._failures] = failure
        try:
            self._failures_file.write(encode_row(failure))
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self._failures += 1
        return self._failures - 1

    def add_case(self, case: Case) -> None:
        """Writes a case; its failures must have been added before, each for one case."""
        try:
            self._cases_file.write(encode_row(case))
            self._junit.add(case, [self._unused.pop(row) for row in case.failures])
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self.counts[case.outcome] += 1

    def close(self, report: Report) -> None:
        """Writes the head with the counts of the cases, the JUnit file, and last the manifest."""
        head = msgspec.structs.replace(report, counts=dict(sorted(self.counts.items())))
        try:
            self._cases_file.close()
            self._failures_file.close()
            write_document(self.folder / REPORT, head)
            self._junit.close(head)
            create_manifest(self.folder)
        except OSError as error:
            raise _unwritable(self.folder, error) from error


def _occupied(folder: Path) -> UsageError:
    message = "exists and is not empty: evidence of two runs is never mixed"
    return UsageError(message, Where(str(folder)), "name another --out")


def _unwritable(folder: Path, error: OSError) -> InfrastructureError:
    return InfrastructureError(f"evidence can not be written: {error.strerror}", Where(str(folder)))


@dataclass(frozen=True)
class Evidence:
    """A lane's verified evidence."""

    folder: Path
    report: Report
    cases: tuple[Case, ...]
    failures: FailureTable


def read_evidence(folder: Path) -> Evidence:
    """The evidence in ``folder``, believed only after every file was found as its manifest says.

    Raises UnusableEvidenceError, which says what is wrong and with which file.
    """
    where = Where(str(folder))
    if not folder.is_dir():
        raise UnusableEvidenceError("missing", "there is no evidence", where)
    if not os.path.lexists(folder / MANIFEST):
        raise UnusableEvidenceError("unfinished", "has no manifest: the run that wrote it did not finish", where)
    try:
        verify_manifest(folder)
    except EvidenceError as error:
        raise UnusableEvidenceError("tampered", error.message, error.where) from error
    try:
        report = read_document(folder / REPORT, Report)
        cases = tuple(read_rows(folder / CASES, Case))
        failures = FailureTable(folder / FAILURES)
    except EvidenceError as error:
        kind = "newer" if isinstance(error, NewerDocumentError) else "unreadable"
        raise UnusableEvidenceError(kind, error.message, error.where) from error
    fault = _inconsistent(report, cases, len(failures))
    if fault:
        raise UnusableEvidenceError("tampered", fault, where)
    return Evidence(folder, report, cases, failures)


def _inconsistent(report: Report, cases: tuple[Case, ...], failures: int) -> str:
    """What in the documents contradicts another of them; empty when nothing does."""
    if Counter(case.outcome for case in cases) != Counter(report.counts):
        return "the head counts other cases than there are"
    if len({(case.engine, case.id) for case in cases}) < len(cases):
        (_, twice), _ = Counter((case.engine, case.id) for case in cases).most_common(1)[0]
        return f"{one_line(twice)} is there twice"
    pointers = [("a case", row) for case in cases for row in case.failures]
    pointers += [("an execution error", row) for error in report.errors for row in error.failures]
    for what, row in pointers:
        if not 0 <= row < failures:
            return f"{what} points to failure {row}, there are {failures}"
    return ""


def attempts(out: Path, lane: str) -> list[int]:
    """The run attempts that have a folder for ``lane``, oldest first, by number and never by time."""
    found = (_ATTEMPT.fullmatch(path.name) for path in (out / lane).glob("a*"))
    return sorted(int(match[1]) for match in found if match)


def attempt_folder(out: Path, lane: str, attempt: int) -> Path:
    """Where the evidence of a lane's run attempt lies."""
    return out / lane / f"a{attempt}"
