"""Reading and writing documents: canonical bytes, atomic files, versions checked before anything is believed."""

import json
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ci_toolkit.errors import EvidenceError, Where
from ci_toolkit.model.documents import READER, Document
from ci_toolkit.model.text import encodable

D = TypeVar("D", bound=Document)
T = TypeVar("T")

_ENCODER = msgspec.json.Encoder(order="deterministic")
_NULL = re.compile(rb"(?:^|[:,\[])null(?:[,}\]]|$)")


class NewerDocumentError(EvidenceError):
    """A document that only a newer version of this toolkit can read."""


class _Head(msgspec.Struct):
    schema: str
    min_reader: int = 1


def _schema(kind: type[Document]) -> str:
    return next(str(field.default) for field in msgspec.structs.fields(kind) if field.name == "schema")


def _clean(value: Any) -> Any:
    """``value`` as plain data with no NaN and no lone surrogate; raises ValueError for what JSON can not tell."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} can not be written: a value that was not measured is absent")
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        cleaned = {encodable(key): _clean(item) for key, item in value.items()}
        if len(cleaned) < len(value):
            raise ValueError("two keys can not be written: they are the same once surrogates are escaped")
        return cleaned
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


def encode(value: object) -> bytes:
    """Canonical JSON of a document or a part of one: the same value gives the same bytes.

    Raises ValueError on NaN and infinity. Lone surrogates are escaped.
    """
    try:
        raw = _ENCODER.encode(value)
    except UnicodeEncodeError:
        pass
    else:
        # msgspec writes NaN as null; where there is a null that is no text, each value is looked at.
        if b"null" not in raw or not _NULL.search(raw):
            return raw
    return msgspec.json.encode(_clean(msgspec.to_builtins(value, str_keys=True, order="deterministic")))


def encode_row(value: object) -> bytes:
    """``encode`` as one line of a ``.jsonl`` file."""
    return encode(value) + b"\n"


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces ``path`` with ``data``, or leaves it as it was; readers never see a part."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def document_bytes(document: Document) -> bytes:
    """A whole document, indented for people."""
    return msgspec.json.format(encode(document), indent=1) + b"\n"


def write_document(path: Path, document: Document) -> None:
    """Writes a whole document atomically, and waits until it is on the disk."""
    write_atomically(path, document_bytes(document))


def decode_document(data: bytes, kind: type[D], name: str) -> D:
    """The document in ``data``; ``name`` says in an error which file it was.

    Raises EvidenceError for another kind of document, for one that needs a newer reader, for one cut short, and for
    one that names a key twice, of which two readers would believe different values.
    """
    head = _decoded(data, _Head, name, "is not a whole document of this toolkit: ")
    expected = _schema(kind)
    if head.schema != expected:
        kind_of_error = NewerDocumentError if _is_newer(head.schema, expected) else EvidenceError
        raise kind_of_error(f"schema is {head.schema!r}, this version reads {expected!r}", Where(name))
    if head.min_reader > READER:
        raise NewerDocumentError(
            f"needs reader {head.min_reader}, this version is reader {READER}", Where(name), "update ci-toolkit"
        )
    document = _decoded(data, kind, name)
    try:
        json.loads(data, object_pairs_hook=_unique)
    except ValueError as error:
        raise EvidenceError(str(error), Where(name)) from error
    return document


def _is_newer(schema: str, expected: str) -> bool:
    name, _, version = schema.partition("/")
    ours, _, known = expected.partition("/")
    return name == ours and version.isdecimal() and int(version) > int(known)


def _decoded(data: bytes, kind: type[T], name: str, prefix: str = "") -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EvidenceError(f"{prefix}{error}", Where(name)) from error
    except RecursionError as error:
        raise EvidenceError("is nested too deep", Where(name)) from error


def _unique(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise ValueError(f"names the key {twice!r} twice")


def read_document(path: Path, kind: type[D]) -> D:
    """``decode_document`` of a file; a missing or unreadable file is an EvidenceError too."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EvidenceError(f"can not be read: {error.strerror}", Where(str(path))) from error
    return decode_document(data, kind, str(path))


def read_rows(path: Path, kind: type[T]) -> Iterator[T]:
    """The rows of a ``.jsonl`` file, one at a time; a bad or cut row raises EvidenceError with its line."""
    decoder = msgspec.json.Decoder(kind)
    number = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    raise EvidenceError("the last row is cut short", Where(str(path), number))
                yield decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EvidenceError(str(error), Where(str(path), number)) from error
    except RecursionError as error:
        raise EvidenceError("is nested too deep", Where(str(path), number)) from error
    except OSError as error:
        raise EvidenceError(f"can not be read: {error.strerror}", Where(str(path))) from error


def write_rows(path: Path, rows: Iterable[object]) -> None:
    """Writes a whole ``.jsonl`` file, one row at a time."""
    with path.open("wb") as file:
        for row in rows:
            file.write(encode_row(row))
