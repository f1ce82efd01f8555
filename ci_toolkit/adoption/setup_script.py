"""The script that installs the subject on a runner, as text. Pure."""

import re
import shlex

from ci_toolkit.adoption.project import Project

_EXTRA = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
SCRIPT = """\
#!/usr/bin/env bash
# Installs what the tests need into .venv: here before `ci-toolkit ci`, and on each runner before its lanes.
# PYTHON chooses the interpreter, PIP_* say where packages come from.
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")/.."

test -x .venv/bin/python || "${{PYTHON:-python3}}" -m venv .venv
{pip}
"""


def setup_text(project: Project) -> str:
    """``setup.sh``."""
    pip = ".venv/bin/python -m pip install --disable-pip-version-check"
    wanted = []
    if project.installable:
        extra = f"[{project.extra}]" if _EXTRA.fullmatch(project.extra) else ""
        wanted += ["-e", shlex.quote(f".{extra}")]
    lines = []
    if project.group:
        lines.append(f"{pip} --upgrade 'pip>=25.1' # the first that knows dependency groups")
        wanted += ["--group", shlex.quote(project.group)]
    if project.requirements:
        wanted += ["-r", shlex.quote(project.requirements)]
    return SCRIPT.format(pip="\n".join([*lines, " ".join([pip, *wanted, "pytest"])]))
