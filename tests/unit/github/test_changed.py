"""What changed, asked of a real git; what git can not say is unknown and never empty."""

import subprocess
from pathlib import Path

import pytest

from ci_toolkit.github.changed import changed_since, tracked_files


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "a.py", "one\n" * 20)
    return tmp_path


def git(folder: Path, *args: str) -> str:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *own, *args], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, name: str, text: str) -> str:
    folder.joinpath(name).write_text(text, encoding="utf-8")
    git(folder, "add", "--", name)
    git(folder, "commit", "-q", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def test_only_what_the_branch_changed_counts(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "-b", "topic")
    commit(repository, "b \n.py", "b")
    git(repository, "checkout", "-q", "main")
    ahead = commit(repository, "c.py", "c")
    git(repository, "checkout", "-q", "topic")
    found = changed_since(repository, ahead)
    assert found.files == ("b \n.py",)
    assert found.base == base
    assert tracked_files(repository) == {"a.py", "b \n.py"}


def test_a_renamed_file_counts_under_both_names(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "mv", "a.py", "z.py")
    git(repository, "commit", "-q", "-m", "x")
    assert changed_since(repository, base).files == ("a.py", "z.py")


@pytest.mark.parametrize("base", ["", "0123456789012345678901234567890123456789", "--output=x", "no-such-branch"])
def test_no_base_is_unknown(repository: Path, base: str) -> None:
    found = changed_since(repository, base)
    assert found.files is None
    assert found.why


def test_no_repository_is_unknown(tmp_path: Path) -> None:
    assert changed_since(tmp_path, "HEAD").files is None
    assert tracked_files(tmp_path) == frozenset()
