"""``ci-toolkit builds``."""

from pathlib import Path

import click

from ci_toolkit.cli.options import commit_option, conf_option

BUILD = click.argument("build")
OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out/build"),
    show_default=True,
    help="The folder of the build; it must be new.",
)


@click.group()
def command() -> None:
    """Make builds of the subject that conf/builds.yml names, and take those that other jobs have made.

    Example: ci-toolkit builds make wheel
    """


@command.command()
@BUILD
@click.option("--plan", "plan_file", type=click.Path(path_type=Path, dir_okay=False), help="The plan that needs it.")
@commit_option
@conf_option
@OUT
def make(build: str, plan_file: Path | None, commit: str, conf_folder: Path, out: Path) -> int:
    """Run BUILD's command and seal what it leaves, or why it left nothing, in OUT/build.json.

    The command finds in CI_TOOLKIT_BUILD_OUT the folder for its files. Ends with 1 when it failed.

    Example: ci-toolkit builds make wheel --out out/build
    """
    import os
    import sys

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.catalogue.yaml_file import dangling
    from ci_toolkit.errors import GATE_FAILED, INTERRUPTED, PASSED, Where
    from ci_toolkit.github.commands import command as github_command
    from ci_toolkit.github.commands import commands_stopped, defuse, on_github
    from ci_toolkit.github.planning import provenance_of_build
    from ci_toolkit.suites.building import make_build
    from ci_toolkit.suites.planning import part_of_plan
    from ci_toolkit.workers.stop import Stop

    catalogue = load_catalogue(conf_folder)
    if build not in catalogue.builds:
        raise dangling(Where(str(conf_folder / "builds.yml")), "build", build, catalogue.builds)
    plan = part_of_plan(plan_file, catalogue) if plan_file else None
    provenance = provenance_of_build(plan, catalogue, os.environ, commit)
    with Stop().install() as stop, commands_stopped(sys.stdout, os.environ):
        base = conf_folder.resolve().parent
        built = make_build(catalogue.builds[build], base, out, provenance, os.environ, stop)
    if not built.failed:
        click.echo(f"built {build} in {built.seconds:.1f} s: sha256:{built.digest}")
        return PASSED
    if on_github(os.environ):
        click.echo(github_command("error", built.failed, title=f"build failed · {build}"))
    click.echo(defuse(f"FAILED: {built.failed}"))
    return INTERRUPTED if stop else GATE_FAILED


@command.command()
@BUILD
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The plan that needs it.",
)
@click.option(
    "--uploads",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The downloaded artifacts of builds, each in a folder of its name.",
)
@click.option("--name", default="hardware", show_default=True, help="The plan's name in those of the artifacts.")
@conf_option
@OUT
def take(build: str, plan_file: Path, uploads: Path, name: str, conf_folder: Path, out: Path) -> int:
    """Move BUILD, as the newest attempt has made it, from the downloaded artifacts to OUT; its files are in OUT/files.

    Ends with 3 when it is not there, was changed on the way, or is of another commit or plan.

    Example: ci-toolkit builds take wheel --plan plan/plan.json --uploads builds
    """
    import os

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.github.planning import attempt_here
    from ci_toolkit.suites.builds import take_build
    from ci_toolkit.suites.planning import part_of_plan

    plan = part_of_plan(plan_file, load_catalogue(conf_folder))
    built = take_build(plan, build, uploads, name, attempt_here(plan, os.environ), out)
    click.echo(f"{out / 'files'}: the build {build}, sha256:{built.digest}")
    return 0
