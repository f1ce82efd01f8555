"""``request.json``: what a worker is told. The child reads it with the standard library only."""

from ci_toolkit.model.documents import Document, Record

REQUEST_SCHEMA = "request/1"


class Limits(Record, frozen=True, kw_only=True):
    """Bounds on a worker, in seconds and bytes. ``grace_s`` is the time between asking and killing."""

    unit_s: float
    case_s: float | None = None
    output_bytes: int = 64 << 20
    memory_bytes: int | None = None
    grace_s: float = 2.0


class Request(Document, frozen=True, kw_only=True):
    """One unit for one worker.

    ``runner`` names the child's module that runs the unit (``pytest``), ``options`` is that runner's own part.
    ``interpreter`` is the subject's, with ``flags``; ``env`` is the worker's whole environment. ``cwd`` is the folder
    the worker starts in. ``temporary`` is this worker's own folder for temporary files. ``nonce`` marks every message
    and event of this worker. ``start`` is the start mode that conf asks for; a fork server imports ``preload`` and
    leaves the variables ``masked``, which show devices, to its forks. A worker asks for ``width`` devices of the module
    ``device`` before it runs anything of the subject.
    """

    schema: str = REQUEST_SCHEMA
    nonce: str
    lane: str
    unit: str
    runner: str
    interpreter: str
    flags: tuple[str, ...] = ()
    env: dict[str, str]
    cwd: str
    temporary: str
    limits: Limits
    start: str = "spawn"
    preload: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    width: int = 0
    device: str = ""
    options: dict[str, object] = {}
