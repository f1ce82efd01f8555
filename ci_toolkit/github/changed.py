"""The files that a run changes, asked of git; what git can not say is unknown, never empty."""

from pathlib import Path

from ci_toolkit.github.provenance import git_output
from ci_toolkit.plan.event import Changes


def changed_since(base: Path, commit: str) -> Changes:
    """The files that differ between the merge base with ``commit`` and HEAD; a renamed file counts under both names."""
    if not commit:
        return Changes(None, why="the event has no base")
    if commit.startswith("-"):
        return Changes(None, why=f"{commit!r} is no commit")
    fork = git_output(base, "merge-base", commit, "HEAD")
    if fork is None:
        return Changes(None, commit, f"this checkout has no merge base with {commit} (fetch-depth: 0 gives it)")
    fork = fork.strip()
    listed = git_output(base, "diff", "--name-only", "--no-renames", "-z", fork, "HEAD")
    if listed is None:
        return Changes(None, fork, f"git can not compare HEAD with {fork}")
    return Changes(tuple(name for name in listed.split("\0") if name), fork)


def tracked_files(base: Path) -> frozenset[str]:
    """The files of the repository that ``base`` is the root of; none where git can not say."""
    listed = git_output(base, "ls-files", "-z")
    return frozenset(name for name in (listed or "").split("\0") if name)
