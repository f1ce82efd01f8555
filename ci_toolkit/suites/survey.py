"""What this machine offers to each lane: its device, and the facts of its subject's interpreter."""

import os
import tempfile
from collections.abc import Iterable
from functools import lru_cache

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.devices.registry import available
from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.plan.lanes import Machine
from ci_toolkit.suites.subject import ask, facts_of
from ci_toolkit.workers.environment import worker_environment


def survey(lanes: Iterable[LaneConf]) -> Machine:
    """Looks for each lane's device and asks its interpreter, once for all lanes that share it.

    A machine without a lane's device, or without an interpreter that answers, is a reason and not an error.
    """
    absent: dict[str, str] = {}
    facts: dict[str, dict[str, str]] = {}
    asked = lru_cache(maxsize=None)(_facts)
    for conf in lanes:
        lane = conf.lane
        _, absent[lane.id] = available(lane.device)
        if absent[lane.id]:
            continue
        found, absent[lane.id] = asked(conf.platform.python, conf.platform.flags, conf.env_allow, conf.base)
        facts[lane.id] = found
    return Machine(absent, facts)


def _facts(python: str, flags: tuple[str, ...], allow: tuple[str, ...], base: str) -> tuple[dict[str, str], str]:
    env = worker_environment(os.environ, allow, {}, tempfile.gettempdir())
    try:
        return facts_of(ask(python, flags, (), env, base)), ""
    except (InfrastructureError, UsageError) as error:
        return {}, error.message
