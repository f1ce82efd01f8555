"""Publishes a verdict wherever people look: files, the terminal, and on GitHub the summary, annotations, outputs."""

import sys
from collections.abc import Mapping
from pathlib import Path

from ci_toolkit.formats.digests import digest_of
from ci_toolkit.formats.documents import write_atomically, write_document
from ci_toolkit.github.commands import (
    SUMMARY_BYTES,
    append_summary,
    on_github,
    relative_file,
    summary_room,
    write_output,
)
from ci_toolkit.model.verdict import Verdict
from ci_toolkit.publish.annotations import annotations
from ci_toolkit.publish.summary import render
from ci_toolkit.publish.terminal import print_verdict

VERDICT = "verdict.json"
SUMMARY = "summary.md"


def publish(verdict: Verdict, out: Path, environ: Mapping[str, str]) -> None:
    """Writes ``OUT/verdict.json`` and ``OUT/summary.md`` first, then tells people, with the verdict in the last line.

    Raises UsageError when GitHub's files can not be written; all the rest is done by then.
    """
    out.mkdir(parents=True, exist_ok=True)
    write_document(out / VERDICT, verdict)
    write_atomically(out / SUMMARY, render(verdict, SUMMARY_BYTES).encode())
    here = on_github(environ)
    if here:
        for line in annotations(verdict, lambda file: relative_file(file, environ)):
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    print_verdict(verdict)
    if here:
        _fill_files(verdict, out, environ)


def _fill_files(verdict: Verdict, out: Path, environ: Mapping[str, str]) -> None:
    """Writes the step's outputs and its summary; neither keeps the other from being written."""
    try:
        outputs = {"verdict": str(out / VERDICT), "summary": str(out / SUMMARY), "evidence": str(out)}
        write_output(environ, {"result": verdict.result, "digest": digest_of(verdict), **outputs})
    finally:
        append_summary(environ, render(verdict, summary_room(environ)))
