"""The script that installs the subject on a runner, as text. Pure."""

import shlex

from ci_toolkit.adoption.project import Project

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
        wanted += ["-e", shlex.quote(f".[{project.extra}]" if project.extra else ".")]
    lines = []
    if project.group:
        lines.append(f"{pip} --upgrade 'pip>=25.1' # the first that knows dependency groups")
        wanted += ["--group", shlex.quote(project.group)]
    if project.requirements:
        wanted += ["-r", shlex.quote(project.requirements)]
    return SCRIPT.format(pip="\n".join([*lines, " ".join([pip, *wanted, "pytest"])]))
