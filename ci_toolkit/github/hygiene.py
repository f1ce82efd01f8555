"""Runs the lanes of a plan on a machine that others have used before, and will use again."""

from collections.abc import Callable, Mapping
from pathlib import Path

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.github.commands import command, defuse, on_github
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.text import one_line
from ci_toolkit.suites.run_plan import Manner, run_plan
from ci_toolkit.workers.hygiene import end_orphans
from ci_toolkit.workers.mark import own_mark
from ci_toolkit.workers.processes import of_run, table


def is_kept(environ: Mapping[str, str]) -> bool:
    """Whether this is a job on a runner of one's own, which the next job finds as this one leaves it."""
    return on_github(environ) and environ.get("RUNNER_ENVIRONMENT") == "self-hosted"


def run_cleanly(
    plan: Plan,
    confs: Mapping[str, LaneConf],
    out: Path,
    manner: Manner,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> dict[str, Path]:
    """``run_plan``; on a runner of one's own, what earlier runs left behind is ended before it.

    What this run has left when all its workers have ended is told too, as a warning: there should be nothing.
    """
    if not is_kept(environ):
        return run_plan(plan, confs, out, manner)
    cleaned = end_orphans()
    for one in cleaned.ended:
        tell(defuse(one_line(f"ended what an earlier run left: {one}")))
    for one in cleaned.stuck:
        tell(command("warning", f"can not be ended, its driver may be stuck: {one}", title="left by an earlier run"))
    folders = run_plan(plan, confs, out, manner)
    # A run that was stopped does not wait for the last keepers, which clear up by themselves.
    for one in () if manner.stop else of_run(table(), own_mark()):
        tell(command("warning", f"this run has left {one}", title="left by this run"))
    return folders
