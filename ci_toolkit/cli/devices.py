"""``ci-toolkit devices``."""

import click

from ci_toolkit.cli.devices_probe import command as probe_command
from ci_toolkit.cli.options import json_option

folder_option = click.option(
    "--leases", "folder", default="", metavar="DIR", help="Folder of leases, default the host's own."
)


@click.group()
def command() -> None:
    """List, prove and lease the accelerators of this machine."""


command.add_command(probe_command, "probe")


@command.command("list")
@folder_option
@json_option
def list_devices(folder: str, as_json: bool) -> None:
    """Show the devices of this machine, and who holds them since when.

    Example: ci-toolkit devices list --json
    """
    import json
    from pathlib import Path

    import msgspec

    from ci_toolkit.devices.leases import default_folder, holder_of
    from ci_toolkit.devices.registry import find, names
    from ci_toolkit.errors import UsageError
    from ci_toolkit.model.text import one_line
    from ci_toolkit.publish.terminal import print_table
    from ci_toolkit.workers.access import lease_id

    leases = Path(folder) if folder else default_folder()
    rows, absent = [], {}
    for name in names():
        try:
            module = find(name)
        except UsageError as error:  # a package that is broken hides no other device
            absent[name] = str(error)
            continue
        assert module is not None
        devices, reason = module.discover()
        if not devices:
            absent[name] = reason
        rows += [(device, holder_of(leases, lease_id(device))) for device in devices]
    if as_json:
        found = [{**msgspec.to_builtins(device), "holder": msgspec.to_builtins(holder)} for device, holder in rows]
        click.echo(json.dumps({"devices": found, "absent": absent}, indent=1))
        return
    table = [
        (
            f"{device.module} {device.index}",
            device.name,
            device.arch,
            f"{device.memory_bytes / (1 << 30):.0f} GiB" if device.memory_bytes else "",
            device.uuid,
            str(holder) if holder else "",
        )
        for device, holder in rows
    ]
    print_table(("device", "name", "arch", "memory", "id", "held by"), table)
    for name, reason in absent.items():
        click.echo(one_line(f"absent  {name}: {reason}"))


@command.command("lease", context_settings={"ignore_unknown_options": True})
@click.argument("module", metavar="MODULE")
@click.option("--count", type=click.IntRange(min=1), default=1, show_default=True, help="How many devices.")
@click.option("--wait", default="10m", show_default=True, metavar="DURATION", help="How long to wait for them.")
@folder_option
@click.argument("argv", nargs=-1, required=True, metavar="-- CMD...")
def lease(module: str, count: int, wait: str, folder: str, argv: tuple[str, ...]) -> int:
    """Hold devices for as long as CMD runs, and show it only these.

    Nobody else's run gets them meanwhile. Ends as CMD does; with 4 when no device gets free in time, and then says who
    holds them since when.

    Example: ci-toolkit devices lease cuda --count 2 -- python bench.py
    """
    from ci_toolkit.catalogue.quantities import seconds
    from ci_toolkit.devices.admission import Admission
    from ci_toolkit.devices.registry import available, find
    from ci_toolkit.errors import InfrastructureError, UsageError
    from ci_toolkit.github.commands import defuse
    from ci_toolkit.model.plan import ExpectedDevice
    from ci_toolkit.model.text import one_line
    from ci_toolkit.workers.access import access_to
    from ci_toolkit.workers.devices import DevicePool
    from ci_toolkit.workers.leased import run_leased
    from ci_toolkit.workers.stop import Stop

    try:
        policy = Admission(wait_s=seconds(wait))
    except ValueError as error:
        raise UsageError(f"--wait: {error}") from error
    devices, absent = available(ExpectedDevice(module=module, count=count))
    if absent:
        raise InfrastructureError(absent)
    found = find(module)
    assert found is not None
    pool = DevicePool(devices, access_to(found, folder, policy, f"command {argv[0]}"))
    with Stop().install() as stop:
        return run_leased(pool, count, argv, stop, lambda text: click.echo(defuse(one_line(text)), err=True))
