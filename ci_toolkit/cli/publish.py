"""``ci-toolkit publish``."""

from pathlib import Path

import click

from ci_toolkit.cli.options import out_option


@click.command()
@click.option(
    "--verdict",
    "verdict_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The verdict to publish.  [default: OUT/verdict.json]",
)
@out_option
def command(verdict_file: Path | None, out: Path) -> int:
    """Write summary.md; on GitHub also the job summary, annotations and outputs. Ends with the verdict's exit code.

    Example: ci-toolkit publish --out out
    """
    import os

    from ci_toolkit.publish.read import read_verdict
    from ci_toolkit.publish.write import publish

    verdict = read_verdict(verdict_file or out / "verdict.json")
    publish(verdict, out, os.environ)
    return verdict.exit_code
