"""Cases and their failures: the rows of ``cases.jsonl`` and ``failures.jsonl``."""

from ci_toolkit.model.documents import Record
from ci_toolkit.model.outcome import Cause, Outcome, Stage

EXCERPT_BYTES = 4096
"""The largest excerpt of a failure's text, in bytes of UTF-8."""

MESSAGE_BYTES = 2048
"""The largest message of a failure, in bytes of UTF-8."""


class Frame(Record, frozen=True, kw_only=True):
    """A stack frame, outermost first in its list. ``own``: the file lies under the suite's root."""

    file: str
    line: int
    function: str
    own: bool = False


class Failure(Record, frozen=True, kw_only=True):
    """Why a case, or a unit, did not pass. The text fields are bounded; the whole text is in the worker's log."""

    stage: Stage
    cause: Cause
    exception: str = ""
    message: str = ""
    frames: tuple[Frame, ...] = ()
    signal: str = ""
    exit_code: int | None = None
    excerpt: str = ""
    signature: str = ""
    signature_class: str = ""


class Case(Record, frozen=True, kw_only=True):
    """One test's outcome in one lane.

    The key within a lane is (``engine``, ``id``); ``id`` is relative to the suite's root, with control characters and
    surrogates escaped. ``stage`` is the phase that decided, ``failures`` are row numbers (from 0) in
    ``failures.jsonl``, ``seconds`` is absent when nothing was timed, ``tries`` holds the outcomes of all tries in order
    when there was more than one. ``alone`` and ``after`` say how a case that had ended its worker did in a fresh one by
    itself, and after those that had run before it. ``nodeid`` is what the test runner calls it, where that differs from
    ``id``.
    """

    id: str
    outcome: Outcome
    engine: str = ""
    stage: Stage | None = None
    reason: str = ""
    failures: tuple[int, ...] = ()
    seconds: float | None = None
    tries: tuple[Outcome, ...] = ()
    alone: Outcome | None = None
    after: Outcome | None = None
    worker: int | None = None
    device: int | None = None
    file: str = ""
    line: int | None = None
    nodeid: str = ""
