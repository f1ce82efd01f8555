"""What ``init`` found and did, in lines for people. Pure."""

from collections.abc import Iterator

from ci_toolkit.adoption.adopt import Adopted
from ci_toolkit.adoption.project import Project
from ci_toolkit.catalogue.load import Catalogue


def adopted_lines(adopted: Adopted) -> Iterator[str]:
    """One line for each thing that was found, left out, written or kept."""
    found, made = adopted.found, adopted.draft
    imports = ", ".join(found.project.packages)
    package = found.project.name or "without a name"
    yield f"package   {package}{f', imports {imports}' if imports else ''}"
    for inventory in found.inventories:
        yield f"inventory {inventory.file}: {_count(len(inventory.ids), 'operator')}"
    if found.layout.markers:
        yield f"markers   {_some(found.layout.markers)}"
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


def next_lines(project: Project, catalogue: Catalogue, conf: str) -> Iterator[str]:
    """The lanes that conf now has, and what comes next."""
    yield f"lanes     {_some([lane.lane.id for lane in catalogue.lanes])}"
    if project.guessed:
        names = ", ".join(f'"{name}*"' for name in project.packages)
        yield f"edit      pyproject.toml, for setuptools would take {conf} for a package:"
        yield f"          [tool.setuptools.packages.find]  include = [{names}]"
    yield f"next      bash {conf}/setup.sh"
    yield f"          ci-toolkit ci{'' if conf == 'conf' else f' --conf {conf}'}"


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _some(names: list[str] | tuple[str, ...], shown: int = 6) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
