"""Templates of paths: ``src/ops/{op}.py`` fits ``src/ops/add.py`` with ``op`` being ``add``."""

import re
from collections.abc import Mapping
from functools import lru_cache

_PART = re.compile(r"\{(?P<name>[^{}]*)\}|(?P<any>\*\*/?)|(?P<some>\*)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@lru_cache(maxsize=4096)
def compiled(template: str) -> re.Pattern[str]:
    """The expression that the whole of a path must fit. Raises ValueError, in words, for what is no template."""
    if not template or template.startswith("/") or "\\" in template or ".." in template.split("/"):
        raise ValueError(f"{template!r} is no path relative to the repository")
    parts: list[str] = []
    named: set[str] = set()
    at = 0
    for match in _PART.finditer(template):
        parts.append(_literal(template[at : match.start()], template))
        at = match.end()
        name = match["name"]
        if name is not None:
            if not _NAME.fullmatch(name):
                raise ValueError(f"{{{name}}} is no name: use a-z, 0-9 and '_'")
            parts.append(f"(?P={name})" if name in named else f"(?P<{name}>[^/]+?)")
            named.add(name)
        elif match["any"]:
            parts.append("(?:.*/)?" if match["any"].endswith("/") else ".*")
        else:
            parts.append("[^/]*")
    parts.append(_literal(template[at:], template))
    return re.compile("".join(parts), re.DOTALL)


def _literal(text: str, template: str) -> str:
    if "{" in text or "}" in text:
        raise ValueError(f"{template!r} has a brace without its other half")
    return re.escape(text)


def names(template: str) -> frozenset[str]:
    """The names in a template."""
    return frozenset(compiled(template).groupindex)


def fitted(template: str, path: str) -> dict[str, str] | None:
    """What the names of the template stand for in ``path``; None where it does not fit."""
    match = compiled(template).fullmatch(path)
    return match.groupdict() if match else None


def fixed_start(template: str) -> str:
    """What every path that fits the template begins with."""
    match = _PART.search(template)
    return template[: match.start()] if match else template


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with each name replaced by what it stands for."""
    return _PART.sub(lambda match: values[match["name"]] if match["name"] is not None else match[0], template)
