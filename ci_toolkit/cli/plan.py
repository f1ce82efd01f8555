"""``ci-toolkit plan``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import (
    commit_option,
    conf_option,
    full_option,
    json_option,
    only_option,
    out_option,
    today_option,
    unit_option,
)


@click.command()
@click.option("--fleet", is_flag=True, help="Plan an event for the runners that conf names, not for this machine.")
@click.option("--event", default="", help="With --fleet: the event.  [default: GitHub's, or local]")
@click.option("--tier", default="", help="With --fleet: the tier, whatever the event says.")
@click.option("--since", default="", metavar="COMMIT", help="With --fleet: what changed since.  [default: the event's]")
@click.option("--explain", is_flag=True, help="With --fleet: say why each lane runs, and in which job.")
@commit_option
@conf_option
@only_option
@full_option
@unit_option
@out_option
@today_option
@json_option
def command(
    fleet: bool,
    event: str,
    tier: str,
    since: str,
    explain: bool,
    commit: str,
    conf_folder: Path,
    only: tuple[str, ...],
    full: bool,
    units: tuple[str, ...],
    out: Path,
    today: datetime.datetime,
    as_json: bool,
) -> int:
    """Write plan.json: the lanes that this machine can run, and those left out with their reasons.

    With --fleet it is the plan of an event for all runners: which lanes, narrowed by what has changed (see
    conf/selection.yml), in which jobs. On GitHub the step's outputs are then matrix_0 to matrix_3, jobs and digest.

    Example: ci-toolkit plan --fleet --event pull_request --since origin/main --explain
    """
    import os

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.formats.documents import encode
    from ci_toolkit.formats.durations import DURATIONS, read_durations
    from ci_toolkit.github.planning import event_here, plan_event, plan_here
    from ci_toolkit.plan.lanes import Wish
    from ci_toolkit.publish.terminal import explain_plan, print_plan
    from ci_toolkit.suites.planning import plan_exit_code

    if not fleet and (event or tier or since or explain):
        raise click.UsageError("--event, --tier, --since and --explain need --fleet")
    catalogue, wish = load_catalogue(conf_folder), Wish(only, full, units)
    if fleet:
        arrived = event_here(conf_folder.resolve().parent, os.environ, name=event, tier=tier, since=since)
        durations = read_durations(conf_folder / DURATIONS)
        plan = plan_event(catalogue, arrived, wish, durations, out, today.date(), os.environ, commit)
    else:
        plan = plan_here(catalogue, wish, out, today.date(), os.environ, commit)
    if as_json:
        click.echo(encode(plan).decode())
    else:
        print_plan(plan)
        if explain:
            explain_plan(plan)
    return plan_exit_code(plan)
