"""Text hygiene: output of tests is hostile data, and each surface gets only what it can hold.

One rule for all surfaces: terminal escape sequences are removed, and any other character that a surface can not show
(controls, lone surrogates, bidirectional overrides) becomes a visible escape such as ``\\x07`` or ``\\u202e``.
"""

import re

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    # OSC, DCS, SOS, PM, APC up to their terminator; one that never ends takes its line, not all text behind it.
    r"|\x1b[\]PX^_][^\x07\x1b\x9c\n\r]*(?:\x1b\\|\x07|\x9c)?"
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029\ufeff{_BIDI}]")
_BREAKS = re.compile(r"[\n\r\t]")
_MARK = "[... {} bytes left out ...]"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def strip_terminal(text: str) -> str:
    """``text`` without terminal escape sequences (colours, titles, hyperlinks)."""
    return _ESCAPE_SEQUENCE.sub("", text) if "\x1b" in text or "\x9b" in text else text


def visible(text: str) -> str:
    """``text`` that every surface can hold: it keeps line breaks and tabs, the rest of the controls are escaped."""
    return text if text.isprintable() else _HIDDEN.sub(_escaped, strip_terminal(text))


def one_line(text: str) -> str:
    """``visible`` text on one line: line breaks and tabs are written as ``\\n``, ``\\r`` and ``\\t``."""
    return _BREAKS.sub(lambda m: repr(m.group())[1:-1], visible(text))


def encodable(text: str) -> str:
    """``text`` with lone surrogates escaped, so that it can be written as UTF-8; nothing else is touched."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def clip(text: str, limit: int) -> str:
    """At most ``limit`` bytes of UTF-8: head and tail, cut between characters, with a mark of what is missing."""
    raw = encodable(text).encode()
    if len(raw) <= limit:
        return raw.decode()
    room = limit - len(_MARK.format(len(raw)))
    if room <= 0:
        return raw[: max(limit, 0)].decode(errors="ignore")
    head = raw[: room - room // 2].decode(errors="ignore")
    tail = raw[len(raw) - room // 2 :].decode(errors="ignore")
    return head + _MARK.format(len(raw) - len(head.encode()) - len(tail.encode())) + tail
