"""``ci-toolkit init``."""

from collections.abc import Iterable
from pathlib import Path

import click

from ci_toolkit.adoption.toolkit import DEFAULT


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; tell where conf and repository have grown apart.")
@click.option("--conf", "conf", default="conf", show_default=True, metavar="NAME", help="The conf folder, in this one.")
@click.option(
    "--toolkit", "reference", default=DEFAULT, show_default=True, metavar="OWNER/NAME@REF", help="What workflows call."
)
def command(check: bool, conf: str, reference: str) -> int:
    """Look at the repository in this folder and write its first conf and workflows.

    Nothing of it is run, and a file that is there is kept. --check ends with 1, and one line each, for suites whose
    files are gone, test files that no suite runs, runners that no platform names, and calls of the toolkit that do not
    fit it.

    Example: ci-toolkit init && bash conf/setup.sh && ci-toolkit ci

    Example: ci-toolkit init --check
    """
    import re

    from ci_toolkit.adoption.adopt import adopt
    from ci_toolkit.adoption.drift import drift
    from ci_toolkit.adoption.telling import adopted_lines, next_lines
    from ci_toolkit.adoption.toolkit import parse_toolkit
    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.devices.registry import names
    from ci_toolkit.errors import GATE_FAILED, PASSED, UsageError
    from ci_toolkit.github.commands import defuse
    from ci_toolkit.model.text import one_line

    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", conf):
        raise UsageError(
            f"{conf!r} is no name of a folder here", hint="suites are relative to the folder that holds conf"
        )
    toolkit = parse_toolkit(reference)
    here = Path()

    def tell(lines: Iterable[str]) -> None:
        for line in lines:
            click.echo(defuse(one_line(line)))

    if check:
        found = drift(here, load_catalogue(here / conf), toolkit, names())
        tell(found or ["conf and repository fit"])
        return GATE_FAILED if found else PASSED
    adopted = adopt(here, conf, toolkit, names())
    tell(adopted_lines(adopted))
    tell(next_lines(adopted.found.project, load_catalogue(here / conf), conf))
    return PASSED
