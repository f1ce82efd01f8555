"""A worker's output in a file of bounded size: head and tail are kept, the middle is cut out while it grows."""

from __future__ import annotations

import ctypes
import os
import sys

_KEEP_SIZE = 1
_PUNCH_HOLE = 2
_PAGE = 4096
_WORTHWHILE = 1 << 18
_COPY = 1 << 20


class Log:
    """One output file. ``open_for_worker`` gives the descriptor that the worker writes to.

    ``cut`` is whether anything was left out, ``refused`` whether the file system would not free the middle.
    """

    def __init__(self, path: str, limit: int) -> None:
        self.path = path
        self.cut = False
        self.refused = False
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        self._head = limit // 2
        self._tail = limit - self._head
        self._freed = -(-self._head // _PAGE) * _PAGE

    def open_for_worker(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND)

    def size(self) -> int:
        return os.fstat(self._file).st_size

    def trim(self) -> bool:
        """Frees what lies between head and tail by now, and says whether that was worth it; cheap to call often."""
        end = (self.size() - self._tail) // _PAGE * _PAGE
        if self.refused or end - self._freed < _WORTHWHILE:
            return False
        self.cut = True
        try:
            free_range(self._file, self._freed, end - self._freed)
        except OSError:
            self.refused = True
        self._freed = end
        return True

    def close(self) -> int:
        """Leaves a plain file of head, a line that says what was left out, and tail. Returns the bytes written to it.

        Call it when nobody writes any more. On a full disk the file stays as it is, with a hole for its middle.
        """
        size = self.size()
        if size > self._head + self._tail:
            self.cut = True
            kept = self.path + ".kept"
            try:
                self._compact(size, kept)
                os.rename(kept, self.path)  # noqa: PTH104 - pathlib would double a keeper's start
            except OSError:
                self.trim()
                _discard(kept)
        os.close(self._file)
        return size

    def _compact(self, size: int, kept: str) -> None:
        mark = "\n[... ci-toolkit: %d bytes left out ...]\n" % (size - self._head - self._tail)
        target = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            self._copy(target, 0, self._head)
            _write(target, mark.encode())
            self._copy(target, size - self._tail, size)
        finally:
            os.close(target)

    def _copy(self, target: int, start: int, end: int) -> None:
        while start < end:
            data = os.pread(self._file, min(_COPY, end - start), start)
            if not data:
                return
            _write(target, data)
            start += len(data)


def _discard(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except FileNotFoundError:
        return


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def free_range(descriptor: int, start: int, length: int) -> None:
    """Gives the blocks of a range back to the file system, its size stays; raises OSError where that is impossible."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not sys.platform.startswith("linux") or not hasattr(libc, "fallocate64"):
        raise OSError("no way to punch a hole here")
    libc.fallocate64.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    if libc.fallocate64(descriptor, _PUNCH_HOLE | _KEEP_SIZE, start, length) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
