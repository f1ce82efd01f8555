"""``ci-toolkit doctor``."""

from pathlib import Path

import click
from click.core import ParameterSource

from ci_toolkit.cli.options import conf_option, json_option


@click.command()
@conf_option
@click.option("--only", multiple=True, metavar="GLOB", help="Platforms of conf that must be here; may be repeated.")
@click.option("--clean", is_flag=True, help="First end what earlier runs of ours left, whose host is gone.")
@json_option
@click.pass_context
def command(ctx: click.Context, conf_folder: Path, only: tuple[str, ...], clean: bool, as_json: bool) -> int:
    """Examine this runner: machine, disks, network, devices, and the interpreters of conf's platforms.

    Each line says what was found and what to do about it. Exit code 4 tells that something is missing which a platform
    needs here: its interpreter, its devices, disk. Platforms of other runners count only when --only names them. Every
    look is bounded, also into a driver, a drive or a proxy that does not answer. --clean ends processes that carry the
    mark of a run of yours whose host process is gone, and their children; all others are only reported.

    Example: ci-toolkit doctor --only 'cuda*'
    """
    import os

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.doctor.examine import Examiner
    from ci_toolkit.doctor.platforms import asked
    from ci_toolkit.errors import INFRASTRUCTURE, InterruptedRunError
    from ci_toolkit.formats.documents import document_bytes
    from ci_toolkit.publish.runner import print_profile
    from ci_toolkit.workers.hygiene import NOTHING, end_orphans
    from ci_toolkit.workers.stop import Stop

    # A bare runner has no checkout yet; a folder that was named must be there.
    bare = ctx.get_parameter_source("conf_folder") is ParameterSource.DEFAULT and not conf_folder.exists() and not only
    lanes = () if bare else load_catalogue(conf_folder).lanes
    workspace = os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd())
    with Stop().install() as stop:
        cleaned = end_orphans() if clean else NOTHING
        examiner = Examiner(asked(lanes, only), workspace, os.environ, lambda: bool(stop), cleaned=cleaned)
        profile = examiner.profile()
        if stop:
            raise InterruptedRunError(f"interrupted ({stop.reason})")
    if as_json:
        click.echo(document_bytes(profile))
    else:
        print_profile(profile, os.environ)
    return 0 if profile.is_fit else INFRASTRUCTURE
