"""Makes the jobs of a lane, and reads what a job's worker left."""

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.formats.evidence import EvidenceWriter
from ci_toolkit.model.ids import split_case
from ci_toolkit.model.request import Request
from ci_toolkit.suites.kind import Account, Found, Subject, Unit
from ci_toolkit.workers.devices import DevicePool
from ci_toolkit.workers.environment import temporary_folder, worker_environment
from ci_toolkit.workers.jobs import Ended, Job

TAIL_BYTES = 64 << 10
"""How much of a worker's output is read to explain its end."""


class JobMaker:
    """Makes the jobs of a lane, numbered from 1 in the order in which they are made.

    A suite of the repository runs in its root, one of an installed distribution in the worker's temporary folder.
    ``withheld`` are the cases that are never executed, ``pool`` has the devices that each worker asks for.
    """

    def __init__(
        self,
        conf: LaneConf,
        subject: Subject,
        found: Found,
        withheld: Mapping[str, str],
        pool: DevicePool | None,
        writer: EvidenceWriter,
    ) -> None:
        self._conf = conf
        self._subject = subject
        self._found = found
        self._pool = pool
        self._writer = writer
        self._made = 0
        self._withheld: dict[str, dict[str, str]] = {}
        for case, reason in withheld.items():
            self._withheld.setdefault(split_case(case)[0], {})[case] = reason

    def make(self, unit: Unit, only: Sequence[str] | None) -> Job:
        """A job for a fresh worker that runs ``unit``, or ``only`` these cases of it."""
        conf, found, pool = self._conf, self._found, self._pool
        self._made += 1
        temporary = temporary_folder()
        options: dict[str, object] = {
            **unit.options,
            "withheld": self._withheld.get(unit.name, {}),
            "subject": [name.replace("-", "_") for name in conf.subject],
        }
        if only is not None:
            options["only"] = only
        request = Request(
            nonce=secrets.token_hex(16),
            lane=conf.lane.id,
            unit=unit.name,
            runner=found.runner,
            interpreter=self._subject.executable,
            flags=conf.platform.flags,
            env=worker_environment(os.environ, conf.env_allow, conf.env, temporary),
            cwd=temporary if conf.root_distribution else found.root,
            temporary=temporary,
            limits=conf.limits,
            start=conf.start,
            preload=conf.preload,
            masked=tuple(pool.access.mask(pool.devices)) if pool else (),
            width=conf.width if pool else 0,
            device=conf.platform.device,
            options=options,
        )
        return Job(number=self._made, folder=self._writer.worker_folder(self._made), request=request)


def account_of(ended: Ended) -> Account:
    """What is known of a worker that ended."""
    return Account(
        worker=ended.worker,
        message=ended.message,
        nonce=ended.job.request.nonce,
        events=ended.job.folder / "events.jsonl",
        stdout=_tail(ended.job.folder / "stdout.log"),
        stderr=_tail(ended.job.folder / "stderr.log"),
        strangers=ended.strangers,
        timed_out_case=ended.timed_out_case,
        error=ended.error,
        faults=ended.faults,
        left=ended.left,
    )


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - TAIL_BYTES, 0))
            return file.read(TAIL_BYTES).decode(errors="backslashreplace")
    except FileNotFoundError:
        return ""
