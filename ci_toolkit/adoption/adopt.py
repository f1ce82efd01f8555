"""Writes a repository's first conf and workflows, and nothing over what is there."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ci_toolkit.adoption.conf_files import platforms_text, selection_text, suites_text
from ci_toolkit.adoption.draft import Draft, draft
from ci_toolkit.adoption.repository import Repository, look
from ci_toolkit.adoption.setup_script import setup_text
from ci_toolkit.adoption.toolkit import Toolkit
from ci_toolkit.adoption.workflow_files import nightly_text, pull_request_text
from ci_toolkit.adoption.workflows import FOLDER
from ci_toolkit.catalogue.schema import PlatformsFile, SuitesFile
from ci_toolkit.catalogue.yaml_file import load
from ci_toolkit.errors import UsageError, Where


@dataclass(frozen=True)
class Adopted:
    """What was found and drafted, and the files that were written or kept."""

    found: Repository
    draft: Draft
    written: tuple[str, ...]
    kept: tuple[str, ...]


def adopt(folder: Path, conf: str, toolkit: Toolkit, devices: Collection[str]) -> Adopted:
    """Looks at the repository in ``folder`` and writes what it lacks; ``conf`` is the name of its conf folder.

    Raises UsageError when there is nothing to test, for a file that is malformed, and where nothing can be written.
    """
    found = look(folder)
    made = draft(found, devices)
    if not made.suites:
        raise UsageError(
            "no test is found here", hint="write one (test_*.py or *_test.py), or go to the folder of your tests"
        )
    files = _files(folder, conf, found, made, toolkit)
    written = tuple(name for name, text in files.items() if _create(folder / name, name, text))
    kept = tuple(name for name in files if name not in written)
    return Adopted(found, made, written, kept)


def _files(folder: Path, conf: str, found: Repository, made: Draft, toolkit: Toolkit) -> dict[str, str]:
    """Each file and its text; what is there already is what the new ones speak of."""
    platforms_file, suites_file = f"{conf}/platforms.yml", f"{conf}/suites.yml"
    platforms = [platform.name for platform in made.platforms]
    if (folder / platforms_file).exists():
        platforms = list(
            load(folder / platforms_file, PlatformsFile, schema="platforms/1", shown=platforms_file).value.platforms
        )
    rows = made.rows
    if (folder / suites_file).exists():
        known = load(folder / suites_file, SuitesFile, schema="suites/1", shown=suites_file).value.suites
        rows = tuple(row for row in rows if set(row.suites) <= {"*", *known})
    subject = found.project.name if found.project.installable else ""
    return {
        platforms_file: platforms_text(made.platforms),
        suites_file: suites_text(made.suites, platforms, subject, found.layout.markers),
        f"{conf}/selection.yml": selection_text(rows),
        f"{conf}/setup.sh": setup_text(found.project),
        f"{FOLDER}/hardware-ci.yml": pull_request_text(toolkit, conf, found.branch),
        f"{FOLDER}/hardware-nightly.yml": nightly_text(toolkit, conf),
    }


def _create(path: Path, name: str, text: str) -> bool:
    """Writes a file that is not there; whether it was not."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if name.endswith(".sh"):
            path.chmod(path.stat().st_mode | 0o111)
    except FileExistsError as error:
        if path.is_symlink() or path.exists():
            return False
        raise UsageError(f"can not be written: {error.strerror}", Where(name)) from error
    except OSError as error:
        raise UsageError(f"can not be written: {error.strerror}", Where(name)) from error
    return True
