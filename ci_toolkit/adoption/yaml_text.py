"""Values as YAML on one line, whatever they hold. Pure."""

import re
from collections.abc import Iterable

import yaml

_PLAIN = re.compile(r"[A-Za-z._][A-Za-z0-9_./*-]*")


def scalar(text: str) -> str:
    """A text: plain where YAML reads it back as that text, else in double quotes with escapes."""
    if _PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return yaml.safe_dump(text, default_style='"', width=float("inf"), allow_unicode=True).rstrip("\n")


def flow(texts: Iterable[str]) -> str:
    """A list of texts."""
    return f"[{', '.join(scalar(text) for text in texts)}]"
