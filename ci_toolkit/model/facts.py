"""Whether the facts of a machine meet what conf asks of it."""

from collections.abc import Mapping, Sequence

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

OPERATORS = "=<>!~"
"""What a version specifier begins with."""


def fits(wanted: str, fact: str) -> bool:
    """Whether ``fact`` is what ``wanted`` says: a version specifier, or a value that stands before a dot of the fact.

    ``3.11`` fits ``3.11`` and ``3.11.7``, not ``3.1``; ``>=2.12`` is a specifier. Raises ValueError for a specifier
    that is not valid.
    """
    wanted = wanted.strip()
    if wanted[:1] and wanted[0] in OPERATORS:
        try:
            specifier = SpecifierSet(wanted, prereleases=True)
        except InvalidSpecifier as error:
            raise ValueError(f"{wanted!r} is no version specifier") from error
        try:
            return Version(fact) in specifier
        except InvalidVersion:
            return False
    return fact == wanted or fact.startswith(f"{wanted}.")


def fits_any(wanted: str | Sequence[str], fact: str) -> bool:
    """``fits`` for one value or a list of them, of which one must fit."""
    return any(fits(value, fact) for value in ([wanted] if isinstance(wanted, str) else wanted))


def unmet(requires: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """The first requirement that the facts do not meet, in words; empty when all are met."""
    for name, wanted in requires.items():
        fact = facts.get(name)
        shown = name.removeprefix("package.")
        if fact is None:
            return f"{shown} is not there (it needs {wanted})"
        if not fits(wanted, fact):
            return f"{shown} is {fact} (it needs {wanted})"
    return ""
