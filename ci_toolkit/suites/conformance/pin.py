"""Whether the upstream is the one that conf pins, and what its files are."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ci_toolkit.catalogue.conformance import UpstreamConf
from ci_toolkit.formats.digests import digest_of, digest_of_file

GIT_PATIENCE_S = 60.0


def upstream_files(upstream: UpstreamConf, root: Path) -> dict[str, str]:
    """Path relative to ``root`` -> SHA-256 of each file of the upstream's package and of its tests."""
    package = upstream.name.partition(".")[0]
    places = [package, f"{package}.py", *upstream.tests]
    found = {path.relative_to(root).as_posix(): path for place in places for path in _files(root / place)}
    return {name: digest_of_file(path) for name, path in sorted(found.items())}


def wrong_pin(upstream: UpstreamConf, root: Path, files: dict[str, str]) -> str:
    """What is another than conf pins; empty where nothing is."""
    if upstream.digest:
        found = digest_of(files)
        return "" if found == upstream.digest else f"the upstream's digest is {found}, conf pins {upstream.digest}"
    commit = _git(root, "rev-parse", "HEAD")
    if commit != upstream.commit:
        return f"the upstream's checkout is at {commit or 'no commit'}, conf pins {upstream.commit}"
    edited = _git(root, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none", "--", ".")
    if edited:
        return f"the upstream's checkout has edits: {', '.join(line[3:] for line in edited.splitlines()[:5])}"
    return ""


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            if not name.endswith((".pyc", ".pyo")):
                yield Path(folder, name)


def _git(root: Path, *args: str) -> str:
    """What git says of the checkout at ``root``; empty where it says nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", str(root), *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_PATIENCE_S,
            env={**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"? ({error})"
    return done.stdout.decode(errors="backslashreplace").rstrip() if done.returncode == 0 else ""
