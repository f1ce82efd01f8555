"""SHA-256 digests of values and of files."""

import hashlib
from pathlib import Path

from ci_toolkit.formats.documents import encode


def digest_of(value: object) -> str:
    """The digest of a value's canonical JSON."""
    return hashlib.sha256(encode(value)).hexdigest()


def digest_of_file(path: Path) -> str:
    """The digest of a file's bytes, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
