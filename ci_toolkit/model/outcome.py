"""Outcomes of cases, and how outcomes of phases and of tries combine."""

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """What became of a case. A closed set.

    ``not_run`` was withheld by a rule, a budget, a stop or a cancel, and its case says which; ``missing`` was planned
    or collected and nothing explains why it did not report.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    NOT_RUN = "not_run"
    MISSING = "missing"


class Stage(StrEnum):
    """Where in a case's life a failure happened."""

    COLLECT = "collect"
    IMPORT = "import"
    COMPILE = "compile"
    SETUP = "setup"
    CALL = "call"
    TEARDOWN = "teardown"
    COMPARE = "compare"


class Cause(StrEnum):
    """Whose trouble a failure is. ``resource``: a limit of time or memory; ``output``: too much was printed."""

    ASSERTION = "assertion"
    MISMATCH = "mismatch"
    EXCEPTION = "exception"
    UNSUPPORTED = "unsupported"
    DEVICE = "device"
    INFRA = "infra"
    RESOURCE = "resource"
    OUTPUT = "output"


WORST_FIRST = (
    Outcome.CRASHED,
    Outcome.TIMEOUT,
    Outcome.ERROR,
    Outcome.FAILED,
    Outcome.XPASSED,
    Outcome.XFAILED,
    Outcome.SKIPPED,
    Outcome.PASSED,
)
"""Order in which outcomes of phases stand."""

BAD = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.ERROR, Outcome.FAILED, Outcome.MISSING})
"""Outcomes that are never acceptable without a reviewed expectation."""


def over_phases(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst outcome of a case's phases; ``missing`` when there is no phase."""
    seen = set(outcomes)
    for outcome in WORST_FIRST:
        if outcome in seen:
            return outcome
    return Outcome.MISSING


def is_flaky(tries: Iterable[Outcome]) -> bool:
    """Whether a case, tried more than once within a run attempt, ended in different ways."""
    return len(set(tries) - {Outcome.NOT_RUN}) > 1
