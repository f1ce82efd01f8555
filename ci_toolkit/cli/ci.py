"""``ci-toolkit ci``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import (
    base_option,
    build_option,
    commit_option,
    conf_option,
    fail_fast_option,
    full_option,
    job_option,
    jobs_option,
    only_option,
    out_option,
    plan_option,
    today_option,
    unit_option,
)


@click.command()
@plan_option
@job_option
@build_option
@commit_option
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
    plan_file: Path | None,
    job: str,
    build_folder: Path | None,
    commit: str,
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

    With --plan and --job it runs, gates and publishes the lanes of one job that another machine has planned.

    Example: ci-toolkit ci --only 'sparse*' --full
    """
    import dataclasses
    import os

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.formats.durations import DURATIONS, read_durations
    from ci_toolkit.gates.judge import judge
    from ci_toolkit.github.hygiene import run_cleanly
    from ci_toolkit.github.planning import plan_here, provenance_here
    from ci_toolkit.model.build import FILES
    from ci_toolkit.plan.lanes import Wish
    from ci_toolkit.publish.progress import Progress
    from ci_toolkit.publish.terminal import print_plan
    from ci_toolkit.publish.write import publish
    from ci_toolkit.suites.builds import check_builds, read_build
    from ci_toolkit.suites.collect import collect
    from ci_toolkit.suites.planning import part_of_plan
    from ci_toolkit.suites.run_plan import Manner
    from ci_toolkit.suites.uploads import in_folder
    from ci_toolkit.workers.stop import Stop

    if bool(plan_file) != bool(job) or (plan_file and (only or full or units)):
        raise click.UsageError("--plan goes with --job alone: what runs is planned already")
    if build_folder and not plan_file:
        raise click.UsageError("--build goes with --plan and --job")
    catalogue = load_catalogue(conf_folder)
    durations = read_durations(conf_folder / DURATIONS)
    build = read_build(build_folder) if build_folder else None
    if plan_file:
        plan = part_of_plan(plan_file, catalogue, job=job)
        check_builds(plan, build)
        provenance = provenance_here(plan, catalogue, build, os.environ, commit)
    else:
        plan = plan_here(catalogue, Wish(only, full, units), out, today.date(), os.environ, commit)
        provenance = plan.provenance
    print_plan(plan)
    with Stop().install() as stop:
        with Progress(plan, durations, jobs) as progress:
            files = build_folder / FILES if build_folder else None
            manner = Manner(jobs, stop, progress.observe, durations, fail_fast, provenance, files)
            run_cleanly(plan, catalogue.by_id(), out, manner, os.environ, click.echo)
        found = collect(plan, catalogue.by_id(), in_folder(plan, out, provenance.attempt), base)
        lanes = {name: dataclasses.replace(lane, builds=provenance.builds) for name, lane in found.items()}
        verdict = judge(plan, lanes, today.date())
        publish(verdict, out, os.environ)
    return verdict.exit_code
