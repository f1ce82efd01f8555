"""``manifest.json``: path, size and SHA-256 of every file of a folder, written last, so that what it names is whole."""

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from ci_toolkit.errors import EvidenceError, UsageError, Where
from ci_toolkit.formats.digests import digest_of_file
from ci_toolkit.formats.documents import read_document, write_document
from ci_toolkit.model.documents import Document, Record
from ci_toolkit.model.text import one_line

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = "manifest/1"
FORBIDDEN = frozenset('":<>|*?\r\n\\')
"""Characters that GitHub's artifacts refuse in a path."""

_NOT_ON_WINDOWS = re.compile(
    r"(?:^|/)(?:(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\.[^/]*)?|[^/]*[. ])(?:/|$)", re.I
)


class ManifestFile(Record, frozen=True, kw_only=True):
    """One file: its path in the folder with forward slashes, its size in bytes, its SHA-256 in hex."""

    path: str
    size: int
    sha256: str


class Manifest(Document, frozen=True, kw_only=True):
    """The files of a folder, sorted by path; the manifest itself is not among them."""

    schema: str = MANIFEST_SCHEMA
    files: tuple[ManifestFile, ...]


def create_manifest(folder: Path) -> Manifest:
    """Writes the manifest of all files under ``folder``.

    Raises UsageError for what can not travel: links, special files, names that artifacts refuse, and names that
    another system would take for the same; and where the file system refuses.
    """
    spellings: dict[str, tuple[str, bool]] = {}
    files = []
    try:
        for name, path, status in _walk(folder):
            shown = one_line(name)
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(
                    "is neither a file nor a folder: links and special files can not be evidence", Where(shown)
                )
            if FORBIDDEN & set(name) or shown != name:
                raise UsageError("holds a character that an artifact's path must not hold", Where(shown))
            if _NOT_ON_WINDOWS.search(name):
                raise UsageError("is a name that Windows can not hold", Where(shown))
            other = _other_spelling(spellings, name)
            if other:
                raise UsageError(f"is the same name as {one_line(other)} on another file system", Where(shown))
            files.append(ManifestFile(path=name, size=status.st_size, sha256=digest_of_file(path)))
    except OSError as error:
        raise UsageError(f"can not be read: {error.strerror}", Where(str(error.filename))) from error
    manifest = Manifest(files=tuple(sorted(files, key=lambda file: file.path)))
    try:
        write_document(folder / MANIFEST, manifest)
    except OSError as error:
        raise UsageError(f"can not be written: {error.strerror}", Where(str(folder / MANIFEST))) from error
    return manifest


def _other_spelling(spellings: dict[str, tuple[str, bool]], name: str) -> str:
    """A name seen before that stands for this file, or for a folder of it, where case or normalisation do not count."""
    parts = name.split("/")
    for count in range(1, len(parts) + 1):
        path = "/".join(parts[:count])
        found = (path, count == len(parts))
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
        if spellings.setdefault(folded, found) != found:
            return spellings[folded][0]
    return ""


def check_manifest(folder: Path) -> list[str]:
    """What differs between ``folder`` and its manifest, a line each; empty when all is as it was.

    Raises EvidenceError when there is no readable manifest.
    """
    if (folder / MANIFEST).is_symlink():
        raise EvidenceError("is a link", Where(str(folder / MANIFEST)))
    manifest = read_document(folder / MANIFEST, Manifest)
    listed = {file.path: file for file in manifest.files}
    if len(listed) < len(manifest.files):
        raise EvidenceError("lists a file twice", Where(str(folder / MANIFEST)))
    faults = []
    present = set()
    try:
        for name, path, status in _walk(folder):
            present.add(name)
            fault = _fault(path, status, listed.get(name))
            if fault:
                faults.append(f"{one_line(name)}: {fault}")
    except OSError as error:
        raise EvidenceError(f"can not be read: {error.strerror}", Where(str(error.filename))) from error
    faults += [f"{one_line(name)}: is missing" for name in listed if name not in present]
    return sorted(faults)


def _fault(path: Path, status: os.stat_result, file: ManifestFile | None) -> str:
    if file is None:
        return "is not in the manifest"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if status.st_size != file.size:
        return f"has {status.st_size} bytes, the manifest says {file.size}"
    return "" if digest_of_file(path) == file.sha256 else "was changed after its manifest was written"


def verify_manifest(folder: Path) -> None:
    """Raises EvidenceError, which names the first fault and counts the rest, unless all is as it was."""
    faults = check_manifest(folder)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise EvidenceError(f"{faults[0]}{more}", Where(str(folder)))


def _walk(folder: Path) -> Iterator[tuple[str, Path, os.stat_result]]:
    """All that is not a folder, but the manifest, without following links. Raises OSError where it can not look."""

    def refuse(error: OSError) -> None:
        raise error

    for parent, folders, files in os.walk(folder, onerror=refuse):
        for name in [*files, *(name for name in folders if Path(parent, name).is_symlink())]:
            path = Path(parent, name)
            relative = path.relative_to(folder).as_posix()
            if relative != MANIFEST:
                yield relative, path, path.lstat()
