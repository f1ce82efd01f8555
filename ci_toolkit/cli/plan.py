"""``ci-toolkit plan``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import (
    conf_option,
    full_option,
    json_option,
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
@today_option
@json_option
def command(
    conf_folder: Path,
    only: tuple[str, ...],
    full: bool,
    units: tuple[str, ...],
    out: Path,
    today: datetime.datetime,
    as_json: bool,
) -> int:
    """Write plan.json: the lanes that this machine can run, and those left out with their reasons.

    Example: ci-toolkit plan --only 'numpy*' --full
    """
    import os

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.formats.documents import encode
    from ci_toolkit.github.planning import plan_here
    from ci_toolkit.plan.lanes import Wish
    from ci_toolkit.publish.terminal import print_plan
    from ci_toolkit.suites.planning import plan_exit_code

    plan = plan_here(load_catalogue(conf_folder), Wish(only, full, units), out, today.date(), os.environ)
    if as_json:
        click.echo(encode(plan).decode())
    else:
        print_plan(plan)
    return plan_exit_code(plan)
