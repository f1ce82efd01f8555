"""Names many files by few folders. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath


def cover(files: Iterable[str], tests: Iterable[str], roots: Collection[str] = ()) -> tuple[str, ...]:
    """The fewest folders, and files, that hold all of ``files`` and nothing else of ``tests``.

    Of ``roots`` not the whole is taken where a folder in it will do: what comes later beside that is not meant.
    """
    own = list(files)
    held = Counter(folder for file in own for folder in _folders(file))
    whole = Counter(folder for file in tests for folder in _folders(file))
    places: dict[str, None] = {}
    for file in own:
        pure = [folder for folder in _folders(file) if held[folder] == whole[folder]]
        while len(pure) > 1 and pure[0] in roots and held[pure[1]] == held[pure[0]]:
            del pure[0]
        places[pure[0] if pure else file] = None
    return tuple(places)


def _folders(file: str) -> list[str]:
    """The folders around a file below the repository's own, outermost first."""
    return [parent.as_posix() for parent in reversed(PurePosixPath(file).parents[:-1])]
