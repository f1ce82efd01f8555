"""``ci-toolkit gate``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import base_option, conf_option, out_option, today_option


@click.command()
@click.option(
    "--plan", "plan_file", type=click.Path(path_type=Path, dir_okay=False), help="The plan.  [default: OUT/plan.json]"
)
@conf_option
@out_option
@base_option
@today_option
@click.option(
    "--verdict",
    "verdict_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the verdict.  [default: OUT/verdict.json]",
)
def command(
    plan_file: Path | None,
    conf_folder: Path,
    out: Path,
    base: Path | None,
    today: datetime.datetime,
    verdict_file: Path | None,
) -> int:
    """Judge the evidence under --out against the plan and the ratchets of --conf, and write verdict.json.

    Example: ci-toolkit gate --plan out/plan.json --out out
    """
    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.formats.documents import write_document
    from ci_toolkit.gates.judge import judge
    from ci_toolkit.publish.terminal import print_verdict
    from ci_toolkit.suites.collect import collect
    from ci_toolkit.suites.planning import read_plan

    plan = read_plan(plan_file or out / "plan.json")
    inputs = collect(plan, load_catalogue(conf_folder).by_id(), out, base)
    verdict = judge(plan, inputs, today.date())
    write_document(verdict_file or out / "verdict.json", verdict)
    print_verdict(verdict)
    return verdict.exit_code
