"""The first ``platforms.yml``, ``suites.yml`` and ``selection.yml``, as text. Pure."""

from collections.abc import Iterable, Sequence

from ci_toolkit.adoption.draft import Platform, Row, Suite
from ci_toolkit.adoption.yaml_text import flow, scalar
from ci_toolkit.model.text import one_line

PYTHON = ".venv/bin/python"


def platforms_text(platforms: Iterable[Platform]) -> str:
    """``platforms.yml``."""
    return "\n".join(
        [
            "# The kinds of accelerator that the suites run on, and the labels of the runners that have them.",
            "schema: platforms/1",
            "",
            "platforms:",
            "\n".join(_platform(platform) for platform in platforms),
        ]
    )


def _platform(platform: Platform) -> str:
    why = [f"  # Found in {one_line(platform.why)}."] if platform.why else []
    lines = [*why, f"  {scalar(platform.name)}:", f"    device: {scalar(platform.device)}"]
    if platform.device != "cpu":
        lines += [
            f"    arch: {scalar(platform.arch)} # another architecture is another platform",
            "    count: 1 # devices that a lane leases",
        ]
    lines += [f"    python: {PYTHON} # setup.sh makes it", f"    runs_on: {flow(platform.runs_on)}", ""]
    return "\n".join(lines)


def suites_text(suites: Iterable[Suite], platforms: Sequence[str], subject: str, markers: Sequence[str]) -> str:
    """``suites.yml``; ``subject`` is the distribution under test, empty where none is installed."""
    lines = [
        "# What runs: one lane for each suite and platform. Paths are relative to the repository.",
        "# Every case must pass; what fails or is skipped today can be reviewed once into a ratchet:",
        "# make a folder ratchets/NAME here, write `ratchet: ratchets/NAME`, see `ci-toolkit ratchet propose --help`.",
    ]
    if len(platforms) > 1:
        lines.append("# A suite that needs a card names only the platforms that have one.")
    if markers:
        lines.append(f"# A part of the cases: `marker:` is pytest's -m. Declared: {', '.join(markers)}.")
    lines += ["schema: suites/1", "", "suites:"]
    for suite in suites:
        lines += [
            f"  {scalar(suite.name)}:{f' # {suite.what}' if suite.what else ''}",
            f"    platforms: {flow(platforms)}",
            f"    paths: {flow(suite.paths)}",
        ]
        if suite.exclude:
            lines.append(f"    exclude: {flow(suite.exclude)} # other suites run these, or none does")
        if subject:
            lines.append(f"    subject: {flow([subject])} # must be installed, and is named in the evidence")
        lines += ["    limits: {unit: 10m} # for one test file", ""]
    return "\n".join(lines)


def selection_text(rows: Iterable[Row]) -> str:
    """``selection.yml``."""
    lines = [
        "# Changed files of a pull request -> the suites that test them. What no path names runs everything.",
        "# A source file with tests of its own can run these alone:",
        '#   - {path: "src/ops/{op}.py", suites: [ops], units: ["tests/test_{op}.py"]}',
        "schema: selection/1",
        "",
    ]
    listed = [f"  - {{path: {scalar(row.path)}, suites: {flow(row.suites)}}}" for row in rows]
    return "\n".join([*lines, *(["paths:", *listed] if listed else ["paths: []"]), ""])
