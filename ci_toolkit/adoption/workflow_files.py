"""The two workflows of a repository that uses the toolkit, as text. Pure."""

from ci_toolkit.adoption.toolkit import Toolkit
from ci_toolkit.adoption.yaml_text import flow, scalar

PULL_REQUEST = """\
name: Hardware CI
# What gates a merge: the lanes that the change selects. Require the check `hardware / hardware / gate`.

on:
  pull_request:
  merge_group:
  push:
    branches: {branches}

permissions: {{}}

concurrency:
  # Each commit of a branch is judged; of a pull request only the newest.
  group: hardware-ci-${{{{ github.event.pull_request.number || github.sha }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}

jobs:
  hardware:
    name: hardware
    permissions:
      actions: read # whether the environment that approves code of forks has reviewers
      checks: write # annotations at the lines that failed
      contents: read
      pull-requests: write # one comment
    uses: {uses}
    with:
      conf: {conf}
      setup: {setup}
      # Code of a fork is not run until one of this environment's required reviewers has approved it:
      # fork-environment: NAME
"""
NIGHTLY = """\
name: Hardware nightly
# All suites whole, on all platforms. One issue is kept while they are red.

on:
  schedule:
    - cron: "23 2 * * *"
  workflow_dispatch:

permissions: {{}}

concurrency:
  group: hardware-nightly
  cancel-in-progress: false

jobs:
  hardware:
    name: hardware
    permissions:
      actions: read # asked for by the matrix of lanes; nothing is approved here
      contents: read
      issues: write # the issue
    uses: {uses}
    with:
      conf: {conf}
      setup: {setup}
"""
# A tag follows the fixes of the toolkit; whether a commit is better is for the user to say, with --toolkit.
_BY_NAME = " # zizmor: ignore[unpinned-uses] a tag gets the toolkit's fixes; pin a commit with init --toolkit"


def pull_request_text(toolkit: Toolkit, conf: str, branch: str) -> str:
    """``hardware-ci.yml``."""
    return PULL_REQUEST.format(branches=flow([branch]), **_call(toolkit, "pr.yml", conf))


def nightly_text(toolkit: Toolkit, conf: str) -> str:
    """``hardware-nightly.yml``."""
    return NIGHTLY.format(**_call(toolkit, "nightly.yml", conf))


def _call(toolkit: Toolkit, workflow: str, conf: str) -> dict[str, str]:
    uses = f"{toolkit.repository}/.github/workflows/{workflow}@{toolkit.ref}"
    return {
        "uses": uses + ("" if toolkit.is_pinned else _BY_NAME),
        "conf": scalar(conf),
        "setup": scalar(f"{conf}/setup.sh"),
    }
