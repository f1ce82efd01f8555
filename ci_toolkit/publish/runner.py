"""A runner's profile on a terminal or in a log, and as annotations where GitHub reads along."""

import sys
from collections.abc import Mapping

from ci_toolkit.github.commands import command, on_github
from ci_toolkit.model.profile import Profile, Result
from ci_toolkit.publish.annotations import PER_STEP
from ci_toolkit.publish.terminal import print_line, print_table

LEVELS = {Result.FAILED: "error", Result.WARNING: "warning"}
STYLES = {Result.OK: "", Result.FAILED: "red", Result.WARNING: "yellow"}


def print_profile(profile: Profile, environ: Mapping[str, str]) -> None:
    """A line for each check, the platforms of other runners, and in the last line whether the runner is fit."""
    if on_github(environ):
        for result, level in LEVELS.items():
            for check in [check for check in profile.checks if check.result is result][:PER_STEP]:
                text = "; ".join(filter(None, (check.found, check.advice)))
                sys.stdout.write(f"{command(level, text, title=f'{profile.runner or profile.host}: {check.name}')}\n")
        sys.stdout.flush()
    rows = [(check.name, check.result, check.found, check.advice) for check in profile.checks]
    styles = [STYLES[check.result] for check in profile.checks]
    print_table(("check", "result", "found", "to do"), rows, styles)
    for name, value in profile.proxies.items():
        print_line(f"proxy     {name}={value}")
    for name, why in profile.elsewhere.items():
        print_line(f"elsewhere {name}: {why}")
    failed = [check.name for check in profile.checks if check.result is Result.FAILED]
    warned = sum(check.result is Result.WARNING for check in profile.checks)
    besides = f"; {warned} {'warning' if warned == 1 else 'warnings'}" if warned else ""
    if failed:
        print_line(f"NOT FIT: {', '.join(failed)}{besides}", "bold red")
    else:
        print_line(f"FIT: nothing is missing that a platform needs here{besides}", "bold green")
