"""A repository's conf for the planner, read from files as users write them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ci_toolkit.catalogue.load import Catalogue, load_catalogue

PLATFORMS = """
schema: platforms/1
platforms:
  cpu: {runs_on: [ubuntu-24.04]}
  card: {device: cuda, runs_on: [self-hosted, card], boards: 1}
"""
SUITES = """
schema: suites/1
suites:
  ops: {platforms: [cpu, card], root: {path: tests}, sample: [test_add.py]}
  core: {platforms: [cpu], root: {path: core_tests}}
"""
SELECTION = """
schema: selection/1
non_code: ["**/*.md", "docs/**"]
paths:
  - {path: "src/ops/{op}.py", suites: [ops], units: ["test_{op}.py"]}
  - {path: "src/core/**", suites: ["*"]}
fallback: [core-cpu]
labels: {"ci: card": {lanes: ["*-card"]}, "ci: full": {tier: nightly}}
"""

Conf = Callable[..., Catalogue]


@pytest.fixture
def conf(tmp_path: Path) -> Conf:
    def write(
        selection: str = SELECTION, suites: str = SUITES, platforms: str = PLATFORMS, fleet: str = ""
    ) -> Catalogue:
        folder = tmp_path / "conf"
        folder.mkdir(exist_ok=True)
        for name, text in {"platforms": platforms, "suites": suites, "selection": selection, "fleet": fleet}.items():
            if text:
                (folder / f"{name}.yml").write_text(text, encoding="utf-8")
        return load_catalogue(folder)

    return write
