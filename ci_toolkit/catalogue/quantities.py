"""Durations and sizes as people write them."""

import re

LONGEST_S = 30 * 86400.0
LARGEST_BYTES = 1 << 50
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)")
_BYTES = {
    **{"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    **{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
}


def seconds(text: str) -> float:
    """A duration such as ``90s``, ``1.5m`` or ``2h`` in seconds, from a millisecond to LONGEST_S.

    Raises ValueError for anything else.
    """
    match = _DURATION.fullmatch(text.strip())
    value = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if value < 0.001:
        raise ValueError(f"{text[:60]!r} is no duration: write a number above zero with a unit, such as 90s, 10m or 1h")
    if value > LONGEST_S:
        raise ValueError(f"{text[:60]!r} is longer than {LONGEST_S / 86400:.0f} days")
    return value


def size(text: str) -> int:
    """A size such as ``64MiB`` or ``1GB`` in bytes, at most LARGEST_BYTES; raises ValueError for anything else."""
    match = _SIZE.fullmatch(text.strip())
    value = float(match[1]) * _BYTES[match[2]] if match else 0.0
    if value < 1:
        raise ValueError(f"{text[:60]!r} is no size: write a number above zero with a unit, such as 64MiB or 1GB")
    if value > LARGEST_BYTES:
        raise ValueError(f"{text[:60]!r} is larger than {LARGEST_BYTES >> 40} TiB")
    return int(value)
