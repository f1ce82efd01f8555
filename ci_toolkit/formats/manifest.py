"""``manifest.json``: path, size and SHA-256 of every file of a folder, written last, so that what it names is whole."""

import os
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
    another system would take for the same.
    """
    files = []
    folded: dict[str, str] = {}
    for path, status in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if name == MANIFEST:
            continue
        shown = one_line(name)
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(
                "is neither a file nor a folder: links and special files can not be evidence", Where(shown)
            )
        if FORBIDDEN & set(name) or shown != name:
            raise UsageError("holds a character that an artifact's path must not hold", Where(shown))
        key = unicodedata.normalize("NFC", name).casefold()
        if key in folded:
            raise UsageError(f"is the same name as {one_line(folded[key])} on another file system", Where(shown))
        folded[key] = name
        files.append(ManifestFile(path=name, size=status.st_size, sha256=digest_of_file(path)))
    manifest = Manifest(files=tuple(sorted(files, key=lambda file: file.path)))
    write_document(folder / MANIFEST, manifest)
    return manifest


def check_manifest(folder: Path) -> list[str]:
    """What differs between ``folder`` and its manifest, a line each; empty when all is as it was.

    Raises EvidenceError when there is no readable manifest.
    """
    manifest = read_document(folder / MANIFEST, Manifest)
    listed = {file.path: file for file in manifest.files}
    faults = []
    present = set()
    for path, status in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if name == MANIFEST:
            continue
        present.add(name)
        file = listed.get(name)
        if file is None:
            faults.append(f"{one_line(name)}: is not in the manifest")
        elif not stat.S_ISREG(status.st_mode):
            faults.append(f"{one_line(name)}: is not a regular file")
        elif status.st_size != file.size:
            faults.append(f"{one_line(name)}: has {status.st_size} bytes, the manifest says {file.size}")
        elif digest_of_file(path) != file.sha256:
            faults.append(f"{one_line(name)}: was changed after its manifest was written")
    faults += [f"{one_line(name)}: is missing" for name in listed if name not in present]
    return sorted(faults)


def verify_manifest(folder: Path) -> None:
    """Raises EvidenceError, which names the first fault and counts the rest, unless all is as it was."""
    faults = check_manifest(folder)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise EvidenceError(f"{faults[0]}{more}", Where(str(folder)))


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All that is not a folder, without following links."""
    for parent, folders, files in os.walk(folder):
        for name in [*files, *(name for name in folders if Path(parent, name).is_symlink())]:
            path = Path(parent, name)
            yield path, path.lstat()
