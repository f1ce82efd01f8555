"""The builds that a plan's lanes need, each made once. Pure."""

import math
from collections.abc import Mapping, Sequence

from ci_toolkit.catalogue.builds import BuildSpec
from ci_toolkit.errors import UsageError
from ci_toolkit.model.plan import Build, Lane
from ci_toolkit.plan.packing import MATRIX_JOBS, SETUP_MINUTES


def builds_of(lanes: Sequence[Lane], specs: Mapping[str, BuildSpec]) -> tuple[Build, ...]:
    """The builds of ``lanes``, by id. Raises UsageError for one without runner labels, and for more than a matrix."""
    found = []
    for name in sorted({lane.build for lane in lanes if lane.build}):
        spec = specs[name]
        if not spec.runs_on:
            raise UsageError(f"build {name} has no runner labels", hint="give it runs_on")
        minutes = math.ceil(spec.timeout_s / 60) + SETUP_MINUTES
        found.append(Build(id=name, runs_on=spec.runs_on, timeout_minutes=minutes, container=spec.container))
    if len(found) > MATRIX_JOBS:
        raise UsageError(f"{len(found)} builds do not fit into a matrix of {MATRIX_JOBS}")
    return tuple(found)
