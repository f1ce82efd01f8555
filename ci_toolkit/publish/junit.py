"""JUnit files in words, and what they mean for an exit code. Pure."""

from collections.abc import Iterable
from pathlib import Path

from ci_toolkit.errors import BAD_EVIDENCE, GATE_FAILED, worst_exit
from ci_toolkit.formats.junit_merge import Merged
from ci_toolkit.formats.junit_read import FileVerdict, JunitSummary
from ci_toolkit.model.outcome import BAD
from ci_toolkit.model.text import one_line
from ci_toolkit.publish.words import counts, duration, plural


def summary_lines(summary: JunitSummary) -> list[str]:
    """A file's verdict, counts, times and warnings."""
    told = f"{summary.verdict}: {summary.message}" if summary.message else summary.verdict.value
    lines = [one_line(f"{summary.file}: {told}")]
    if summary.counts:
        flaky = f", {summary.flaky} flaky" if summary.flaky else ""
        untimed = f", {summary.untimed} without a time" if summary.untimed else ""
        lines.append(f"  {counts(summary.counts)}{flaky}; {duration(summary.seconds)}{untimed}")
    lines += [f"  warning: {warning}" for warning in summary.warnings]
    return lines


def exit_code(summaries: Iterable[JunitSummary]) -> int:
    """0 only when every file is whole and no case in it failed."""
    codes = []
    for summary in summaries:
        if summary.verdict is not FileVerdict.WHOLE:
            codes.append(BAD_EVIDENCE)
        if BAD & set(summary.counts):
            codes.append(GATE_FAILED)
    return worst_exit(codes)


def merged_lines(target: Path, merged: Merged) -> list[str]:
    """What a merge did."""
    bad = f"{merged.failures} failures, {merged.errors} errors, {merged.skipped} skipped"
    lines = [one_line(f"{target}: {merged.tests} cases, {bad}")]
    if merged.duplicates:
        some = ", ".join(merged.named)
        word = plural("case", merged.duplicates)
        lines.append(f"warning: {merged.duplicates} {word} more than once, such as {some}")
    return lines
