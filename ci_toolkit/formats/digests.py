"""SHA-256 digests of values and of files."""

import hashlib
from pathlib import Path

from ci_toolkit.formats.documents import encode
from ci_toolkit.model.plan import Plan


def digest_of(value: object) -> str:
    """The digest of a value's canonical JSON."""
    return hashlib.sha256(encode(value)).hexdigest()


def plan_digest(plan: Plan) -> str:
    """The digest of a plan; a part of a plan has that of the whole."""
    return plan.part_of or digest_of(plan)


def digest_of_file(path: Path) -> str:
    """The digest of a file's bytes, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
