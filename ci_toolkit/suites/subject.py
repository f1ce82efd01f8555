"""Asks a subject's interpreter what it is, what is installed in it, and where."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping

from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.suites.kind import Subject

PATIENCE_S = 60.0
_QUESTION = """
import importlib.metadata as metadata, json, platform, sys
packages, roots = {}, {}
for name in sys.argv[1:]:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        continue
    packages[name] = found.version
    roots[name] = str(found.locate_file(""))
sys.stdout.write("\\n" + json.dumps({
    "executable": sys.executable, "python": platform.python_version(),
    "implementation": platform.python_implementation(), "packages": packages, "roots": roots,
}))
"""


def ask(python: str, flags: Iterable[str], distributions: Iterable[str], env: Mapping[str, str], cwd: str) -> Subject:
    """What ``python`` (empty: the host's own) says; distributions that it has not are left out of its answer.

    Raises UsageError when there is no such interpreter, InfrastructureError when it gives no answer in PATIENCE_S.
    """
    program = python or sys.executable
    command = [program, *flags, "-c", _QUESTION, *distributions]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            env=dict(env),
            cwd=cwd,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"the interpreter {program} gave no answer in {PATIENCE_S:.0f} s") from error
    except OSError as error:
        raise UsageError(f"the interpreter {program} can not be started: {error.strerror}") from error
    try:
        if done.returncode:
            raise ValueError(f"exit status {done.returncode}")
        return Subject(**json.loads(done.stdout.decode().rsplit("\n", 1)[-1]))
    except (ValueError, TypeError) as error:
        said = done.stderr.decode(errors="backslashreplace").strip().splitlines()
        last = f": {said[-1][:300]}" if said else ""
        raise InfrastructureError(f"the interpreter {program} can not say what it has ({error}){last}") from error
