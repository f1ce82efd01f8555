"""Measurements and comparisons: the rows of ``measurements.jsonl``."""

from ci_toolkit.model.documents import Record


class Measurement(Record, frozen=True, kw_only=True):
    """A timed quantity of one case with its samples, in ``unit`` (``s``, ``GB/s``); ``value`` is absent unless ok."""

    case: str
    name: str
    unit: str
    samples: tuple[float, ...] = ()
    value: float | None = None
    status: str = "ok"
    provider: str = ""
    parameters: dict[str, str] = {}


class Comparison(Record, frozen=True, kw_only=True):
    """Two measurements of one quantity. ``baseline`` is paired, vendor, reference, stored or scaled."""

    case: str
    name: str
    baseline: str
    ratio: float | None = None
    paired: bool = False
    status: str = "ok"
