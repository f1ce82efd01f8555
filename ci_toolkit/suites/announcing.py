"""Tells, while a lane runs, which bad ends its ratchet expects: only the others are news."""

from collections.abc import Mapping
from typing import Any

from ci_toolkit.model.case import Case
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.report import WorkerEnd
from ci_toolkit.suites.steps import IsKnown
from ci_toolkit.workers.jobs import Job, Observer

KNOWN = "known"
"""Set in a message whose outcome or end is the expected one of its case."""
_ENDS = {WorkerEnd.CRASHED: Outcome.CRASHED, WorkerEnd.TIMEOUT: Outcome.TIMEOUT}
_OUTCOMES = frozenset(outcome.value for outcome in Outcome)


def announced(observe: Observer, is_known: IsKnown) -> Observer:
    """``observe`` with KNOWN in messages of cases that end as the ratchet says."""
    running: dict[str, str] = {}

    def outcome_of(case: str, message: Mapping[str, Any]) -> Outcome | None:
        if message.get("e") == "ended" and case:
            return _ENDS.get(message["end"])
        told = message.get("outcome")
        return Outcome(told) if message.get("e") == "phase" and told in _OUTCOMES else None

    def tell(job: Job, message: dict[str, Any]) -> None:
        nonce = job.request.nonce
        if message.get("e") in ("start", "phase"):
            running[nonce] = str(message.get("id"))
        elif message.get("e") == "finish":
            running[nonce] = ""
        case = running.get(nonce, "")
        outcome = outcome_of(case, message)
        known = outcome is not None and is_known(Case(id=case, outcome=outcome))
        observe(job, {**message, KNOWN: True} if known else message)

    return tell
