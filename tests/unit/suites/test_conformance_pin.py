"""The upstream is the one that conf pins, or nothing of it runs."""

import subprocess
from pathlib import Path

import pytest

from ci_toolkit.catalogue.conformance import UpstreamConf
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.suites.conformance.pin import upstream_files, wrong_pin


def git(folder: Path, *args: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *args], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("up/__init__.py", "up/core.py", "up/tests/test_a.py", "tests/test_b.py", "other/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    cache = tmp_path / "up/__pycache__"
    cache.mkdir()
    (cache / "core.cpython-311.pyc").write_bytes(b"x")
    return tmp_path


def files(root: Path, **pin: str) -> tuple[UpstreamConf, dict[str, str]]:
    upstream = UpstreamConf(name="up.core", tests=("up/tests", "tests/test_b.py"), **pin)
    return upstream, upstream_files(upstream, root)


def test_the_package_and_the_tests_are_hashed_and_no_cache(root: Path) -> None:
    _, found = files(root)
    assert list(found) == ["tests/test_b.py", "up/__init__.py", "up/core.py", "up/tests/test_a.py"]


@pytest.mark.parametrize("name", ["up/core.py", "up/tests/test_a.py", "tests/test_b.py", "up/new.py"])
def test_a_distribution_with_another_file_is_another_one(root: Path, name: str) -> None:
    upstream, found = files(root)
    pinned = UpstreamConf(name="up", tests=upstream.tests, digest=digest_of(found))
    assert wrong_pin(pinned, root, found) == ""
    (root / name).write_text("edited\n")
    _, now = files(root)
    assert wrong_pin(pinned, root, now) == f"the upstream's digest is {digest_of(now)}, conf pins {digest_of(found)}"


def test_a_checkout_is_at_its_commit_and_without_edits(root: Path) -> None:
    git(root, "init", "-q")
    git(root, "add", "up", "tests")
    git(root, "commit", "-qm", "first")
    commit = git(root, "rev-parse", "HEAD")
    upstream, found = files(root, commit=commit)
    assert wrong_pin(upstream, root, found) == ""
    (root / "untracked").write_text("x")
    assert wrong_pin(upstream, root, found) == ""
    (root / "up/core.py").write_text("edited\n")
    assert wrong_pin(upstream, root, found) == "the upstream's checkout has edits: up/core.py"
    git(root, "commit", "-qam", "second")
    assert f"is at {git(root, 'rev-parse', 'HEAD')}, conf pins {commit}" in wrong_pin(upstream, root, found)


def test_a_folder_that_is_no_checkout_is_not_the_pinned_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    upstream, found = files(root, commit="a" * 40)
    assert wrong_pin(upstream, root, found) == f"the upstream's checkout is at no commit, conf pins {'a' * 40}"
