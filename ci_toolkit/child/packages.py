"""What is installed for an interpreter, by the names of metadata folders: cheap enough to ask twice in each worker."""

import os
import re

_METADATA = re.compile(r"(?P<name>.+?)(?:-(?P<version>[^-]+)(?:-py[\d.]+.*)?)?\.(?:dist-info|egg-info)$")


def installed(folders):
    """Normalised name -> version of the distributions in ``folders``; the first folder wins, as for imports."""
    found = {}
    for folder in folders:
        for entry in _entries(folder):
            match = _METADATA.match(entry)
            if match:
                name = re.sub(r"[-_.]+", "-", match.group("name")).lower()
                if name not in found:
                    found[name] = match.group("version") or _version(os.path.join(folder, entry))
    return dict(sorted(found.items()))


def _entries(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _version(metadata):
    """The version that a metadata folder tells, for a development install without one in its name."""
    for name in ("PKG-INFO", "METADATA"):
        try:
            with open(os.path.join(metadata, name), encoding="utf-8", errors="replace") as file:
                for line in file:
                    if line.startswith("Version:"):
                        return line.partition(":")[2].strip()
        except OSError:
            continue
    return ""
