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
@click.option("--comment", is_flag=True, help="Keep one comment on the pull request up to date.")
@click.option("--check-run", metavar="NAME", default="", help="Create a check run with annotations.")
@click.option("--issue", is_flag=True, help="Keep one issue while verdicts are red; close it when green.")
@click.option(
    "--pull-request", type=click.IntRange(min=1), metavar="N", help="Where the comment goes.  [default: the event's]"
)
@click.option(
    "--for-head",
    metavar="SHA",
    default="",
    help="The comment goes to the open pull request with this head; for the verdict of a fork's run.",
)
@click.option("--commit", metavar="SHA", default="", help="Where the check run goes.  [default: the event's head]")
@click.option(
    "--digest", help="What the job of the gate told as its output `digest`: no other verdict is published as passed."
)
@click.option(
    "--key",
    default="",
    help="Tells comments and issues of several workflows apart.  [default: the workflow's file name]",
)
def command(
    verdict_file: Path | None,
    out: Path,
    comment: bool,
    check_run: str,
    issue: bool,
    pull_request: int | None,
    for_head: str,
    commit: str,
    digest: str | None,
    key: str,
) -> int:
    """Write summary.md; on GitHub also the job summary, annotations and outputs. Ends with the verdict's exit code.

    --comment, --check-run and --issue go through GitHub's API with the token in GITHUB_TOKEN or GH_TOKEN, after all
    that is local was written; when that fails, the exit code is 6, unless the verdict's own ranks higher.

    Example: ci-toolkit publish --out out --comment --check-run 'hardware gate'
    """
    import datetime
    import os

    from ci_toolkit.errors import ToolkitError, worst_exit
    from ci_toolkit.github.commands import defuse
    from ci_toolkit.model.text import one_line
    from ci_toolkit.publish.read import read_verdict, vouched_verdict
    from ci_toolkit.publish.write import publish

    path = verdict_file or out / "verdict.json"
    today = datetime.datetime.now(datetime.UTC).date()
    verdict = read_verdict(path) if digest is None else vouched_verdict(path, digest, today)
    if not (comment or check_run or issue or pull_request or for_head or commit or key):
        publish(verdict, out, os.environ)
        return verdict.exit_code

    from ci_toolkit.publish.remote import Wishes, publish_remotely

    wishes = Wishes(comment, check_run, issue, pull_request, for_head, key, commit)
    wishes.check()
    errors: list[ToolkitError] = []
    try:
        publish(verdict, out, os.environ)
    except ToolkitError as error:  # the step's own files; people still look at the pull request
        errors.append(error)
    errors += publish_remotely(verdict, wishes, os.environ, lambda line: click.echo(defuse(one_line(line))))
    for failed in errors:
        click.echo(f"ci-toolkit: error: {defuse(one_line(str(failed)))}", err=True)
    return worst_exit([verdict.exit_code, *(failed.exit_code for failed in errors)])
