"""All that a look at a repository finds."""

from dataclasses import dataclass
from pathlib import Path

from ci_toolkit.adoption.layout import Layout, find_tests, find_yaml, read_layout, roots
from ci_toolkit.adoption.operators import Inventory, files_of, read_inventory
from ci_toolkit.adoption.project import Project, read_project
from ci_toolkit.adoption.scenes import is_scene
from ci_toolkit.adoption.sources import read_text
from ci_toolkit.adoption.workflows import Workflows, read_workflows
from ci_toolkit.errors import UsageError
from ci_toolkit.github.provenance import git_output
from ci_toolkit.suites.pytest.files import TEST_FILES


@dataclass(frozen=True)
class Repository:
    """What a repository has.

    ``tests`` are all that look like test files, of which ``scenes`` and ``operators`` are special ones. ``roots``
    are the files and folders that its pytest conf names. ``notes`` say what was seen and left out.
    """

    project: Project
    layout: Layout
    workflows: Workflows
    tests: tuple[str, ...]
    roots: tuple[str, ...] = ()
    scenes: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    inventories: tuple[Inventory, ...] = ()
    branch: str = "main"
    notes: tuple[str, ...] = ()


def look(folder: Path) -> Repository:
    """Looks at the repository in ``folder``; nothing of it is run. Raises UsageError for a file that is malformed."""
    layout = read_layout(folder)
    tests = find_tests(folder, layout)
    texts = {file: _text(folder, file) for file in tests}
    scenes = frozenset(file for file in tests if is_scene(file, texts[file]))
    inventories, notes = _inventories(folder)
    ids = [identity for inventory in inventories for identity in inventory.ids]
    others = [file for file in tests if file not in scenes]
    return Repository(
        project=read_project(folder),
        layout=layout,
        workflows=read_workflows(folder),
        tests=tests,
        roots=roots(folder, layout),
        scenes=scenes,
        operators=files_of(ids, others, texts),
        inventories=inventories,
        branch=_default_branch(folder),
        notes=(*notes, *(f"python_files {name}: only {' and '.join(TEST_FILES)} are found" for name in layout.others)),
    )


def _inventories(folder: Path) -> tuple[tuple[Inventory, ...], tuple[str, ...]]:
    found: list[Inventory] = []
    notes: list[str] = []
    for name in find_yaml(folder):
        try:
            inventory = read_inventory(folder, name)
        except UsageError as error:  # a template, perhaps: it does not keep a repository out
            notes.append(f"{error}: it is not read as a list of operators")
            continue
        if inventory:
            found.append(inventory)
    return tuple(found), tuple(notes)


def _text(folder: Path, file: str) -> str:
    """A test file's text, or nothing: what is wrong with it is for pytest to say."""
    try:
        return read_text(folder, file) or ""
    except UsageError:
        return ""


def _default_branch(folder: Path) -> str:
    head = git_output(folder, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if head:
        return head.strip().partition("/")[2]
    known = (git_output(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads") or "").split("\n")
    current = (git_output(folder, "symbolic-ref", "--short", "HEAD") or "").strip()
    return next((name for name in ("main", "master") if name in known), current or "main")
