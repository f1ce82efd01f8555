"""Runs Python programs as workers, and checks after each test that no process of theirs is left."""

import json
import os
import sys
import textwrap
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from ci_toolkit.model.request import Limits, Request
from ci_toolkit.workers.environment import temporary_folder, worker_environment
from ci_toolkit.workers.jobs import Ended, Job, in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

MARK = "CT_TEST_MARK"
SPEAK = """
import sys
_frame = sys._getframe()
while "events" not in _frame.f_locals:
    _frame = _frame.f_back
events = _frame.f_locals["events"]
while "channel" not in _frame.f_locals:
    _frame = _frame.f_back
channel = _frame.f_locals["channel"].fileno()
"""
"""Gives a program the events of its worker and the descriptor of its channel, as a hostile test could get them."""


@dataclass
class Bench:
    """Makes and runs jobs in one test's folder; ``mark`` is in the environment of all their processes."""

    folder: Path
    start: str = "spawn"
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    messages: list[dict[str, Any]] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)

    def job(
        self,
        body: str,
        number: int = 1,
        interpreter: str = sys.executable,
        flags: tuple[str, ...] = (),
        cwd: str = "",
        settings: dict[str, str] | None = None,
        options: dict[str, object] | None = None,
        speaks: bool = False,
        **limits: Any,
    ) -> Job:
        folder = self.folder / "workers" / f"{number:03}"
        folder.mkdir(parents=True)
        script = self.folder / f"unit_{number}.py"
        script.write_text((SPEAK if speaks else "") + textwrap.dedent(body), encoding="utf-8", errors="surrogatepass")
        temporary = temporary_folder()
        request = Request(
            nonce=uuid.uuid4().hex,
            lane="lane",
            unit=script.name,
            runner="script",
            interpreter=interpreter,
            flags=flags,
            env=worker_environment(os.environ, (), {MARK: self.mark, **(settings or {})}, temporary),
            cwd=cwd or str(self.folder),
            temporary=temporary,
            limits=Limits(**{"unit_s": 60.0, **limits}),
            start=self.start,
            options={"file": str(script), "id": script.name, **(options or {})},
        )
        self.jobs.append(Job(number=number, request=request, folder=folder))
        return self.jobs[-1]

    def observe(self, job: Job, message: dict[str, Any]) -> None:
        self.messages.append(message)

    def run(self, body: str, **details: Any) -> Ended:
        (ended,) = run_jobs(in_order([self.job(body, **details)]), 1, Stop(), self.observe)
        return ended

    def stdout(self, number: int = 1) -> bytes:
        return (self.folder / "workers" / f"{number:03}" / "stdout.log").read_bytes()

    def stderr(self, number: int = 1) -> str:
        return (self.folder / "workers" / f"{number:03}" / "stderr.log").read_text(errors="replace")

    def events(self, number: int = 1) -> list[dict[str, Any]]:
        path = self.folder / "workers" / f"{number:03}" / "events.jsonl"
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def processes(self) -> list[psutil.Process]:
        """The processes that carry this test's mark, wherever they went."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found


def descriptors() -> dict[str, str]:
    """The open descriptors of this process, and what they lead to."""
    found = {}
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found[link.name] = str(link.readlink())
    return {name: place for name, place in found.items() if "/proc/" not in place}


@pytest.fixture(params=["spawn", "fork"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """Once with fresh interpreters, once with forks of a server: what a worker may do and cost is the same."""
    bench = Bench(tmp_path, request.param)
    before = descriptors()
    yield bench
    assert descriptors() == before, "descriptors are left"
    left = bench.processes()
    for process in left:
        process.kill()
    assert not left, "processes of a worker are left"
    assert not [job for job in bench.jobs if Path(job.request.temporary).exists()], "temporary folders are left"
