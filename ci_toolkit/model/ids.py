"""Ids: lanes, cases within files, safe file names, and the one glob in which only ``*`` is special."""

import hashlib
import re
from functools import lru_cache

LANE_ID = re.compile(r"[a-z0-9_.-]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
SAFE_NAME_LENGTH = 80


def is_lane_id(text: str) -> bool:
    """Whether ``text`` may name a lane, and so a folder and an artifact."""
    return bool(LANE_ID.fullmatch(text)) and text not in {".", ".."}


def lane_id(suite: str, platform: str, variant: str = "", shard: tuple[int, int] | None = None) -> str:
    """``SUITE-PLATFORM[-VARIANT][-KofN]``, the selection language's words."""
    parts = [suite, platform]
    if variant:
        parts.append(variant)
    if shard:
        parts.append(f"{shard[0]}of{shard[1]}")
    return "-".join(parts)


@lru_cache(maxsize=4096)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in glob.split("*")), re.DOTALL)


def matches(glob: str, text: str) -> bool:
    """Whether the whole of ``text`` fits ``glob``; brackets and ``?`` are plain characters, as test ids hold them."""
    return bool(_pattern(glob).fullmatch(text)) if "*" in glob else glob == text


def split_case(case: str) -> tuple[str, str]:
    """A case id as (test file, rest); the rest is empty for a case that is a whole file."""
    file, _, rest = case.partition("::")
    return file, rest


def safe_name(text: str) -> str:
    """A file name for any text: unique by a digest when characters had to go, legal for artifacts and on Windows."""
    plain = _UNSAFE.sub("_", text).strip("._")
    if plain == text and len(text) <= SAFE_NAME_LENGTH:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return f"{plain[:SAFE_NAME_LENGTH]}-{digest}".lstrip("-")
