"""What ``init`` found and did, in lines for people. Pure."""

from collections.abc import Iterator

from ci_toolkit.adoption.adopt import Adopted


def adopted_lines(adopted: Adopted, conf: str) -> tuple[str, ...]:
    """One line for each thing found, left out, written or kept, and for each command that comes next."""
    return tuple(_lines(adopted, conf))


def _lines(adopted: Adopted, conf: str) -> Iterator[str]:
    found, made = adopted.found, adopted.draft
    imports = ", ".join(found.project.packages)
    package = found.project.name or "without a name"
    yield f"package   {package}{f', imports {imports}' if imports else ''}"
    for inventory in found.inventories:
        yield f"inventory {inventory.file}: {_count(len(inventory.ids), 'operator')}"
    for suite in made.suites:
        yield f"suite     {suite.name}: {_count(suite.files, 'test file')} in {_some(suite.paths)}"
    for platform in made.platforms:
        why = f" ({platform.why})" if platform.why else ""
        yield f"platform  {platform.name}: {', '.join(platform.runs_on)}{why}"
    for note in made.notes:
        yield f"note      {note}"
    for name in adopted.written:
        yield f"wrote     {name}"
    for name in adopted.kept:
        yield f"kept      {name}: it is there already"
    yield f"lanes     {_some([lane.lane.id for lane in adopted.catalogue.lanes])}"
    yield f"next      bash {conf}/setup.sh"
    yield f"          ci-toolkit ci{'' if conf == 'conf' else f' --conf {conf}'}"


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _some(names: list[str] | tuple[str, ...], shown: int = 6) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
