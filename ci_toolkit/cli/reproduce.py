"""``ci-toolkit reproduce``."""

from pathlib import Path

import click

from ci_toolkit.cli.options import json_option


@click.command()
@click.argument("case")
@click.option(
    "--evidence",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The evidence folder of the lane, such as out/sparse-cpu/a1.",
)
@json_option
def command(case: str, evidence: Path, as_json: bool) -> int:
    """Print the command that runs CASE (an id, or a glob that fits one) again by hand.

    Example: ci-toolkit reproduce 'tests/test_gather.py::test_gather[*float32*]' --evidence out/sparse-cpu/a1
    """
    from ci_toolkit.formats.documents import encode
    from ci_toolkit.reproduce.command import shell_line
    from ci_toolkit.suites.collect import reproduce_case

    found = reproduce_case(evidence, case)
    if as_json:
        click.echo(encode(found).decode())
    else:
        click.echo(shell_line(found))
        click.echo(found.note, err=True)
    return 0
