"""Addresses of proxies and indexes: what is set, and how it is shown without what is secret in it. Pure."""

import ast
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from ci_toolkit.model.secrets import HIDDEN

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080, "socks4": 1080}
_USER = re.compile(r"^(?P<scheme>[a-z0-9+.-]+://)?.*@", re.IGNORECASE)
_OPTION = re.compile(r"^(?P<section>.+)\.(?P<key>[A-Za-z-]+)=(?P<value>['\"].*)$")
_STRENGTH = ("global", "download", "install", ":env:")
"""The sections of pip's configuration that ``install`` reads; later ones win."""


def proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """The proxy variables that are set, without credentials."""
    named = sorted(name for name, value in environ.items() if name.lower() in PROXIES and value.strip())
    return {name: environ[name] if name.lower() == "no_proxy" else without_user(environ[name]) for name in named}


def conflicting(environ: Mapping[str, str]) -> list[str]:
    """The proxy variables that are set twice, in small and capital letters, to different values."""
    return [
        name
        for name in PROXIES
        if environ.get(name) and environ.get(name.upper()) and environ[name] != environ[name.upper()]
    ]


def without_user(address: str) -> str:
    """``address`` without its user and password, however odd the password is."""
    return _USER.sub(lambda match: f"{match['scheme'] or ''}{HIDDEN}@", address.strip())


def host_and_port(address: str) -> tuple[str, int]:
    """Where ``address`` leads; a scheme of ``http`` is assumed. Raises ValueError for what is no address."""
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if not parts.hostname:
        raise ValueError("it names no host")
    return parts.hostname, parts.port or PORTS.get(parts.scheme, 80)


def place(address: str) -> str:
    """An address as it may be shown: a path may hold a token, so that of a remote one is left out."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that can not be read"
    if parts.scheme == "file" or not parts.hostname:
        return without_user(address)
    return f"{parts.scheme}://{parts.hostname}{port}"


def indexes(configuration: str) -> tuple[str, ...]:
    """The indexes that ``pip config list`` prints; none where pip asks its own default, or may ask none."""
    options: dict[str, dict[str, str]] = {}
    for line in configuration.splitlines():
        match = _OPTION.match(line.strip())
        if match and match["section"] in _STRENGTH:
            options.setdefault(match["key"], {})[match["section"]] = _literal(match["value"])
    if _strongest(options.get("no-index", {})).lower() in ("1", "true", "yes", "on"):
        return ()
    first = _strongest(options.get("index-url", {}))
    return tuple(dict.fromkeys([*first.split(), *_strongest(options.get("extra-index-url", {})).split()]))


def _strongest(values: Mapping[str, str]) -> str:
    found: Iterable[str] = (values[section] for section in reversed(_STRENGTH) if section in values)
    return next(iter(found), "")


def _literal(text: str) -> str:
    try:
        return str(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text
