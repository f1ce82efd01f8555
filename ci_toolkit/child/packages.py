"""What is installed for an interpreter, by the names of metadata folders: cheap enough to ask twice in each worker."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Iterable

_METADATA = re.compile(r"(?P<name>.+?)(?:-(?P<version>[^-]+)(?:-py[\d.]+.*)?)?\.(?:dist-info|egg-info)$")


def installed(folders: Iterable[str]) -> dict[str, str]:
    """Normalised name -> version of the distributions in ``folders``; the first folder wins, as for imports."""
    found: dict[str, str] = {}
    for folder in folders:
        for entry in _metadata(folder):
            match = _METADATA.match(entry)
            if match:
                name = re.sub(r"[-_.]+", "-", match.group("name")).lower()
                if name not in found:
                    found[name] = match.group("version") or _version(Path(folder, entry))
    return dict(sorted(found.items()))


def _metadata(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info")))  # noqa: PTH208
    except OSError:
        return []


def _version(metadata: Path) -> str:
    """The version that a metadata folder tells, for a development install without one in its name."""
    for name in ("PKG-INFO", "METADATA"):
        try:
            lines = (metadata / name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            if line.startswith("Version:"):
                return line.partition(":")[2].strip()
    return ""
