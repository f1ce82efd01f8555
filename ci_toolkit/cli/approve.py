"""``ci-toolkit approve``."""

import click


@click.command()
def command() -> int:
    """Decide whether the comment that started this run approves a commit: `/ci run SHA [--only GLOB]... [--tier NAME]`.

    The comment must be as it was first written, by a person with write permission, on an open pull request whose head
    is that SHA; GitHub is asked for each of these. The person gets an answer as a comment. The step's outputs are run
    (true or false), commit, pull, plan-args and check-run. A refusal ends with 0, a remote failure with 6; both run
    nothing. The token is in GITHUB_TOKEN or GH_TOKEN.

    Example: ci-toolkit approve
    """
    import os

    from ci_toolkit.github.commands import defuse
    from ci_toolkit.model.text import one_line
    from ci_toolkit.publish.answer import answer

    def tell(line: str) -> None:
        click.echo(defuse(one_line(line)))

    tell(answer(os.environ, tell).line)
    return 0
