"""``ci-toolkit config``."""

from pathlib import Path

import click

from ci_toolkit.cli.options import conf_option, json_option


@click.group()
def command() -> None:
    """Show effective conf with where each value came from, or the schema of conf files.

    Example: ci-toolkit config show 'sparse*'
    """


@command.command()
@click.argument("lanes", nargs=-1, metavar="[GLOB...]")
@conf_option
@json_option
def show(lanes: tuple[str, ...], conf_folder: Path, as_json: bool) -> int:
    """Show each lane's values, and for each the file and line that it came from.

    Example: ci-toolkit config show 'sparse*' --json
    """
    import json

    from ci_toolkit.catalogue.effective import values
    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.plan.lanes import Wish, chosen
    from ci_toolkit.publish.terminal import print_values

    catalogue = load_catalogue(conf_folder)
    found = {conf.lane.id: values(conf) for conf in chosen(catalogue, Wish(lanes))}
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        for lane, table in found.items():
            print_values(lane, table)
    return 0


@command.command()
@click.argument("name", type=click.Choice(["platforms", "suites", "builds", "fleet", "selection", "ratchet"]))
def schema(name: str) -> int:
    """Print the JSON schema of a conf file, for editors and other checkers.

    Example: ci-toolkit config schema suites
    """
    import json

    from ci_toolkit.catalogue.json_schema import json_schema

    click.echo(json.dumps(json_schema(name), indent=1))
    return 0
