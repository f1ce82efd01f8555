"""The ``ci-toolkit`` command: loads each subcommand only when it is called, and ends every error in one line."""

import importlib
import io
import os
import sys

import click

from ci_toolkit.errors import INTERRUPTED, ToolkitError

COMMANDS = {
    "ci": ("ci_toolkit.cli.ci", "Plan, run, gate and publish on this machine."),
    "plan": ("ci_toolkit.cli.plan", "Write plan.json: the lanes to run, and those left out."),
    "run": ("ci_toolkit.cli.run", "Run lanes and write their evidence."),
    "gate": ("ci_toolkit.cli.gate", "Judge evidence against the plan and the ratchets."),
    "publish": ("ci_toolkit.cli.publish", "Write the summary and the annotations of a verdict."),
    "approve": ("ci_toolkit.cli.approve", "Decide about a comment that asks for a run."),
    "ratchet": ("ci_toolkit.cli.ratchet", "Propose, accept, promote and show expectations."),
    "reproduce": ("ci_toolkit.cli.reproduce", "Print the command that reproduces a case."),
    "devices": ("ci_toolkit.cli.devices", "List, prove and lease the accelerators of this machine."),
    "builds": ("ci_toolkit.cli.builds", "Build the subject once, and hand it to the lanes that test it."),
    "doctor": ("ci_toolkit.cli.doctor", "Examine this runner: machine, network, devices, interpreters."),
    "durations": ("ci_toolkit.cli.durations", "Keep how long units take, to start the long ones first."),
    "manifest": ("ci_toolkit.cli.manifest", "Create and verify manifests of evidence."),
    "junit": ("ci_toolkit.cli.junit", "Merge and check JUnit XML files."),
    "init": ("ci_toolkit.cli.init", "Write a repository's first conf and workflows, or tell what drifted."),
    "config": ("ci_toolkit.cli.config", "Show effective conf, or its JSON schema."),
}
"""Command -> (module that holds a click command named ``command``, its line in the help)."""


class LazyGroup(click.Group):
    """A group that knows its commands' names and help lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[name][0])
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ci-toolkit")
def group() -> None:
    """Hardware CI for accelerator libraries.

    Example: ci-toolkit ci --out out
    """


def main() -> None:
    """Entry point. Exit codes are those of ``ci_toolkit.errors``; CI_TOOLKIT_TRACEBACK=1 shows where an error rose."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a log in a narrow encoding shows the rest escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        code = group.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("ci-toolkit: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except ToolkitError as error:
        if os.environ.get("CI_TOOLKIT_TRACEBACK"):
            raise
        from ci_toolkit.github.commands import defuse
        from ci_toolkit.model.text import one_line

        click.echo(f"ci-toolkit: error: {defuse(one_line(str(error)))}", err=True)
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else 0)
