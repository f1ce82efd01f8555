"""The keeper finds its descendants on kernels with and without lists of children."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ci_toolkit

BOOTSTRAP = Path(ci_toolkit.__file__).parent / "child" / "bootstrap.py"

PROGRAM = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import bootstrap
tree = bootstrap.load("tree", {folder!r})
if {scan!r}:
    tree._children = lambda pid: None
tree.adopt_orphans()
ready, started = os.pipe()
if os.fork() == 0:
    os.setsid()
    middle = os.getpid()
    if os.fork() == 0:
        if os.fork() == 0:
            os.write(started, b"leaf %d\\n" % os.getpid())
            signal.pause()
        os.write(started, b"stem %d\\n" % os.getpid())
        signal.pause()
    os._exit(0)
os.wait()
told = b""
while told.count(b"\\n") < 2:
    told += os.read(ready, 100)
pids = {{int(line.split()[1]) for line in told.splitlines()}}
assert set(tree.descendants()) == pids, (tree.descendants(), pids)

def reap():
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return None

killed, gone = tree.end_all(reap, 0, 30.0)
assert (killed, gone) == (pids, True), (killed, gone)
assert tree.descendants() == []
"""


@pytest.mark.parametrize("scan", [False, True])
def test_orphans_are_found_and_ended(scan):
    program = textwrap.dedent(PROGRAM).format(folder=str(BOOTSTRAP.parent), scan=scan)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
