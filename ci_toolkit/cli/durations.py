"""``ci-toolkit durations``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import conf_option, json_option, today_option


@click.group()
def command() -> None:
    """Keep how long each unit took, so that the long ones start first.

    Example: ci-toolkit durations update --evidence out
    """


@command.command()
@click.option(
    "--evidence",
    "folders",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The evidence of a lane, such as out/sparse-cpu/a1, or the --out of a run; may be repeated.",
)
@conf_option
@today_option
@json_option
def update(folders: tuple[Path, ...], conf_folder: Path, today: datetime.datetime, as_json: bool) -> int:
    """Take the times of units that completed into CONF/durations.json.

    A lane that was interrupted is left out. Evidence that can not be believed ends with 3, and a run in which no unit
    completed with 5; the file stays as it was.

    Example: ci-toolkit durations update --evidence out/sparse-cpu/a1
    """
    import json

    from ci_toolkit.formats.durations import DURATIONS
    from ci_toolkit.formats.durations_update import update_durations
    from ci_toolkit.github.commands import defuse
    from ci_toolkit.model.text import one_line
    from ci_toolkit.publish.words import plural

    path = conf_folder / DURATIONS
    change = update_durations(path, folders, today.date())
    if as_json:
        counts = {"units": change.units, "added": change.added, "dropped": change.dropped}
        click.echo(json.dumps({"file": str(path), **counts, "left_out": change.left_out}, indent=1))
        return 0
    for lane, why in change.left_out.items():
        click.echo(defuse(one_line(f"left out  {lane}: {why}")))
    timed = f"{change.units} {plural('unit', change.units)} timed"
    told = f"{path}: {timed}, {change.added} of them for the first time, {change.dropped} dropped"
    click.echo(defuse(one_line(told)))
    return 0
