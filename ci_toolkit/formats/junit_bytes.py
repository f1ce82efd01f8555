"""The bytes of a JUnit file on their way to the parser: in UTF-8, with characters that XML forbids made visible."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

BLOCK = 1 << 18
_CONTROLS = bytes({*range(0x20)} - {0x09, 0x0A, 0x0D})
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(x?)([0-9a-fA-F]{1,8});", re.IGNORECASE)
_LONGEST_REFERENCE = 12
_DECLARED = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
_BLANKS = b" \t\r\n"


class Repaired:
    """Reads a file in blocks of about ``block`` bytes, which may be changed while it is read.

    ``count`` is how many forbidden characters were made visible until now. A reference to a forbidden character inside
    CDATA, where it is plain text, is made visible too. Another encoding than UTF-8 is decoded; a file that says it is
    in UTF-16 and is not, as some producers write it, is taken as UTF-8.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._encoding = ""
        self._skipped = 0
        self.block = BLOCK
        self.count = 0

    def blocks(self) -> Iterator[bytes]:
        """The file's bytes, repaired. Raises OSError, and LookupError for an encoding that nobody knows."""
        for block in self._text():
            yield self._repair(block)

    def place(self, position: int) -> str:
        """In words, where in the file a byte of ``blocks`` lies; empty where it can not be told."""
        if self._encoding:
            return ""
        start = grown = 0
        for block in self._text():
            for match in _FORBIDDEN.finditer(block):
                if start + match.start() + grown >= position:
                    break
                grown += len(_visible(match)) - len(match.group())
            start += len(block)
            if start + grown >= position:
                break
        return f"byte {position - grown + self._skipped}"

    def _text(self) -> Iterator[bytes]:
        """Blocks in UTF-8, cut where no reference is."""
        rest = b""
        with self.path.open("rb") as file:
            for block in self._decoded(file):
                block = rest + block
                cut = block.rfind(b"&", max(len(block) - _LONGEST_REFERENCE, 0))
                rest = block[cut:] if cut >= 0 and b";" not in block[cut:] else b""
                yield block[: len(block) - len(rest)]
        if rest:
            yield rest

    def _decoded(self, file: BinaryIO) -> Iterator[bytes]:
        first = file.read(max(self.block, 1024))
        self._encoding = _encoding(first)
        if self._encoding:
            decoder = codecs.getincrementaldecoder(self._encoding)("backslashreplace")
            block = first
            while block:
                yield decoder.decode(block).encode("utf-8", "backslashreplace")
                block = file.read(self.block)
            yield decoder.decode(b"", final=True).encode("utf-8", "backslashreplace")
            return
        whole = first.removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS)
        self._skipped = len(first) - len(whole)
        yield whole
        while block := file.read(self.block):
            yield block

    def _repair(self, block: bytes) -> bytes:
        # Deleting bytes is some ten times faster than searching for them.
        if b"&#" not in block and len(block.translate(None, _CONTROLS)) == len(block):
            return block
        return _FORBIDDEN.sub(self._counted, block)

    def _counted(self, match: re.Match[bytes]) -> bytes:
        made = _visible(match)
        self.count += made != match.group()
        return made


def _encoding(first: bytes) -> str:
    """The codec of a file that begins with ``first``; empty for UTF-8 and its subset."""
    for mark, name in _MARKS:
        if first.startswith(mark):
            return name
    match = _DECLARED.match(first.removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS))
    if not match:
        return ""
    found = codecs.lookup(match[1].decode())
    if not found._is_text_encoding:
        raise LookupError(f"unknown encoding: {match[1].decode()}")
    # What could be read byte by byte up to here is in neither of the wide encodings, whatever it says.
    name = found.name.replace("_", "-")
    return "" if name in ("utf-8", "ascii") or name.startswith(("utf-16", "utf-32")) else found.name


def _visible(match: re.Match[bytes]) -> bytes:
    if match[2] is None:
        return b"\\x%02x" % match.group()[0]
    try:
        code = int(match[2], 16 if match[1] else 10)
    except ValueError:
        return match.group()
    if code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF:
        return match.group()
    return b"\\u%04x" % code
