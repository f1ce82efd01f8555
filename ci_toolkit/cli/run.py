"""``ci-toolkit run``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import (
    build_option,
    conf_option,
    fail_fast_option,
    full_option,
    job_option,
    jobs_option,
    out_option,
    plan_option,
    today_option,
    unit_option,
)


@click.command()
@click.argument("lanes", nargs=-1, metavar="LANE...")
@plan_option
@job_option
@build_option
@conf_option
@full_option
@unit_option
@out_option
@jobs_option
@fail_fast_option
@today_option
def command(
    lanes: tuple[str, ...],
    plan_file: Path | None,
    job: str,
    build_folder: Path | None,
    conf_folder: Path,
    full: bool,
    units: tuple[str, ...],
    out: Path,
    jobs: int,
    fail_fast: bool,
    today: datetime.datetime,
) -> int:
    """Run lanes and write their evidence. It judges nothing: `ci-toolkit gate` does.

    With --plan they are run on whatever this machine has: a device that is not there is evidence, for the gate to
    judge. Without it the lanes (ids or globs) are planned for this machine first. The exit code tells of the run itself
    only: 0 when its evidence is complete, 3 or 4 when it is not, 130 when it was interrupted.

    Example: ci-toolkit run sparse-cpu --unit tests/test_gather.py
    """
    import os

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.formats.durations import DURATIONS, read_durations
    from ci_toolkit.github.hygiene import run_cleanly
    from ci_toolkit.github.planning import plan_here, provenance_here
    from ci_toolkit.model.build import FILES
    from ci_toolkit.plan.lanes import Wish
    from ci_toolkit.publish.progress import Progress
    from ci_toolkit.publish.terminal import print_plan, print_runs
    from ci_toolkit.suites.builds import check_builds, read_build
    from ci_toolkit.suites.planning import part_of_plan
    from ci_toolkit.suites.run_plan import Manner
    from ci_toolkit.workers.stop import Stop

    if bool(lanes) == bool(job) or (job and not plan_file):
        raise click.UsageError("name lanes, or give --plan and --job")
    if build_folder and not plan_file:
        raise click.UsageError("--build goes with --plan")
    build = read_build(build_folder) if build_folder else None
    files = build_folder / FILES if build_folder else None
    catalogue = load_catalogue(conf_folder)
    durations = read_durations(conf_folder / DURATIONS)
    if plan_file:
        plan = part_of_plan(plan_file, catalogue, lanes, job)
        check_builds(plan, build)
        provenance = provenance_here(plan, catalogue, build, os.environ)
    else:
        plan = plan_here(catalogue, Wish(lanes, full, units), out, today.date(), os.environ)
        provenance = plan.provenance
        print_plan(plan)
    with Stop().install() as stop, Progress(plan, durations, jobs) as progress:
        manner = Manner(jobs, stop, progress.observe, durations, fail_fast, provenance, files)
        folders = run_cleanly(plan, catalogue.by_id(), out, manner, os.environ, click.echo)
    return print_runs(plan, folders)
