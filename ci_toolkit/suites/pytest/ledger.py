"""Collects the failures and the execution errors of one unit, with hygiene applied to their text."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from ci_toolkit.model.case import EXCERPT_BYTES, Failure
from ci_toolkit.model.outcome import Cause, Stage
from ci_toolkit.model.report import ErrorKind, ExecutionError
from ci_toolkit.model.text import clip, one_line, visible
from ci_toolkit.suites.kind import Account
from ci_toolkit.suites.pytest.ends import END_CAUSES
from ci_toolkit.suites.pytest.faults import frames, last_dump

SHOWN = 5
"""At most this many ids stand in a message."""


@dataclass
class Ledger:
    """The failures and errors of a unit so far; rows count from 0."""

    unit: str
    account: Account
    root: str
    failures: list[Failure] = field(default_factory=list)
    errors: list[ExecutionError] = field(default_factory=list)

    def error(
        self,
        kind: ErrorKind,
        message: str,
        *,
        cause: Cause = Cause.EXCEPTION,
        case: str = "",
        failures: tuple[int, ...] = (),
    ) -> None:
        """Adds an execution error of this unit."""
        self.errors.append(self.made(kind, message, cause=cause, case=case, failures=failures))

    def made(
        self,
        kind: ErrorKind,
        message: str,
        *,
        cause: Cause = Cause.EXCEPTION,
        case: str = "",
        failures: tuple[int, ...] = (),
    ) -> ExecutionError:
        """An execution error of this unit that is not added."""
        return ExecutionError(
            kind=kind,
            message=clip(visible(message), EXCERPT_BYTES),
            cause=cause,
            unit=self.unit,
            case=case,
            worker=self.account.worker.number,
            failures=failures,
        )

    def failure(self, failure: Failure) -> int:
        """Adds a failure and returns its row."""
        self.failures.append(
            msgspec.structs.replace(
                failure, message=visible(failure.message), excerpt=clip(visible(failure.excerpt), EXCERPT_BYTES)
            )
        )
        return len(self.failures) - 1

    def death(self, stage: Stage, message: str) -> int:
        """Adds the failure of a worker that did not complete, with the stack that it wrote, and returns its row."""
        worker, account = self.account.worker, self.account
        return self.failure(
            Failure(
                stage=stage,
                cause=END_CAUSES[worker.end],
                message=message,
                frames=frames(account.stderr, self.root),
                signal=worker.signal,
                exit_code=worker.exit_code,
                excerpt=last_dump(account.stderr) or account.stderr.strip() or account.stdout,
            )
        )

    def last_words(self) -> str:
        """The line of the worker's last output that says most, with a colon before it; empty without output."""
        words = [line for line in visible(f"{self.account.stdout}\n{self.account.stderr}").splitlines() if line.strip()]
        error = next((line for line in reversed(words) if line.startswith(("ERROR", "E  "))), "")
        said = error or (words[-1] if words else "")
        return f": {one_line(said.strip())[:300]}" if said else ""


def some(ids: Iterable[object], count: int | None = None) -> str:
    """The first few of ``ids``, and how many more there are."""
    names = [one_line(str(case))[:200] for case in ids]
    more = (count or len(names)) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
