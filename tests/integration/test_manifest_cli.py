"""``ci-toolkit manifest`` as people and workflows call it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def toolkit(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ci_toolkit", "manifest", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("lane/report.json", "lane/workers/001/stdout.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path


def test_create_then_verify(folder: Path) -> None:
    assert toolkit(folder, "create", "lane").stdout == "lane/manifest.json: 2 files\n"
    done = toolkit(folder, "verify", "lane")
    assert (done.returncode, done.stdout) == (0, "lane: as its manifest says\n")


def test_each_difference_is_named_and_ends_with_3(folder: Path) -> None:
    toolkit(folder, "create", "lane")
    (folder / "lane" / "report.json").unlink()
    (folder / "lane" / "workers/001/stdout.log").write_text("lane/workers/001/stdout.LOG")
    (folder / "lane" / "more").write_text("")
    done = toolkit(folder, "verify", "lane")
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        "more: is not in the manifest",
        "report.json: is missing",
        "workers/001/stdout.log: was changed after its manifest was written",
    ]
    asked = toolkit(folder, "verify", "lane", "--json")
    assert asked.returncode == 3
    assert json.loads(asked.stdout) == {"folder": "lane", "faults": done.stdout.splitlines()}


def test_a_name_can_not_give_commands_to_a_workflow(folder: Path) -> None:
    toolkit(folder, "create", "lane")
    (folder / "lane" / "::error::x\x1b[1m").touch()
    done = toolkit(folder, "verify", "lane")
    assert done.returncode == 3
    assert done.stdout == ": :error::x: is not in the manifest\n"


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"schema": "manifest/2", "files": []}'])
def test_a_manifest_that_can_not_be_read_ends_with_3(folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / "lane" / "manifest.json").write_text(text)
    done = toolkit(folder, "verify", "lane")
    assert done.returncode == 3
    assert done.stderr.startswith("ci-toolkit: error: lane/manifest.json: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("spoil", [lambda lane: (lane / "a:b").touch(), lambda lane: os.mkfifo(lane / "pipe")])
def test_what_can_not_travel_ends_with_2(folder: Path, spoil) -> None:
    spoil(folder / "lane")
    done = toolkit(folder, "create", "lane")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert not (folder / "lane" / "manifest.json").exists()


def test_a_folder_that_is_not_there(folder: Path) -> None:
    done = toolkit(folder, "verify", "nowhere")
    assert done.returncode == 2
    assert "nowhere" in done.stderr


@pytest.mark.parametrize("args", [["--help"], ["create", "--help"], ["verify", "--help"]])
def test_help_has_an_example(folder: Path, args: list[str]) -> None:
    assert "Example: ci-toolkit manifest" in toolkit(folder, *args).stdout
