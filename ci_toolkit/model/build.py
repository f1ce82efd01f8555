"""``build.json``: what a build of the subject left, or why it left nothing."""

from ci_toolkit.model.documents import Document
from ci_toolkit.model.provenance import Provenance

BUILD = "build.json"
BUILD_SCHEMA = "build/1"
FILES = "files"
"""The folder beside it that holds what was built, with its manifest."""


class Built(Document, frozen=True, kw_only=True):
    """A build: ``digest`` is that of the manifest of its files; with ``failed``, the reason, there is none."""

    schema: str = BUILD_SCHEMA
    id: str
    provenance: Provenance
    seconds: float
    digest: str = ""
    failed: str = ""
