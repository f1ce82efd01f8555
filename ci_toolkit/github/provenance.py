"""Where a run comes from: the repository's state, and what a GitHub runner's environment says."""

import os
import platform
import re
import subprocess
import uuid
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from ci_toolkit.errors import EvidenceError, UsageError
from ci_toolkit.github.event import commented_pull, read_payload
from ci_toolkit.model.ids import is_commit
from ci_toolkit.model.provenance import Provenance

GIT_PATIENCE_S = 30.0
_PULL = re.compile(r"refs/pull/([1-9][0-9]{0,17})/")
_ATTEMPT = re.compile(r"[1-9][0-9]{0,8}")
_LOCATES_GIT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX")
"""Set where git runs us as a hook, for the repository of the hook; the one at ``base`` may be another."""


def collect(base: Path, environ: Mapping[str, str], commit: str = "") -> Provenance:
    """Facts about the repository at ``base`` and this run; a run outside GitHub gets an id of its own.

    ``commit`` is what was to be checked out, where that is not the event's own. Raises EvidenceError when git says that
    another one is, UsageError when the runner's environment holds what can not be (an attempt that is no number).
    """
    image = [environ[name] for name in ("ImageOS", "ImageVersion") if environ.get(name)]
    status = git_output(base, "status", "--porcelain", "--untracked-files=no")
    return Provenance(
        toolkit=metadata.version("ci-toolkit"),
        repository=environ.get("GITHUB_REPOSITORY", ""),
        commit=_commit(base, commit, environ),
        dirty=None if status is None else bool(status.strip()),
        pull_request=_pull_request(environ),
        run=environ.get("GITHUB_RUN_ID") or f"local-{uuid.uuid4().hex[:12]}",
        attempt=run_attempt(environ),
        runner=environ.get("RUNNER_NAME", "") or platform.node(),
        image="-".join(image),
        system=system(),
    )


def _commit(base: Path, told: str, environ: Mapping[str, str]) -> str:
    if told and not is_commit(told):
        raise UsageError(f"{told[:80]!r} is no whole commit SHA", hint="40 characters of 0-9 and a-f")
    found = (git_output(base, "rev-parse", "HEAD") or "").strip()
    if told and found not in ("", told):
        raise EvidenceError(f"{told} was to be checked out, and {found} is", hint="look at the step that checks out")
    return found or told or environ.get("GITHUB_SHA", "").strip()


def _pull_request(environ: Mapping[str, str]) -> int | None:
    """The number of the run's pull request. A comment's run is one of the default branch, by its reference."""
    pull = _PULL.match(environ.get("GITHUB_REF", ""))
    if pull:
        return int(pull[1])
    if environ.get("GITHUB_EVENT_NAME") != "issue_comment":
        return None
    return commented_pull(read_payload(environ.get("GITHUB_EVENT_PATH", "")))


def system() -> str:
    """This machine's system and architecture, such as ``linux-x86_64``."""
    return f"{platform.system().lower()}-{platform.machine().lower()}"


def run_attempt(environ: Mapping[str, str]) -> int:
    """Which attempt of its run this is, from 1. Raises UsageError for what is no number."""
    text = environ.get("GITHUB_RUN_ATTEMPT") or "1"
    if not _ATTEMPT.fullmatch(text):
        raise UsageError(f"GITHUB_RUN_ATTEMPT is {text[:60]!r}, not a number from 1")
    return int(text)


def git_output(base: Path, *args: str) -> str | None:
    """What git prints, or None where there is no git, no repository, or no answer in time.

    In a job's container the checkout has another owner; its code is what we are here to run, so git may read it.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _LOCATES_GIT}
    env = {**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", str(base), *args],
            capture_output=True,
            timeout=GIT_PATIENCE_S,
            env=env,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
