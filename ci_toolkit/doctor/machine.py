"""This machine, as far as it can be told without touching anything that may hang."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata

import psutil

from ci_toolkit.devices import cpu
from ci_toolkit.doctor.cgroups import allowed_cores, memory_limit


@dataclass(frozen=True)
class Machine:
    """Names and sizes; memory in bytes, ``cores_allowed`` by affinity and control groups."""

    host: str
    runner: str
    system: str
    toolkit: str
    cpu: str
    cores: int
    cores_allowed: float
    memory_bytes: int
    available_bytes: int


def this_machine(environ: Mapping[str, str]) -> Machine:
    """The machine that this process runs on, under the name that its GitHub runner has."""
    memory = psutil.virtual_memory()
    limit = memory_limit()
    (processor,), _ = cpu.discover()
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    granted = allowed_cores()
    return Machine(
        host=platform.node(),
        runner=environ.get("RUNNER_NAME", ""),
        system=f"{platform.system().lower()}-{platform.machine().lower()}",
        toolkit=metadata.version("ci-toolkit"),
        cpu=processor.name,
        cores=os.cpu_count() or mine,
        cores_allowed=mine if granted is None else min(mine, granted),
        memory_bytes=memory.total if limit is None else min(memory.total, limit),
        available_bytes=memory.available if limit is None else min(memory.available, limit),
    )
