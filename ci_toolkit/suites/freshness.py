"""Whether the files of a run stayed what they were: those that were hashed before it, and those that workers loaded."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ci_toolkit.formats.digests import digest_of_file
from ci_toolkit.model.report import Provider

SHOWN = 5


def changed(pins: Mapping[str, str]) -> str:
    """Which of the files, path -> SHA-256 from before, are another now; empty where none is."""
    return _told([path for path, digest in pins.items() if _digest(path) != digest])


def united(results: Iterable[Iterable[Provider]]) -> tuple[tuple[Provider, ...], str]:
    """The modules of all workers, each once, and which files were not the same in all of them."""
    providers: dict[tuple[str, str], Provider] = {}
    digests: dict[str, str | None] = {}
    other = []
    for result in results:
        for provider in result:
            providers.setdefault((provider.name, provider.provider), provider)
            if provider.file and digests.setdefault(provider.file, provider.sha256) != provider.sha256:
                other.append(provider.file)
    return tuple(sorted(providers.values(), key=lambda one: (one.name, one.provider))), _told(other)


def _digest(path: str) -> str:
    try:
        return digest_of_file(Path(path))
    except OSError:
        return ""


def _told(paths: list[str]) -> str:
    names = sorted(set(paths))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
