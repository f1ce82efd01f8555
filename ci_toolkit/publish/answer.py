"""Answers a comment that asks for a run: decides, tells the person, and only then lets anything run."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ci_toolkit.errors import UsageError
from ci_toolkit.github.account import own_account
from ci_toolkit.github.approval import Decision, decide, read_said
from ci_toolkit.github.commands import write_output
from ci_toolkit.github.comment_command import Command
from ci_toolkit.github.comments import put_comment
from ci_toolkit.github.event import read_payload
from ci_toolkit.github.rest import Rest
from ci_toolkit.github.run_context import RunContext, run_context, token
from ci_toolkit.github.waiting import Clock

EVENT = "issue_comment"
KEY = "ci-run"
"""Of the one answer that a pull request has; verdicts have a comment of their own."""
CHECK_RUN = "hardware verdict"
NOTHING = {"run": "false", "commit": "", "pull": "", "plan-args": "", "check-run": ""}


@dataclass(frozen=True)
class Answer:
    """What was decided, in a line. ``outputs`` are those of the workflow's step."""

    line: str
    outputs: Mapping[str, str]


def answer(environ: Mapping[str, str], tell: Callable[[str], None], clock: Clock | None = None) -> Answer:
    """Decides about the comment of this run's event, answers it on the pull request, and sets the step's outputs.

    A refusal is an answer too. ``run`` is ``true`` only after all went well, the answer included. Raises UsageError for
    another event, RemoteError where GitHub gives no answer or takes none.
    """
    done = Answer("", NOTHING)
    try:
        done = _answered(environ, tell, clock)
    finally:
        write_output(environ, done.outputs)
    return done


def _answered(environ: Mapping[str, str], tell: Callable[[str], None], clock: Clock | None) -> Answer:
    name = environ.get("GITHUB_EVENT_NAME", "")
    if name != EVENT:
        raise UsageError(f"the event is {name[:40]!r}", hint=f"approve is for `on: {EVENT}: {{types: [created]}}`")
    said = read_said(read_payload(environ.get("GITHUB_EVENT_PATH", "")))
    if isinstance(said, str):
        return Answer(f"nothing to do: {said}", NOTHING)
    run = run_context(environ)
    with Rest(run.api, token(environ), clock, tell) as rest:
        decision = decide(rest, run.repository, said)
        tell(put_comment(rest, own_account(rest), run.repository, said.pull, KEY, run.at, render_answer(decision, run)))
    return Answer(f"{_result(decision)}: {decision.why}", _outputs(decision, said.pull))


def render_answer(decision: Decision, run: RunContext) -> str:
    """The answer as a comment. All words are ours: GitHub makes links of the SHAs in it."""
    command = decision.command
    narrowed = f"\n\nPlanned with `{_narrowing(command)}`." if command and not command.is_whole else ""
    where = f"[Run {run.at.run}]({run.url}), attempt {run.at.attempt}" if run.url else str(run.at)
    return f"**{_result(decision)}**: {decision.why}.{narrowed}\n\n{where}\n"


def _result(decision: Decision) -> str:
    return "Approved" if decision.run else "Nothing was run"


def _outputs(decision: Decision, pull: int) -> dict[str, str]:
    command = decision.command
    if not decision.run or command is None:
        return {**NOTHING, "pull": str(pull)}
    narrowing = _narrowing(command)
    return {
        "run": "true",
        "commit": command.commit,
        "pull": str(pull),
        "plan-args": f"--since {decision.base} {narrowing}".strip(),
        # What runs a part must not become green under the name that says all of it.
        "check-run": CHECK_RUN if command.is_whole else f"{CHECK_RUN} {narrowing.replace(chr(39), '')}",
    }


def _narrowing(command: Command) -> str:
    """The arguments of ``plan`` that the person gave."""
    words = [word for glob in command.only for word in ("--only", glob)]
    words += ["--tier", command.tier] if command.tier else []
    return shlex.join(words)
