"""A repository that uses the toolkit as ``owner/toolkit@v1``."""

import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflows import act


@dataclass(frozen=True)
class Toolkit:
    """Where act finds the toolkit, its wheels, and a temporary folder of a runner in which it is installed already."""

    folder: Path
    wheels: Path
    installed: Path


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

    def commit(self, message: str = "change") -> None:
        who = ["-c", "user.name=someone", "-c", "user.email=someone@example.com"]
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", message]):
            subprocess.run(["git", *command], cwd=self.folder, check=True, stdin=subprocess.DEVNULL)

    def run(
        self, workflow: str, *, event: str = "push", payload: dict[str, Any] | None = None, **env: str
    ) -> act.Ended:
        """Runs one of its workflows on runners that have the toolkit installed."""
        self.commit()
        return act.run(
            self.folder,
            workflow,
            event=event,
            payload=payload,
            toolkit=self.toolkit.folder,
            temporary=self.temporary,
            env={"RUNNER_TEMP": str(self.toolkit.installed), **env},
        )


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
