"""Wheels of what is installed here: the action is installed from a folder, offline, as on a closed fleet."""

import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

# What installing adds to a distribution's own folder.
ADDED = {"INSTALLER", "REQUESTED", "direct_url.json", "RECORD"}


# What a project that is installed from its folder is built with: the toolkit itself, and the samples.
BUILDERS = ("hatchling", "setuptools", "wheel")


def wheelhouse(folder: Path, root: Path) -> Path:
    """Fills ``folder`` with the wheel of the project at ``root`` and with those of all it needs, also to be built."""
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
    ]
    subprocess.run([*build, "-w", str(folder), str(root)], check=True, stdin=subprocess.DEVNULL)
    seen: set[str] = set()
    wanted = [*BUILDERS, *(distribution("ci-toolkit").requires or [])]
    while wanted:
        requirement = Requirement(wanted.pop())
        if requirement.name in seen or not (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(requirement.name)
        found = distribution(requirement.name)
        _pack(found, folder)
        wanted += found.requires or []
    return folder


def _pack(found: Distribution, folder: Path) -> None:
    tags = [
        line.partition(":")[2].strip()
        for line in (found.read_text("WHEEL") or "").splitlines()
        if line.startswith("Tag:")
    ]
    name = f"{found.metadata['Name'].replace('-', '_').replace('.', '_')}-{found.version}-{tags[0]}.whl"
    rows = []
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_STORED) as wheel:
        for file in found.files or []:
            # What lies outside are scripts, which are made anew from the entry points.
            if ".." in file.parts or file.suffix == ".pyc":
                continue
            own = file.parts[0].endswith(".dist-info")
            if own and file.name in ADDED:
                record = str(file.parent / "RECORD")
                continue
            wheel.write(str(file.locate()), str(file))
            rows.append(f"{file},,\n")
        wheel.writestr(record, "".join([*rows, f"{record},,\n"]))
