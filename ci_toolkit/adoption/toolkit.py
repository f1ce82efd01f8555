"""What a workflow of the user may call of this toolkit, and with which inputs."""

import re
from dataclasses import dataclass

from ci_toolkit.adoption.workflows import Call
from ci_toolkit.errors import UsageError

DEFAULT = "ci-toolkit/ci-toolkit@v1"
_REFERENCE = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]+)@([A-Za-z0-9][A-Za-z0-9_./-]*)")
_COMMIT = re.compile(r"[0-9a-f]{40}")

_TOOLKIT = frozenset({"host", "python", "toolkit-ref", "toolkit-repository", "wheelhouse"})
_SUBJECT = _TOOLKIT | {"conf", "setup"}
INPUTS = {
    "pr.yml": _SUBJECT | {"fork-environment"},
    "nightly.yml": _SUBJECT | {"tier"},
    "comment.yml": _SUBJECT,
    "hardware-matrix.yml": _SUBJECT | {"approve", "commit", "environment", "name", "plan-args", "tier"},
    "triage.yml": _SUBJECT | {"more", "only"},
    "ratchet-update.yml": _TOOLKIT | {"artifact", "attempt", "conf", "lane", "reason", "run-id"},
    "report-fork.yml": _TOOLKIT,
    "": frozenset({"args", "path", "python", "retention-days", "token", "upload", "wheelhouse"}),
}
"""Reusable workflow (or the action, without a name) -> its inputs."""


@dataclass(frozen=True)
class Toolkit:
    """Where the toolkit's workflows are called from, and at which commit, tag or branch."""

    repository: str
    ref: str

    @property
    def is_pinned(self) -> bool:
        """Whether the reference can not come to mean something else."""
        return bool(_COMMIT.fullmatch(self.ref))

    def holds(self, call: Call) -> bool:
        """Whether a call is one of this toolkit, or of a copy that kept its name."""
        return call.repository.lower() == self.repository.lower() or call.repository.lower().endswith("/ci-toolkit")


def parse_toolkit(text: str) -> Toolkit:
    """``OWNER/NAME@REF``. Raises UsageError for anything else."""
    match = _REFERENCE.fullmatch(text)
    if not match or ".." in text:
        raise UsageError(f"{text!r} is no OWNER/NAME@REF", hint=f"such as --toolkit {DEFAULT}")
    return Toolkit(match[1], match[2])
