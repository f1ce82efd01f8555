"""The child runs in every interpreter from Python 3.8 on, and adds nothing to what a subject sees."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ci_toolkit
from ci_toolkit.model.report import WorkerEnd

VERSIONS = [f"3.{minor}" for minor in range(8, 15)]


@functools.cache
def interpreter(version: str) -> str:
    """A CPython of that version which really starts: on the path, under pyenv, or this one."""
    pyenv = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    places = [
        *sorted(map(str, Path(pyenv).glob(f"versions/{version}*/bin/python"))),
        shutil.which(f"python{version}") or "",
    ]
    for place in filter(None, places):
        if re.search(rf"/{re.escape(version)}(\.\d+)?/bin", place) or "versions" not in place:
            found = subprocess.run(
                [place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True
            )
            if found.stdout.decode().strip() == version:
                return place
    return ""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_worker_runs_under(bench, version):
    python = interpreter(version)
    if not python:
        pytest.skip(f"no Python {version} on this machine")
    ended = bench.run("import sys; print(sys.version_info[:2]); sys.exit(5)", interpreter=python)
    assert (ended.worker.end, ended.worker.exit_code, ended.message) == (WorkerEnd.COMPLETED, 5, "")
    hello = bench.events()[0]
    assert hello["python"].startswith(version + ".")
    assert hello["implementation"] == "CPython"
    crashed = bench.run("import ctypes; ctypes.string_at(0)", number=2, interpreter=python)
    assert crashed.message == "ended by SIGSEGV"
    assert "string_at" in bench.stderr(2)


def test_the_child_is_written_in_python_3_8():
    child = Path(ci_toolkit.__file__).parent / "child"
    checked = subprocess.run(
        [sys.executable, "-c", "import vermin; vermin.main()", "-t=3.8-", "--no-tips", "--violations", str(child)],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("flags", [(), ("-P",), ("-I",), ("-s", "-X", "dev")])
def test_a_subject_sees_nothing_of_the_toolkit(bench, flags):
    bench.run(
        """
        import json, sys, threading
        print(json.dumps([sys.path, sys.argv[1:], [name for name in sys.modules if "ci_toolkit" in name]]))
        """,
        flags=flags,
    )
    path, arguments, modules = json.loads(bench.stdout())
    script_folder = Path(ci_toolkit.__file__).parent / "child"
    assert not [entry for entry in path if Path(entry) in (script_folder, script_folder.parent)]
    assert "" not in path
    plain = subprocess.run(
        [sys.executable, *flags, "-c", "import sys, json; print(json.dumps(sys.path))"],
        capture_output=True,
        env={"PYTHONNOUSERSITE": "1"},
    )
    assert path == [entry for entry in json.loads(plain.stdout) if entry]
    assert arguments == []
    assert all(name.startswith("_ci_toolkit_child") for name in modules)
    assert bench.stderr() == ""


def test_multiprocessing_by_spawn_works_in_a_worker(bench):
    (bench.folder / "helper.py").write_text("def double(number):\n    return 2 * number\n")
    bench.run("""
        import multiprocessing, sys
        if __name__ == "__main__":
            sys.path.insert(0, ".")
            import helper
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(helper.double, [1, 2]))
    """)
    assert bench.stdout() == b"[2, 4]\n"
