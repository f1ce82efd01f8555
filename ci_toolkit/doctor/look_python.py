"""Looks at a platform's interpreter."""

import os
import tempfile

from ci_toolkit.suites.kind import Subject
from ci_toolkit.suites.subject import ask
from ci_toolkit.workers.environment import worker_environment


def interpreter(python: str, flags: tuple[str, ...], allow: tuple[str, ...], env: dict[str, str], base: str) -> Subject:
    """What the interpreter says of itself. Raises UsageError or InfrastructureError when it says nothing."""
    return ask(python, flags, (), worker_environment(os.environ, allow, env, tempfile.gettempdir()), base)
