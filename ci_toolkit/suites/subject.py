"""Asks a subject's interpreter what it is, what is installed in it, and where."""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping

import msgspec

from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.suites.kind import Subject

PATIENCE_S = 60.0
# With `-c` the folder itself comes first: a platform.py of the repository would stand for the library's.
_QUESTION = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.metadata as metadata, json, platform, re
packages, roots = {}, {}
for found in metadata.distributions():
    name = found.metadata["Name"]
    if name:
        packages.setdefault(re.sub(r"[-_.]+", "-", name).lower(), found.version)
for name in sys.argv[1:]:
    try:
        roots[name] = str(metadata.distribution(name).locate_file(""))
    except metadata.PackageNotFoundError:
        pass
sys.stdout.write("\\n" + json.dumps({
    "executable": sys.executable, "python": platform.python_version(),
    "implementation": platform.python_implementation(),
    "system": platform.system().lower() + "-" + platform.machine().lower(),
    "packages": dict(sorted(packages.items())), "roots": roots,
    "prefixes": sorted({sys.prefix, sys.base_prefix}),
}))
"""


def ask(python: str, flags: Iterable[str], distributions: Iterable[str], env: Mapping[str, str], cwd: str) -> Subject:
    """What ``python`` (empty: the host's own) says of itself and of where ``distributions`` are.

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
        return msgspec.json.decode(done.stdout.rpartition(b"\n")[2], type=Subject)
    except (ValueError, msgspec.DecodeError) as error:
        said = done.stderr.decode(errors="backslashreplace").strip().splitlines()
        last = f": {said[-1][:300]}" if said else ""
        raise InfrastructureError(f"the interpreter {program} can not say what it has ({error}){last}") from error


def normalised(distribution: str) -> str:
    """A distribution's name in the form that the index uses."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def facts_of(subject: Subject) -> dict[str, str]:
    """What ``requires`` and a ratchet's ``when`` are matched against: ``python``, ``system``, ``package.NAME``."""
    packages = {f"package.{name}": version for name, version in subject.packages.items()}
    return {"python": subject.python, "system": subject.system, **packages}
