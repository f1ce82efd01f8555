"""The bytes of a JUnit file on their way to the parser: characters that XML forbids become visible escapes."""

import re
from collections.abc import Iterator
from pathlib import Path

BLOCK = 1 << 18
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_REFERENCE = re.compile(rb"&#(x?)([0-9a-fA-F]{1,8});", re.IGNORECASE)
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00<", b"<\x00")
"""How a file in UTF-16 begins; its zero bytes are no controls."""


class Repaired:
    """Reads a file in blocks. ``count`` is how many forbidden characters were made visible until now.

    A reference to a forbidden character inside CDATA, where it is plain text, is escaped too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.count = 0

    def blocks(self) -> Iterator[bytes]:
        """The file's bytes, repaired; raises OSError."""
        with self._path.open("rb") as file:
            if file.read(2) in _WIDE:
                file.seek(0)
                yield from iter(lambda: file.read(BLOCK), b"")
                return
            file.seek(0)
            rest = b""
            while block := file.read(BLOCK):
                block = rest + block
                cut = block.rfind(b"&", max(len(block) - 12, 0))
                if cut >= 0 and b";" not in block[cut:]:
                    block, rest = block[:cut], block[cut:]
                else:
                    rest = b""
                yield self._repair(block)
            yield self._repair(rest)

    def _repair(self, block: bytes) -> bytes:
        if _CONTROLS.search(block):
            block = _CONTROLS.sub(self._control, block)
        return _REFERENCE.sub(self._reference, block) if b"&#" in block else block

    def _control(self, match: re.Match[bytes]) -> bytes:
        self.count += 1
        return b"\\x%02x" % match.group()[0]

    def _reference(self, match: re.Match[bytes]) -> bytes:
        try:
            code = int(match[2], 16 if match[1] else 10)
        except ValueError:
            return match.group()
        if code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF:
            return match.group()
        self.count += 1
        return b"\\u%04x" % code
