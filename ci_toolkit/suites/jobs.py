"""Makes the jobs of a lane, and reads what a job's worker left."""

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.formats.evidence import EvidenceWriter
from ci_toolkit.model.ids import split_case
from ci_toolkit.model.request import Request
from ci_toolkit.suites.kind import Account, Found, Subject, Unit
from ci_toolkit.workers.environment import temporary_folder, worker_environment
from ci_toolkit.workers.jobs import Ended, Job

TAIL_BYTES = 64 << 10
"""How much of a worker's output is read to explain its end."""


def make_jobs(
    conf: LaneConf,
    subject: Subject,
    found: Found,
    units: Sequence[Unit],
    withheld: Mapping[str, str],
    mask: Mapping[str, str],
    writer: EvidenceWriter,
) -> Iterator[Job]:
    """One job a unit, numbered from 1 in the order of ``units``; each is made when a worker is free for it.

    A suite of the repository runs in its root, one of an installed distribution in the worker's temporary folder.
    ``mask`` is the environment that shows the lane's devices.
    """
    by_file: dict[str, dict[str, str]] = {}
    for case, reason in withheld.items():
        by_file.setdefault(split_case(case)[0], {})[case] = reason
    for number, unit in enumerate(units, 1):
        temporary = temporary_folder()
        yield Job(
            number=number,
            folder=writer.worker_folder(number),
            request=Request(
                nonce=secrets.token_hex(16),
                lane=conf.lane.id,
                unit=unit.name,
                runner=found.runner,
                interpreter=subject.executable,
                flags=conf.platform.flags,
                env=worker_environment(os.environ, conf.env_allow, {**conf.env, **mask}, temporary),
                cwd=temporary if conf.root_distribution else found.root,
                temporary=temporary,
                limits=conf.limits,
                options={
                    **unit.options,
                    "withheld": by_file.get(unit.name, {}),
                    "subject": [name.replace("-", "_") for name in conf.subject],
                },
            ),
        )


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
