"""What is installed is read from the names of metadata folders, as importlib.metadata would name it."""

import importlib.metadata
import importlib.util
import re
import sys
from pathlib import Path

import ci_toolkit

spec = importlib.util.spec_from_file_location(
    "child_packages", Path(ci_toolkit.__file__).parent / "child" / "packages.py"
)
packages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(packages)


def test_it_agrees_with_the_standard_library():
    expected = {}
    for distribution in importlib.metadata.distributions(path=sys.path):
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()
        expected.setdefault(name, distribution.version)
    assert packages.installed(sys.path) == expected


def test_the_first_folder_wins_and_odd_names_are_read(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for entry in ("A.b_C-1.0+cpu.dist-info", "d-2-py3.8.egg-info", "dev.egg-info", "not-a-package", "empty.egg-info"):
        (first / entry).mkdir(parents=True)
    (second / "a_b.c-9.dist-info").mkdir(parents=True)
    (first / "dev.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: dev\nVersion: 0.1.dev3\n")
    folders = [str(first), str(second), str(tmp_path / "missing"), str(first / "d-2-py3.8.egg-info" / "x")]
    assert packages.installed(folders) == {"a-b-c": "1.0+cpu", "d": "2", "dev": "0.1.dev3", "empty": ""}
