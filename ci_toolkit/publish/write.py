"""Publishes a verdict wherever people look: files, the terminal, and on GitHub the summary, annotations, outputs."""

import sys
from collections.abc import Mapping
from pathlib import Path

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
    """Writes ``OUT/verdict.json`` and ``OUT/summary.md`` first, then tells GitHub where it runs us, then prints.

    Raises UsageError when GitHub's files can not be written; what is local is there by then.
    """
    out.mkdir(parents=True, exist_ok=True)
    write_document(out / VERDICT, verdict)
    write_atomically(out / SUMMARY, render(verdict, SUMMARY_BYTES).encode())
    print_verdict(verdict)
    if not on_github(environ):
        return
    for line in annotations(verdict, lambda file: relative_file(file, environ)):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    append_summary(environ, render(verdict, summary_room(environ)))
    write_output(
        environ,
        {
            "result": verdict.result,
            "verdict": str(out / VERDICT),
            "summary": str(out / SUMMARY),
            "evidence": str(out),
        },
    )
