"""Ids: lanes, cases within files, safe file names, and the one glob in which only ``*`` is special."""

import hashlib
import re

LANE_ID = re.compile(r"[a-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)
"""Names that Windows keeps for devices, with any ending."""
_DIGEST = re.compile(r"(?:^|-)[0-9a-f]{12}$")
SAFE_NAME_LENGTH = 80


def is_lane_id(text: str) -> bool:
    """Whether ``text`` may name a lane, and so a folder and an artifact."""
    return bool(LANE_ID.fullmatch(text)) and text not in {".", ".."}


def is_commit(text: str) -> bool:
    """Whether ``text`` is a whole commit SHA, as git prints it."""
    return bool(_COMMIT.fullmatch(text))


def lane_id(suite: str, platform: str, variant: str = "", shard: tuple[int, int] | None = None) -> str:
    """``SUITE-PLATFORM[-VARIANT][-KofN]``, the selection language's words."""
    parts = [suite, platform]
    if variant:
        parts.append(variant)
    if shard:
        parts.append(f"{shard[0]}of{shard[1]}")
    return "-".join(parts)


def matches(glob: str, text: str) -> bool:
    """Whether the whole of ``text`` fits ``glob``; brackets and ``?`` are plain characters, as test ids hold them."""
    first, *rest = glob.split("*")
    if not rest:
        return glob == text
    *middle, last = rest
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def split_case(case: str) -> tuple[str, str]:
    """A case id as (test file, rest); the rest is empty for a case that is a whole file."""
    file, _, rest = case.partition("::")
    return file, rest


def safe_name(text: str) -> str:
    """A file name for any text, legal for artifacts and on Windows. A digest tells apart what it would make equal."""
    plain = _UNSAFE.sub("_", text).strip("._-")
    legal = plain == text and 0 < len(text) <= SAFE_NAME_LENGTH and not _DEVICE.match(text)
    if legal and not _DIGEST.search(text):
        return text
    if _DEVICE.match(plain):
        plain = f"_{plain}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{plain[:SAFE_NAME_LENGTH]}-{digest}" if plain else digest
