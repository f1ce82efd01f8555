"""``ci-toolkit manifest``."""

from pathlib import Path

import click

from ci_toolkit.cli.options import json_option

FOLDER = click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))


@click.group()
def command() -> None:
    """Create and verify manifests: path, size and SHA-256 of every file of a folder.

    Example: ci-toolkit manifest verify out/sparse-cpu/a1
    """


@command.command()
@FOLDER
def create(folder: Path) -> int:
    """Write FOLDER/manifest.json.

    Example: ci-toolkit manifest create wheels
    """
    from ci_toolkit.formats.manifest import create_manifest

    manifest = create_manifest(folder)
    click.echo(f"{folder / 'manifest.json'}: {len(manifest.files)} files")
    return 0


@command.command()
@FOLDER
@json_option
def verify(folder: Path, as_json: bool) -> int:
    """Compare FOLDER with its manifest; ends with 3 when a file is changed, missing or new.

    Example: ci-toolkit manifest verify out/sparse-cpu/a1
    """
    import json

    from ci_toolkit.errors import BAD_EVIDENCE
    from ci_toolkit.formats.manifest import check_manifest
    from ci_toolkit.github.commands import defuse

    faults = check_manifest(folder)
    if as_json:
        click.echo(json.dumps({"folder": str(folder), "faults": faults}))
    else:
        click.echo(defuse("\n".join(faults) or f"{folder}: as its manifest says"))
    return BAD_EVIDENCE if faults else 0
