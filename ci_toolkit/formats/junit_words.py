"""What the elements and attributes of JUnit files mean, as the producers in use write them."""

import math
import re
from collections.abc import Mapping

from ci_toolkit.model.outcome import Outcome

MAX_DEPTH = 500
"""Elements within each other; a deeper file is refused."""

TAG_BYTES = 128 << 20
"""The longest tag or comment: the parser holds it as a whole."""

LONGEST_S = 10**8
"""A time from here on is a clock's reading, not a duration."""

SUITES = frozenset({"testsuites", "testsuite"})
RERUNS = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError", "rerun"})
OUTCOME_PROPERTY = "ci-toolkit.outcome"

AS_ERROR = frozenset({Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.MISSING})
AS_SKIPPED = frozenset({Outcome.SKIPPED, Outcome.XFAILED, Outcome.NOT_RUN})

RESULTS = {"failure": Outcome.FAILED, "error": Outcome.ERROR, "skipped": Outcome.SKIPPED}
"""Elements of a case that did not just pass."""

_SKIP_TYPES = {"pytest.xfail": Outcome.XFAILED, "not_run": Outcome.NOT_RUN}
_ERROR_TYPES = {outcome.value: outcome for outcome in AS_ERROR}
_STATUSES = {
    **dict.fromkeys(("notrun", "disabled", "skipped", "ignored", "suppressed"), Outcome.SKIPPED),
    **dict.fromkeys(("failed", "failure", "fail"), Outcome.FAILED),
    **dict.fromkeys(("error", "errored", "broken", "aborted"), Outcome.ERROR),
    **dict.fromkeys(("timeout", "timedout"), Outcome.TIMEOUT),
}
_LONGEST_COUNT = 15
_NUMBER = re.compile(r"\s*(\d{1,12}(?:,\d{3})*(?:\.\d*)?(?:[eE][+-]?\d{1,3})?|\.\d+)\s*(s|sec|seconds)?\s*", re.ASCII)


def outcome_of(element: str, kind: str) -> Outcome:
    """The outcome that a ``failure``, ``error`` or ``skipped`` element with this ``type`` stands for."""
    outcome = RESULTS[element]
    if outcome is Outcome.SKIPPED:
        return _SKIP_TYPES.get(kind, outcome)
    return _ERROR_TYPES.get(kind.partition(":")[0], outcome) if outcome is Outcome.ERROR else outcome


def outcome_by_status(attributes: Mapping[str, str]) -> Outcome | None:
    """What ``status`` or ``result`` of a case say where no element does; None unless they say it did not pass."""
    for name in ("result", "status"):
        value = attributes.get(name)
        if value:
            outcome = _STATUSES.get(value.strip().lower())
            if outcome:
                return outcome
    return None


def count_of(text: str) -> int | None:
    """A counter as producers write it; None for what is no count."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_COUNT else None


def seconds_of(text: str | None) -> float | None:
    """A time as producers write it: ``1.5``, ``1,234.5``, ``2s``. None for what is no finite time above or at zero."""
    match = _NUMBER.fullmatch(text or "")
    if not match:
        return None
    value = float(match[1].replace(",", ""))
    return value if math.isfinite(value) and value < LONGEST_S else None
