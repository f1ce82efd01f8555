"""Durations and sizes as people write them."""

import re

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)")
_BYTES = {
    **{"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    **{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
}


def seconds(text: str) -> float:
    """A duration such as ``90s``, ``1.5m`` or ``2h`` in seconds; raises ValueError for anything else, and for zero."""
    match = _DURATION.fullmatch(text.strip())
    value = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if value <= 0:
        raise ValueError(f"{text!r} is no duration: write a number above zero with a unit, such as 90s, 10m or 1h")
    return value


def size(text: str) -> int:
    """A size such as ``64MiB`` or ``1GB`` in bytes; raises ValueError for anything else, and for zero."""
    match = _SIZE.fullmatch(text.strip())
    value = int(float(match[1]) * _BYTES[match[2]]) if match else 0
    if value <= 0:
        raise ValueError(f"{text!r} is no size: write a number above zero with a unit, such as 64MiB or 1GB")
    return value
