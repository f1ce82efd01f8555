"""How long to wait before a request is sent to GitHub again. Pure."""

import email.utils
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FIRST_S = 1.0
LONGEST_S = 60.0
"""Between tries after an error of the service: doubled from the first to the longest."""
SECONDARY_S = 60.0
"""GitHub asks for a minute at least where it limits without saying for how long."""


@dataclass(frozen=True)
class Clock:
    """Time and chance; tests bring their own and wait for nothing."""

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


def is_limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Whether an answer says "too often": the token's hourly limit, or a secondary one. Nothing was done then."""
    if status == 429:
        return True
    exhausted = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return status == 403 and (exhausted or "rate limit" in message.lower())


def limited_for(headers: Mapping[str, str], tries: int, now: float) -> float:
    """Seconds until a limit ends. The service's own clock counts where it tells it, as this machine's may be wrong."""
    told = _seconds(headers.get("retry-after", ""), now)
    if told is not None:
        return told
    reset = _number(headers.get("x-ratelimit-reset", ""))
    if headers.get("x-ratelimit-remaining") == "0" and reset is not None:
        there = _date(headers.get("date", ""))
        return max(reset - (now if there is None else there), 0.0) + 1
    return SECONDARY_S * 2.0 ** min(tries, 10)


def backoff(tries: int, chance: float) -> float:
    """Seconds after the n-th error of the service in a row, spread so that many clients do not come back at once."""
    return float(min(FIRST_S * 2.0 ** min(tries, 10), LONGEST_S) * (0.5 + chance / 2))


def _seconds(text: str, now: float) -> float | None:
    seconds = _number(text)
    if seconds is not None:
        return seconds
    date = _date(text)
    return None if date is None else max(date - now, 0.0)


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
