"""One exception class per exit code of the command line; caught once, in ``cli``."""

from collections.abc import Iterable
from dataclasses import dataclass

PASSED = 0
GATE_FAILED = 1
WRONG_USAGE = 2
BAD_EVIDENCE = 3
INFRASTRUCTURE = 4
NOTHING_SELECTED = 5
REMOTE_FAILED = 6
INTERRUPTED = 130

PRECEDENCE = (
    INTERRUPTED,
    WRONG_USAGE,
    INFRASTRUCTURE,
    BAD_EVIDENCE,
    GATE_FAILED,
    NOTHING_SELECTED,
    REMOTE_FAILED,
)


def worst_exit(codes: Iterable[int]) -> int:
    """The code that stands when several apply at once; 0 for none.

    An unknown non-zero code counts as bad evidence: it is never dropped.
    """
    present = set(codes) - {PASSED}
    for code in PRECEDENCE:
        if code in present:
            return code
    return BAD_EVIDENCE if present else PASSED


@dataclass(frozen=True)
class Where:
    """A place in a file that a person wrote: line from 1, key as a dotted path."""

    file: str
    line: int | None = None
    key: str = ""

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        key = f": {self.key}" if self.key else ""
        return f"{self.file}{line}{key}"


class ToolkitError(Exception):
    """A condition that ends a command with one clear line and an exit code."""

    exit_code = BAD_EVIDENCE

    def __init__(self, message: str, where: Where | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{place}{self.message}{hint}"


class GateError(ToolkitError):
    """A gate failed."""

    exit_code = GATE_FAILED


class UsageError(ToolkitError):
    """Wrong usage or conf."""

    exit_code = WRONG_USAGE


class EvidenceError(ToolkitError):
    """Evidence is incomplete or can not be trusted."""

    exit_code = BAD_EVIDENCE


class InfrastructureError(ToolkitError):
    """No such device, wrong device, sick device, failed set-up."""

    exit_code = INFRASTRUCTURE


class NothingSelectedError(ToolkitError):
    """Something was asked for and nothing was selected."""

    exit_code = NOTHING_SELECTED


class RemoteError(ToolkitError):
    """A remote service failed after everything local was written."""

    exit_code = REMOTE_FAILED


class InterruptedRunError(ToolkitError):
    """SIGINT or SIGTERM; what was finished is written."""

    exit_code = INTERRUPTED
