"""Text of the subject on its way into events: bounded, and writable as UTF-8."""

from __future__ import annotations

import re
from typing import Match

_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARK = "[... {} characters left out ...]"


def _escaped(match: Match[str]) -> str:
    character = match.group()
    code = ord(character)
    return _NAMED.get(character) or ("\\x%02x" % code if code < 0x100 else "\\u%04x" % code)


def case_id(nodeid: str) -> str:
    """The id of a case: its node id with every hidden character, line breaks too, as a visible escape."""
    return nodeid if nodeid.isprintable() else _HIDDEN.sub(_escaped, nodeid)


def encodable(text: str) -> str:
    """``text`` with lone surrogates escaped; controls stay, the host has one rule for them."""
    return text if text.isprintable() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters: head and tail, with a mark of what is missing between them."""
    if len(text) <= limit:
        return text
    room = max(limit - len(_MARK.format(len(text))), 0)
    tail = room // 2
    return text[: room - tail] + _MARK.format(len(text) - room) + text[len(text) - tail :]


def bounded(text: str, limit: int) -> str:
    """``encodable`` text of at most ``limit`` bytes of UTF-8; it never works on more than the parts that it keeps."""
    text = encodable(clip(text, limit))
    while True:
        size = len(text.encode("utf-8"))
        if size <= limit:
            return text
        text = clip(text, len(text) * limit // size - 1)


def plain_str(value: object) -> str:
    """``str(value)`` as a real ``str``, or what went wrong: values of tests may raise or lie when they are asked."""
    try:
        return str.__str__(str(value))
    except Exception as error:  # noqa: BLE001 - anything may come out of a test's own __str__
        return "<str() of this %s raised %s>" % (type(value).__name__, type(error).__name__)
