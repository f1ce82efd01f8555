"""Plan, runs and verdict on a terminal, or as plain lines in a log."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ci_toolkit.errors import BAD_EVIDENCE, INFRASTRUCTURE, INTERRUPTED, worst_exit
from ci_toolkit.formats.documents import read_document
from ci_toolkit.formats.evidence import REPORT
from ci_toolkit.gates.overview import Row
from ci_toolkit.github.commands import defuse
from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.report import ErrorKind, Report
from ci_toolkit.model.text import one_line
from ci_toolkit.model.verdict import Finding, Verdict
from ci_toolkit.publish.words import blame, counts, duration, failure_lines, headline, more, place, reason, title
from ci_toolkit.reproduce.command import shell_line
from ci_toolkit.suites.ratcheting import Change

FINDINGS_SHOWN = 20
CASES_SHOWN = 5
LINES_SHOWN = 8
LOG_WIDTH = 1 << 20
STYLES = {"passed": "", "advisory": "yellow"}


def on_terminal() -> bool:
    """Whether a person watches; a log that takes colours (FORCE_COLOR) is none."""
    return sys.stdout.isatty()


def make_console() -> Console:
    """A console that interprets nothing of what it prints.

    A log folds nothing: what is folded can not be copied, and a part of a name could start a line of its own.
    """
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not on_terminal():
        console.width = LOG_WIDTH
    return console


def print_plan(plan: Plan) -> None:
    """The lanes that run, and those left out with their reasons."""
    console = make_console()
    for lane in plan.lanes:
        units = lane.selection.units
        whole = "whole suite" if lane.shard is None else f"shard {lane.shard[0]} of {lane.shard[1]}"
        some = whole if units is None else f"{len(units)} test files ({lane.selection.why})"
        _line(console, f"lane      {lane.id}: {some}")
    for left in plan.left_out:
        _line(console, f"left out  {left.id}: {left.reason}", "yellow" if not left.named else "red")
    if not plan.lanes:
        where = "for this event" if plan.notes else "here"
        _line(console, f"no lane runs {where}", "yellow" if plan.may_be_empty else "red")


def explain_plan(plan: Plan) -> None:
    """How the plan came about: the rules that held, each lane's reason, and the jobs."""
    console = make_console()
    for note in plan.notes:
        _line(console, note)
    for lane in plan.lanes:
        _line(console, f"why       {lane.id}: {lane.why}")
    for job in plan.jobs:
        where = f"on {', '.join(job.runs_on)}, at most {job.timeout_minutes} minutes, matrix {job.chunk}"
        _line(console, f"job       {job.id}: {', '.join(job.lanes)}; {where}")


def print_runs(plan: Plan, folders: Mapping[str, Path]) -> int:
    """What the runs of a plan's lanes left; returns the exit code of the runs, which judges no case."""
    console = make_console()
    codes = [INFRASTRUCTURE for left in plan.left_out if left.named]
    for lane in plan.lanes:
        folder = folders.get(lane.id)
        if folder is None:
            _line(console, f"{lane.id}: not run", "red")
            codes.append(INTERRUPTED)
            continue
        report = read_document(folder / REPORT, Report)
        _line(console, f"{lane.id}: {counts(report.counts)}; evidence in {folder}")
        for error in report.errors:
            unit = f"{error.unit}: " if error.unit else ""
            _line(console, f"{lane.id}: {error.kind}: {unit}{error.message}", "red")
            infra = error.cause is Cause.INFRA or error.kind in (ErrorKind.INFRA, ErrorKind.SETUP)
            codes.append(
                INTERRUPTED if error.kind is ErrorKind.INTERRUPTED else INFRASTRUCTURE if infra else BAD_EVIDENCE
            )
        if report.interrupted:
            codes.append(INTERRUPTED)
    _line(console, "cases are not judged yet: ci-toolkit gate does that")
    return worst_exit(codes)


def print_verdict(verdict: Verdict) -> None:
    """Findings with what reproduces them, the lanes, and the verdict in the last line."""
    console = make_console()
    for finding in reversed(verdict.findings[:FINDINGS_SHOWN]):
        _print_finding(console, finding)
    left = more(FINDINGS_SHOWN, len(verdict.findings), "finding")
    if left:
        _line(console, f"{left}: verdict.json has all", "bold")
    console.print()
    if verdict.lanes:
        rows = [
            (lane.lane, lane.result, counts(lane.counts), duration(lane.seconds), lane.device) for lane in verdict.lanes
        ]
        styles = [STYLES.get(lane.result, "red") for lane in verdict.lanes]
        console.print(_table(("lane", "result", "cases", "time", "device"), rows, styles=styles))
    for lane in verdict.lanes:
        if lane.advisory:
            _line(console, f"advisory  {lane.lane}: {lane.advisory}", "yellow")
    for one in verdict.drain:
        _line(console, f"drain     {one.runner}: {blame(one)}", "bold red")
    for lane_id, why in sorted(verdict.left_out.items()):
        _line(console, f"left out  {lane_id}: {why}", "yellow")
    _line(console, headline(verdict), "bold green" if verdict.exit_code == 0 else "bold red")


def print_change(change: Change) -> None:
    """What a command did to a ratchet."""
    console = make_console()
    for line in change.lines or ("nothing changes",):
        _line(console, line)
    for file in change.files:
        _line(console, f"written: {file}")


def print_ratchet(name: str, rows: Sequence[Row]) -> None:
    """A ratchet's deviations as a table."""
    cells = [(row.kind, row.name, row.outcome, str(row.cases), row.expires, row.reason) for row in rows]
    make_console().print(_table(("kind", "name", "outcome", "cases", "expires", "reason"), cells, name))


def print_values(lane: str, values: Mapping[str, Mapping[str, object]]) -> None:
    """A lane's effective values, and where each came from."""
    rows = []
    for key, entry in values.items():
        value = entry["value"]
        shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)
        rows.append((key, shown, str(entry["source"])))
    make_console().print(_table(("key", "value", "from"), rows, lane))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], styles: Sequence[str] = ()) -> None:
    """Prints rows under their columns' names; ``styles`` has one for each row."""
    make_console().print(_table(columns, rows, styles=styles))


def print_line(text: str, style: str = "") -> None:
    """Prints one line, whatever ``text`` holds."""
    _line(make_console(), text, style)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", styles: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title=_safe(title) or None, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for at, row in enumerate(rows):
        table.add_row(*(_safe(cell) for cell in row), style=styles[at] if styles else None)
    return table


def _print_finding(console: Console, finding: Finding) -> None:
    _line(console, "")
    _line(console, title(finding), "bold red" if finding.blocks else "bold yellow")
    _line(console, f"  {finding.message}")
    facts = {
        "why": reason(finding),
        "at": place(finding),
        "expected": finding.expected,
        "observed": finding.observed,
        "runner": finding.runner,
        "device": finding.device if finding.runner else "",
        "issue": finding.issue,
    }
    for name, value in facts.items():
        if value:
            _line(console, f"  {name}: {value}")
    for line in failure_lines(finding, LINES_SHOWN):
        _line(console, f"  | {line}", "dim")
    if len(finding.cases) > 1:
        for case in finding.cases[:CASES_SHOWN]:
            _line(console, f"  - {case}")
        left = more(min(CASES_SHOWN, len(finding.cases)), finding.count, "case")
        if left:
            _line(console, f"  {left}")
    if finding.reproduce:
        _line(console, f"  reproduce: {shell_line(finding.reproduce)}")
    if finding.evidence:
        _line(console, f"  evidence: {finding.evidence}")


def _line(console: Console, text: str, style: str = "") -> None:
    line = _safe(text)
    line.style = style
    console.print(line)


def _safe(text: str) -> Text:
    return Text(defuse(one_line(text)))
