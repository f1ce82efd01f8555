"""``ci-toolkit junit``."""

from pathlib import Path

import click

from ci_toolkit.cli.options import json_option

FILES = click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE..."
)


@click.group()
def command() -> None:
    """Merge and check JUnit XML files of any producer, as a stream.

    Example: ci-toolkit junit check out/*/a1/junit.xml
    """


@command.command()
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
@FILES
def merge(target: Path, files: tuple[Path, ...]) -> int:
    """Write the suites of all FILES into TARGET; the counters are those of the cases.

    A file that is not whole ends with 3, and TARGET stays as it was.

    Example: ci-toolkit junit merge all.xml shard-1.xml shard-2.xml
    """
    from ci_toolkit.formats.junit_merge import merge_junit
    from ci_toolkit.github.commands import defuse
    from ci_toolkit.publish.junit import merged_lines

    click.echo(defuse("\n".join(merged_lines(target, merge_junit(target, files)))))
    return 0


@command.command()
@FILES
@json_option
def check(files: tuple[Path, ...], as_json: bool) -> int:
    """Say what FILES hold. Ends with 0 only when each is whole, has cases, and none of them failed.

    1: a case failed; 3: a file is empty, cut, unreadable, or claims failures that it does not show.

    Example: ci-toolkit junit check report.xml --json
    """
    import dataclasses
    import json

    from ci_toolkit.formats.junit_read import read_junit
    from ci_toolkit.github.commands import defuse
    from ci_toolkit.publish.junit import exit_code, summary_lines

    found = [read_junit(file) for file in files]
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(summary) for summary in found], indent=1))
    else:
        click.echo(defuse("\n".join(line for summary in found for line in summary_lines(summary))))
    return exit_code(found)
