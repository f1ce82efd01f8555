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
@click.option(
    "--uploads",
    type=click.Path(path_type=Path, file_okay=False),
    help="The downloaded artifacts, each in a folder of its name, instead of the evidence under --out.",
)
@click.option("--name", default="hardware", show_default=True, help="With --uploads: the plan's name in theirs.")
@click.option("--needs", metavar="JSON", default="", help="How the jobs ended: toJSON(needs).")
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
    uploads: Path | None,
    name: str,
    needs: str,
    base: Path | None,
    today: datetime.datetime,
    verdict_file: Path | None,
) -> int:
    """Judge the evidence against the plan and the ratchets of --conf, and write verdict.json.

    With --needs a job that was lost, skipped or cancelled is red whatever arrived, and so is a plan that is not the one
    that the job `plan` made.

    Example: ci-toolkit gate --plan out/plan.json --out out
    """
    import os

    from ci_toolkit.formats.documents import write_document
    from ci_toolkit.github.gating import Evidence, gate
    from ci_toolkit.publish.terminal import print_verdict

    given = Evidence(plan_file or out / "plan.json", out, uploads, name, base)
    verdict = gate(given, conf_folder, needs, today.date(), os.environ)
    out.mkdir(parents=True, exist_ok=True)
    write_document(verdict_file or out / "verdict.json", verdict)
    print_verdict(verdict)
    return verdict.exit_code
