"""Bases of the documents: what people write is read strictly, what machines write is read leniently.

A machine's document names its ``schema`` as ``NAME/MAJOR`` and the oldest reader that may judge it, ``min_reader``. A
reader ignores fields it does not know; a field that could turn a verdict red raises ``min_reader`` instead.
"""

import msgspec

READER = 1
"""The reader version of this toolkit; a document with a higher ``min_reader`` is refused."""


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a document that a machine writes."""


class Document(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A whole document that a machine writes."""

    schema: str
    min_reader: int = 1


class Authored(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document, or a part of one, that people write."""
