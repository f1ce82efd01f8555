"""``failures.jsonl`` read row by row: a lane in which everything fails does not have to fit in memory."""

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_toolkit.errors import EvidenceError, Where
from ci_toolkit.model.case import Failure


class Signature(msgspec.Struct, frozen=True):
    """The columns of a failure that gates compare; decoding skips the rest."""

    stage: str
    cause: str
    signature: str = ""
    signature_class: str = ""


BLOCK_BYTES = 64 << 10


class FailureTable:
    """The rows of a ``failures.jsonl`` by number, from 0. Only their places are held, and the block read last.

    Raises EvidenceError for a file that can not be read, or whose last row is cut short.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("Q", [0])
        self._block = b""
        self._block_start = 0
        try:
            with path.open("rb") as file:
                for line in file:
                    if not line.endswith(b"\n"):
                        raise EvidenceError("the last row is cut short", Where(str(path), len(self._starts)))
                    self._starts.append(self._starts[-1] + len(line))
        except OSError as error:
            raise EvidenceError(f"can not be read: {error.strerror}", Where(str(path))) from error

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, row: int) -> Failure:
        if not 0 <= row < len(self):
            raise IndexError(row)
        start, end = self._starts[row], self._starts[row + 1]
        if not self._block_start <= start < end <= self._block_start + len(self._block):
            with self._path.open("rb") as file:
                file.seek(start)
                self._block, self._block_start = file.read(max(end - start, BLOCK_BYTES)), start
        return self._decode(self._block[start - self._block_start : end - self._block_start], row, Failure)

    def __iter__(self) -> Iterator[Failure]:
        with self._path.open("rb") as file:
            for row, line in enumerate(file):
                yield self._decode(line, row, Failure)

    def signatures(self) -> list[Signature]:
        """What each row is compared by. Equal texts share their memory."""
        shared: dict[tuple[str, str, str, str], Signature] = {}
        found = []
        decoder = msgspec.json.Decoder(Signature)
        with self._path.open("rb") as file:
            for row, line in enumerate(file):
                try:
                    one = decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise EvidenceError(str(error), Where(str(self._path), row + 1)) from error
                key = (one.stage, one.cause, one.signature, one.signature_class)
                found.append(shared.setdefault(key, one))
        return found

    def _decode(self, line: bytes, row: int, kind: type[Failure]) -> Failure:
        try:
            return msgspec.json.decode(line, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise EvidenceError(str(error), Where(str(self._path), row + 1)) from error
