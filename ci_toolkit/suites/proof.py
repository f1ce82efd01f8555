"""Whether what is installed is what was built, file by file."""

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from ci_toolkit.errors import EvidenceError, Where
from ci_toolkit.suites.kind import Subject
from ci_toolkit.suites.subject import normalised


def not_of_build(subject: Subject, names: Collection[str], files: Path) -> list[str]:
    """A line for each of the distributions ``names`` that a wheel among ``files`` holds in another form.

    A distribution that no wheel holds proves nothing either way. Raises EvidenceError for a wheel that can not be read.
    """
    wanted = {normalised(name): name for name in names}
    found = []
    for wheel in sorted(files.rglob("*.whl")):
        try:
            name = str(parse_wheel_filename(wheel.name)[0])
        except InvalidWheelFilename:
            continue
        root = subject.roots.get(wanted.get(name, ""))
        if root is None:
            continue
        different = next(_different(wheel, Path(root)), "")
        if different:
            found.append(f"the subject {name} is not the one that was built ({wheel.name}): {different}")
    return found


def _different(wheel: Path, root: Path) -> Iterator[str]:
    """What of the wheel's record is another file under ``root``."""
    for path, recorded in _record(wheel):
        name, _, digest = recorded.partition("=")
        if name not in hashlib.algorithms_guaranteed:
            raise EvidenceError(f"{path} is recorded by {name!r}, which is no digest", Where(str(wheel)))
        try:
            with (root / path).open("rb") as file:
                found = hashlib.file_digest(file, name).digest()
        except OSError as error:
            yield f"{path}: {error.strerror}"
            continue
        own = base64.urlsafe_b64encode(found).rstrip(b"=").decode()
        if own != digest:
            yield f"{path} has other bytes"


def _record(wheel: Path) -> Iterator[tuple[str, str]]:
    """Path and digest of each file that installing leaves as it is."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            records = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
            [name] = [name for name in records if name.count("/") == 1]
            rows = list(csv.reader(io.StringIO(archive.read(name).decode("utf-8"))))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise EvidenceError(f"is no wheel that can be read: {error}", Where(str(wheel))) from error
    for row in rows:
        if len(row) == 3 and row[1] and ".data/" not in row[0]:
            yield row[0], row[1]
