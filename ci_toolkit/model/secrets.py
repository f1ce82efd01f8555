"""Keeps secret values out of what is written and shown."""

import re
from collections.abc import Mapping

_SECRET = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|(API|ACCESS|AUTH)_?KEY|(^|_)KEYS?($|_)", re.IGNORECASE
)
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
HIDDEN = "***"


def redacted(environment: Mapping[str, str]) -> dict[str, str]:
    """``environment`` as evidence may hold it: values of names that look secret, and users in URLs, are hidden."""
    return {
        name: HIDDEN if _SECRET.search(name) else _USER_IN_URL.sub(HIDDEN, value) for name, value in environment.items()
    }
