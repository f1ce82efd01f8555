"""Runs upstream tests against a candidate as a worker does: the child's own folder, in an interpreter of its own."""

import collections
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import ci_toolkit

SUBJECT = os.environ.get("SUBJECT_PYTHON", sys.executable)
"""The interpreter that runs the tests; ``test_pytest_versions`` names others."""
CHILD = Path(ci_toolkit.__file__).parent / "child"
_DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[3])
import bootstrap
del sys.path[0]
runner = bootstrap.load("conformance_runner", sys.argv[3])
events = sys.modules["_ci_toolkit_child.events"].Events(sys.argv[2], "n0", None)
sys.exit(runner.run(json.loads(sys.argv[1]), events, lambda: None))
"""
_ARGS = ("-c", os.devnull, "--noconftest", "--import-mode=importlib", "-q")


@dataclass
class Ran:
    """What a run has left."""

    status: int
    events: list[dict[str, Any]]
    output: str

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["e"] == kind]

    @property
    def outcomes(self) -> dict[str, str]:
        """Each case's worst outcome, by the last part of its id."""
        order = ("failed", "error", "skipped", "xfailed", "xpassed", "passed")
        seen = collections.defaultdict(set)
        for event in self.of("phase"):
            seen[event["id"].partition("::")[2]].add(event["outcome"])
        return {name: next(word for word in order if word in words) for name, words in seen.items()}

    @property
    def counts(self) -> dict[str, int]:
        return dict(collections.Counter(self.outcomes.values()))

    @property
    def failures(self) -> list[str]:
        """What failed, to be shown by an assertion."""
        told = [
            f"{e['id']}: {e['failure']['exception']}: {e['failure']['message']}"
            for e in self.of("phase")
            if "failure" in e
        ]
        return told + [f"{e['id']}: {e['reason']}" for e in self.of("collect_error")]

    @property
    def refused(self) -> str:
        return "; ".join(event["reason"] for event in self.of("refused"))

    @property
    def providers(self) -> dict[str, Any]:
        assert len(self.of("providers")) == 1, self.output
        found = self.of("providers")[0]
        # pytest 7 loads a package's __init__ under a name of its own as well.
        return {**found, "modules": [row for row in found["modules"] if not row["name"].endswith(".__init__")]}

    @property
    def faults(self) -> list[str]:
        return [fault["kind"] for fault in self.providers["faults"]]

    def modules(self, kind: str) -> dict[str, str]:
        """Name -> provider of the modules of a kind."""
        return {row["name"]: row["provider"] for row in self.providers["modules"] if row["kind"] == kind}


@dataclass
class Site:
    """A folder with an upstream ``up`` (its tests in ``up/tests``) and a candidate ``cand``."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def test(self, text: str, name: str = "up/tests/test_it.py") -> None:
        """Writes a test file of the upstream."""
        self.write(name, text)

    def run(self, *files: str, **options: Any) -> Ran:
        candidate = {"name": "cand", "folder": "", "libraries": [], **options.pop("candidate", {})}
        upstream = {"name": "up", "tests": [str(self.folder / "up/tests")], **options.pop("upstream", {})}
        options = {
            "root": str(self.folder),
            "files": list(files) or ["up/tests/test_it.py"],
            "args": list(_ARGS),
            "sys_path": [str(self.folder)],
            "engine": "candidate",
            "alias": "all",
            "private_upstream": False,
            "tests_folder": "",
            "upstream": upstream,
            "candidate": candidate,
            **options,
        }
        events = self.folder / "events.jsonl"
        events.unlink(missing_ok=True)
        done = subprocess.run(
            [SUBJECT, "-c", _DRIVER, json.dumps({"options": options}), str(events), str(CHILD)],
            cwd=self.folder,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1", **self.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            timeout=300,
            check=False,
        )
        lines = events.read_text().splitlines() if events.exists() else []
        return Ran(done.returncode, [json.loads(line) for line in lines], done.stdout)

    def passes(self, *files: str, **options: Any) -> Ran:
        """Runs tests that must all pass, with nothing wrong about who answered."""
        ran = self.run(*files, **options)
        assert (ran.status, ran.failures, ran.refused) == (0, [], ""), ran.output[-4000:]
        assert ran.providers["faults"] == []
        assert set(ran.outcomes.values()) == {"passed"}
        return ran


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """``up`` has modules ``a``, ``only`` and tests; ``cand`` has ``a``. Each module tells whose it is."""
    site = Site(tmp_path / "site")
    for package in ("up", "cand"):
        site.write(f"{package}/__init__.py", f"WHO = {package!r}\n")
        site.write(f"{package}/a.py", f"WHO = {package!r}\nclass Thing: pass\n")
    site.write("up/only.py", "WHO = 'up'\n")
    site.write("up/tests/__init__.py")
    return site
