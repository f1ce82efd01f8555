"""A repository that uses the toolkit as ``owner/toolkit@v1``."""

import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflows import act
from workflows.artifacts import Fault


@dataclass(frozen=True)
class Toolkit:
    """Where act finds the toolkit, its wheels, and what to give as the input ``python`` to get it installed already."""

    folder: Path
    wheels: Path
    python: Path


@dataclass(frozen=True)
class Consumer:
    """A repository that uses the toolkit by its tag."""

    folder: Path
    temporary: Path
    toolkit: Toolkit

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")

    def use(self, more: str = "") -> None:
        """Writes the workflow use.yml, which calls the reusable one with the inputs ``more``."""
        given = {"wheels": self.toolkit.wheels, "python": self.toolkit.python, "more": more}
        self.write(".github/workflows/use.yml", USE.format(**given))

    def commit(self, message: str = "change") -> None:
        if not (self.folder / ".git").is_dir():
            self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git(
            "-c",
            "user.name=someone",
            "-c",
            "user.email=someone@example.com",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            message,
        )

    def git(self, *args: str) -> None:
        subprocess.run(["git", *args], cwd=self.folder, check=True, stdin=subprocess.DEVNULL)

    def run(
        self,
        workflow: str,
        *,
        event: str = "push",
        payload: dict[str, Any] | None = None,
        faults: Mapping[str, Fault] | None = None,
        toolkit: Path | None = None,
        path: Path | None = None,
        **env: str,
    ) -> act.Ended:
        """Runs one of its workflows."""
        self.commit()
        return act.run(
            self.folder,
            workflow,
            event=event,
            payload=payload,
            toolkit=toolkit or self.toolkit.folder,
            temporary=self.temporary,
            path=path,
            env=env,
            faults=faults,
        )


USE = """
on: [push, pull_request]
jobs:
  hardware:
    uses: owner/toolkit/.github/workflows/hardware-matrix.yml@v1
    with: {{toolkit-repository: owner/toolkit, toolkit-ref: v1, wheelhouse: "{wheels}", python: "{python}", {more}}}
"""
PLATFORMS = """
schema: platforms/1
platforms:
  alpha: {device: cpu, runs_on: [self-hosted, alpha]}
  beta: {device: cpu, runs_on: [self-hosted, beta]}
  gamma: {device: cpu, runs_on: [self-hosted, gamma]}
"""
SUITES = """
schema: suites/1
suites:
  small: {platforms: [alpha, beta, gamma], root: {path: tests}, paths: [.]}
"""
TESTS = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_small(n):
    assert n * n >= n
"""
