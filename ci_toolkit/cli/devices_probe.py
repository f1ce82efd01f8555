"""``ci-toolkit devices probe``."""

import click

from ci_toolkit.cli.options import json_option


@click.command()
@click.argument("module", metavar="MODULE")
@click.option("--python", "interpreter", default="", metavar="PATH", help="The subject's interpreter, default our own.")
@click.option("--count", type=click.IntRange(min=1), help="How many devices, default all of them.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1),
    default=120.0,
    show_default=True,
    help="Seconds it may take.",
)
@json_option
def command(module: str, interpreter: str, count: int | None, timeout_s: float, as_json: bool) -> int:
    """Run a small kernel on each device of a kind, in the subject's interpreter, and check its result.

    It proves that the devices which a worker would use are those that it would be given. Exit code 4 tells that it
    does not, with the reason.

    Example: ci-toolkit devices probe cuda --python .venv/bin/python
    """
    import json
    import os
    import tempfile
    from dataclasses import asdict

    import msgspec

    from ci_toolkit.devices.probe import probe
    from ci_toolkit.devices.registry import available, find
    from ci_toolkit.errors import INFRASTRUCTURE, InfrastructureError
    from ci_toolkit.model.plan import ExpectedDevice
    from ci_toolkit.model.text import one_line
    from ci_toolkit.workers.environment import worker_environment

    devices, reason = available(ExpectedDevice(module=module, count=count or 1))
    if reason:
        raise InfrastructureError(reason)
    for note in getattr(find(module), "notes", tuple)():
        click.echo(f"note: {one_line(note)}", err=True)
    with tempfile.TemporaryDirectory(prefix="ct-") as temporary:
        env = worker_environment(os.environ, (), {}, temporary)
        found = probe(module, devices[:count], interpreter, (), env, timeout_s)
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(asdict(found)), indent=1))
        return INFRASTRUCTURE if found.reason else 0
    found.require()
    for device in found.asked:
        click.echo(f"proven  {module} {device.index}: {one_line(device.name)} {device.arch} {device.uuid}".rstrip())
    torch = f", torch {found.torch} for CUDA {found.runtime}" if found.torch else ""
    click.echo(one_line(f"with    Python {found.python}{torch}"))
    return 0
