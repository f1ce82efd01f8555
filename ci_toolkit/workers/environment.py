"""A worker's whole environment: nothing that the host happens to have comes in unless it is allowed by name."""

import tempfile
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

ALLOWED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""What any program needs to find its libraries and to speak its user's language."""

FIXED = {"PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1", "PYTHONUNBUFFERED": "1"}
"""The same in every worker: results repeat, no package of the user's home comes in, output survives a kill."""

ONLY_BY_NAME = (
    "ACTIONS_*",
    "CI_TOOLKIT_*",
    "GITHUB_*",
    "LD_PRELOAD",
    "PYTEST_*",
    "PYTHON*",
    "RUNNER_*",
    "*SECRET*",
    "*TOKEN*",
)
"""A glob does not allow these: each would hand out rights, or change what runs and what it prints as commands."""


def worker_environment(
    host: Mapping[str, str], allow: Iterable[str], settings: Mapping[str, str], temporary: str
) -> dict[str, str]:
    """The environment of one worker, in the order of names.

    ``allow`` are names (globs) that pass from ``host`` besides ``ALLOWED``; ``settings`` stand above all else.
    ``temporary`` is the worker's own folder: temporary files and caches go there.
    """
    allow = tuple(allow)
    passed = {name: value for name, value in host.items() if _passes(name, allow)}
    own = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary)
    own["XDG_CACHE_HOME"] = f"{temporary}/cache"
    return dict(sorted({**passed, **FIXED, **own, **settings}.items()))


def _passes(name: str, allow: tuple[str, ...]) -> bool:
    if name in allow:
        return True
    if any(fnmatchcase(name, glob) for glob in ONLY_BY_NAME):
        return False
    return any(fnmatchcase(name, glob) for glob in (*ALLOWED, *allow))


def temporary_folder() -> str:
    """A new private folder for one worker, with a short path: sockets in it have room for their names."""
    return tempfile.mkdtemp(prefix="ct-")
