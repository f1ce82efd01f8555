"""Runs a workflow of a repository with act, and says what happened in the words of GitHub."""

import io
import json
import os
import subprocess
import sysconfig
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from workflows.artifacts import Artifact, ArtifactServer, Fault

ACTIONS = Path(__file__).parent / "actions"
RUN = "4711"
TOKEN = "ghs_ofThisRunAndOfNoOther0123456789"


@dataclass
class Job:
    result: str = "skipped"
    log: list[str] = field(default_factory=list)
    summary: str = ""
    errors: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.log)


@dataclass
class Ended:
    """A run of a workflow: its jobs by name, and the artifacts that it left."""

    exit_code: int
    jobs: dict[str, Job] = field(repr=False)
    artifacts: list[Artifact] = field(repr=False)
    log: str = field(repr=False)

    def job(self, name: str) -> Job:
        """The one job whose name ends so; act puts the callers before it and the number of a leg behind it."""
        found = [job for at, job in self.jobs.items() if at == name or at.endswith("/" + name)]
        found += [job for at, job in self.jobs.items() if at.rpartition("/")[2].rpartition("-")[0] == name]
        assert found, f"no job {name} in {list(self.jobs)}\n{self.log}"
        return found[0]

    def file(self, artifact: str, path: str) -> Any:
        """A JSON document of an artifact."""
        names = [a.name for a in self.artifacts]
        assert artifact in names, f"{names}\n{self.log}"
        data = next(a.data for a in self.artifacts if a.name == artifact)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return json.loads(archive.read(path))

    @property
    def verdict(self) -> dict[str, Any]:
        name = max(artifact.name for artifact in self.artifacts if artifact.name.startswith("verdict."))
        found: dict[str, Any] = self.file(name, "verdict.json")
        return found

    @property
    def findings(self) -> set[tuple[str, str]]:
        """(kind, lane) of each finding of the gate."""
        return {(finding["kind"], finding.get("lane", "")) for finding in self.verdict["findings"]}


def pinned() -> dict[str, str]:
    """The actions that the toolkit's own YAML uses, each with the one commit that it names."""
    root = Path(__file__).parents[2]
    texts = [
        path.read_text(encoding="utf-8") for path in (root / "action.yml", *(root / ".github/workflows").iterdir())
    ]
    used = {word for text in texts for word in text.split() if word.startswith("actions/") and "@" in word}
    return dict(sorted(name.split("@") for name in used))


def run(
    repository: Path,
    workflow: str,
    *,
    event: str = "push",
    payload: dict[str, Any] | None = None,
    toolkit: Path,
    temporary: Path,
    path: Path | None = None,
    env: dict[str, str] | None = None,
    faults: Mapping[str, Fault] | None = None,
    timeout_s: float = 300,
) -> Ended:
    """Runs ``.github/workflows/WORKFLOW`` of ``repository`` with ``owner/toolkit@v1`` from the folder ``toolkit``.

    ``temporary`` gets what act keeps. ``path`` is where programs are looked for first. ``env`` is seen by all steps.
    No network is used.
    """
    labels = {"ubuntu-24.04", "self-hosted"}
    document = yaml.safe_load((repository / ".github/workflows" / workflow).read_text(encoding="utf-8"))
    for job in document["jobs"].values():
        asked = job.get("runs-on", [])
        labels |= {asked} if isinstance(asked, str) else set(asked)
    with ArtifactServer(faults or {}) as server:
        options = [
            "--json",
            "--no-cache-server",
            "-s",
            f"GITHUB_TOKEN={TOKEN}",
            "--action-cache-path",
            str(temporary / "cache"),
        ]
        options += ["--local-repository", f"owner/toolkit@v1={toolkit}"]
        for name, commit in pinned().items():
            options += ["--local-repository", f"{name}@{commit}={ACTIONS / name.partition('/')[2]}"]
        for label in sorted(labels):
            options += ["-P", f"{label}=-self-hosted"]
        given = {"GITHUB_RUN_ID": RUN, "TEST_ACTIONS": str(ACTIONS), "TEST_REPOSITORIES": str(toolkit.parents[1])}
        given["TEST_SUBJECT"] = str(repository)
        for name, value in (server.env(RUN) | given | (env or {})).items():
            options += ["--env", f"{name}={value}"]
        if payload is not None:
            (temporary / "event.json").write_text(json.dumps(payload), encoding="utf-8")
            options += ["-e", str(temporary / "event.json")]
        dropped = ("GITHUB_", "ACTIONS_", "RUNNER_", "PYTEST_", "VIRTUAL_ENV", "PYTHON", "COLUMNS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        kept["PATH"] = os.pathsep.join([*([str(path)] if path else []), kept["PATH"]])
        ended = subprocess.run(
            [Path(sysconfig.get_path("scripts")) / "act", event, "-W", f".github/workflows/{workflow}", *options],
            cwd=repository,
            env=kept | {"HOME": str(temporary), "XDG_CACHE_HOME": str(temporary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=timeout_s,
        )
        jobs = jobs_of(ended.stdout)
        said = [f"[{name}] {line}" for name, job in jobs.items() for line in job.log]
        log = "\n".join([*said, *(line for line in ended.stdout.splitlines() if not line.startswith("{"))])
        return Ended(ended.returncode, jobs, server.finished(RUN), log)


def jobs_of(lines: str) -> dict[str, Job]:
    jobs: dict[str, Job] = {}
    for line in lines.splitlines():
        if not line.startswith("{"):
            continue
        said = json.loads(line)
        if not said.get("job"):
            continue
        job = jobs.setdefault(said["job"].strip(), Job())
        job.log.append(said.get("msg", "").rstrip())
        job.result = said.get("jobResult", job.result)
        if said.get("command") == "summary":
            job.summary += said["content"]
        if said.get("command") == "error":
            job.errors.append(said["arg"])
    return jobs
