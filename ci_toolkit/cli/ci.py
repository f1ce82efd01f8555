"""``ci-toolkit ci``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import (
    base_option,
    conf_option,
    fail_fast_option,
    full_option,
    jobs_option,
    only_option,
    out_option,
    today_option,
    unit_option,
)


@click.command()
@conf_option
@only_option
@full_option
@unit_option
@out_option
@jobs_option
@fail_fast_option
@base_option
@today_option
def command(
    conf_folder: Path,
    only: tuple[str, ...],
    full: bool,
    units: tuple[str, ...],
    out: Path,
    jobs: int,
    fail_fast: bool,
    base: Path | None,
    today: datetime.datetime,
) -> int:
    """Plan, run each lane that this machine's devices allow, gate, and publish.

    Lanes of absent platforms are left out with a printed reason; a lane that is named with --only and can not run ends
    with 4. Evidence, plan.json, verdict.json and summary.md are written under --out.

    Example: ci-toolkit ci --only 'sparse*' --full
    """
    import os

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.formats.durations import DURATIONS, read_durations
    from ci_toolkit.gates.judge import judge
    from ci_toolkit.github.planning import plan_here
    from ci_toolkit.plan.lanes import Wish
    from ci_toolkit.publish.progress import Progress
    from ci_toolkit.publish.terminal import print_plan
    from ci_toolkit.publish.write import publish
    from ci_toolkit.suites.collect import collect
    from ci_toolkit.suites.run_plan import Manner, run_plan
    from ci_toolkit.workers.stop import Stop

    catalogue = load_catalogue(conf_folder)
    durations = read_durations(conf_folder / DURATIONS)
    plan = plan_here(catalogue, Wish(only, full, units), out, today.date(), os.environ)
    print_plan(plan)
    with Stop().install() as stop:
        with Progress(plan, durations, jobs) as progress:
            run_plan(plan, catalogue.by_id(), out, Manner(jobs, stop, progress.observe, durations, fail_fast))
        verdict = judge(plan, collect(plan, catalogue.by_id(), out, base), today.date())
        publish(verdict, out, os.environ)
    return verdict.exit_code
