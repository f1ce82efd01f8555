"""``ci-toolkit ratchet``."""

import datetime
from pathlib import Path

import click

from ci_toolkit.cli.options import conf_option, json_option, today_option

LANE = click.argument("lane")
EVIDENCE = click.option(
    "--evidence",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    multiple=True,
    help="The evidence folder of a run of the whole lane, such as out/sparse-cpu/a1; one for each of its shards.",
)


@click.group()
def command() -> None:
    """Propose, accept, promote and show the reviewed expectations of suites.

    Example: ci-toolkit ratchet propose sparse-cpu --evidence out/sparse-cpu/a1
    """


@command.command()
@LANE
@EVIDENCE
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/proposals"), show_default=True)
@conf_option
@today_option
def propose(lane: str, evidence: tuple[Path, ...], out: Path, conf_folder: Path, today: datetime.datetime) -> int:
    """Write what a run would change in the ratchet of LANE, for a person to review.

    Example: ci-toolkit ratchet propose sparse-cpu --evidence out/sparse-cpu/a1
    """
    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.publish.terminal import print_change
    from ci_toolkit.suites.ratcheting import write_proposal

    print_change(write_proposal(load_catalogue(conf_folder).lane(lane), evidence, out, today.date()))
    return 0


@command.command()
@LANE
@click.argument("proposal", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--reason", required=True, help="Why these deviations are accepted; it is written into the ratchet.")
@click.option("--group", "groups", multiple=True, help="Take this group only; may be repeated.")
@conf_option
@today_option
def accept(
    lane: str, proposal: Path, reason: str, groups: tuple[str, ...], conf_folder: Path, today: datetime.datetime
) -> int:
    """Take the folder PROPOSAL into the ratchet of LANE.

    Example: ci-toolkit ratchet accept sparse-cpu out/proposals/sparse --reason 'the new oracle is stricter (#12)'
    """
    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.publish.terminal import print_change
    from ci_toolkit.suites.ratcheting import accept as take

    print_change(take(load_catalogue(conf_folder).lane(lane), proposal, reason, today.date(), groups))
    return 0


@command.command()
@LANE
@EVIDENCE
@conf_option
@today_option
def promote(lane: str, evidence: tuple[Path, ...], conf_folder: Path, today: datetime.datetime) -> int:
    """Delete the lines of cases that pass now, so that a later regression is seen.

    Example: ci-toolkit ratchet promote sparse-cpu --evidence out/sparse-cpu/a1
    """
    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.publish.terminal import print_change
    from ci_toolkit.suites.ratcheting import promote as promoted

    print_change(promoted(load_catalogue(conf_folder).lane(lane), evidence, today.date()))
    return 0


@command.command()
@click.option("--days", type=click.IntRange(min=0), default=0, help="Also what expires within so many days.")
@conf_option
@today_option
@json_option
def stale(days: int, conf_folder: Path, today: datetime.datetime, as_json: bool) -> int:
    """List entries that are expired, not reviewed, or name no member; ends with 1 when there is one.

    Example: ci-toolkit ratchet stale --days 30
    """
    import json

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.errors import GATE_FAILED
    from ci_toolkit.gates.overview import stale as gone_stale
    from ci_toolkit.suites.ratcheting import ratchets

    found = [
        line for ratchet in ratchets(load_catalogue(conf_folder)).values()
        for line in gone_stale(ratchet, today.date(), days)
    ]  # fmt: skip
    click.echo(json.dumps(found) if as_json else "\n".join(found) or "nothing is stale")
    return GATE_FAILED if found else 0


@command.command()
@conf_option
@json_option
def show(conf_folder: Path, as_json: bool) -> int:
    """Show each ratchet's groups with outcome, cases, expiry and reason.

    Example: ci-toolkit ratchet show
    """
    import dataclasses
    import json

    from ci_toolkit.catalogue.load import load_catalogue
    from ci_toolkit.gates.overview import rows
    from ci_toolkit.publish.terminal import print_ratchet
    from ci_toolkit.suites.ratcheting import ratchets

    found = {name: rows(ratchet) for name, ratchet in ratchets(load_catalogue(conf_folder)).items()}
    if as_json:
        click.echo(json.dumps({name: [dataclasses.asdict(row) for row in table] for name, table in found.items()}))
    else:
        for name, table in found.items():
            print_ratchet(name, table)
    return 0
