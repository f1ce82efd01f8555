"""Annotations: the few most important findings, each on its file and line. Pure."""

from collections.abc import Callable

from ci_toolkit.github.commands import command
from ci_toolkit.model.text import clip
from ci_toolkit.model.verdict import Verdict
from ci_toolkit.publish.words import blocking, failure_lines, headline, title

PER_STEP = 9
"""GitHub keeps ten errors of a step and drops the rest without a word; one is told while lanes still run."""


def annotations(verdict: Verdict, relative: Callable[[str], str]) -> list[str]:
    """Workflow commands for the blocking findings, at most nine; the last one counts what is left.

    ``relative`` gives a file's path in the checkout, empty for one outside it.
    """
    found = blocking(verdict.findings)
    shown = found if len(found) <= PER_STEP else found[: PER_STEP - 1]
    lines = []
    for finding in shown:
        file = relative(finding.file)
        line = finding.line if file and finding.line and finding.line > 0 else None
        blamed = [f"on {finding.runner} {finding.device}".rstrip()] if finding.runner else []
        text = "\n".join([finding.message, *blamed, *failure_lines(finding, 8)])
        lines.append(command("error", text, file=file, line=line, title=clip(title(finding), 250)))
    if len(found) > len(shown):
        lines.append(
            command("error", f"and {len(found) - len(shown)} more findings: see the job summary", title="more")
        )
    if not found and verdict.exit_code:
        lines.append(command("error", headline(verdict), title="ci-toolkit"))
    return lines
