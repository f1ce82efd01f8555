"""Options that several commands share."""

import datetime
import os
from pathlib import Path

import click

conf_option = click.option(
    "--conf",
    "conf_folder",
    type=click.Path(path_type=Path),
    default=Path("conf"),
    show_default=True,
    help="Folder with platforms.yml, suites.yml and ratchets/.",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out"),
    show_default=True,
    help="Folder for the plan, the evidence and the verdict.",
)
only_option = click.option(
    "--only", multiple=True, metavar="GLOB", help="Lanes by id; may be repeated. Only * is special."
)
full_option = click.option("--full", is_flag=True, help="Whole suites, not their samples.")
unit_option = click.option("--unit", "units", multiple=True, metavar="FILE", help="Only this test file of the suite.")
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
    show_default="processors",
    help="Workers at a time.",
)
fail_fast_option = click.option("--fail-fast", is_flag=True, help="End a lane at its first failure.")
plan_option = click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Run lanes of this plan.json; nothing is planned here.",
)
build_option = click.option(
    "--build",
    "build_folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="With --plan: what `builds take` left, and the subject is installed from.",
)
job_option = click.option("--job", metavar="ID", default="", help="With --plan: the lanes of this job.")
commit_option = click.option(
    "--commit", metavar="SHA", default="", help="The commit that must be checked out.  [default: whichever is]"
)
base_option = click.option(
    "--base",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Evidence of the merge base: what it shows too is inherited and does not block.",
)
today_option = click.option(
    "--today",
    type=click.DateTime(["%Y-%m-%d"]),
    default=lambda: datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
    show_default="today in UTC",
    help="The day that expiries are judged against.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
