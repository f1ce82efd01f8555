"""A log keeps head and tail whatever its length, and stays readable on a full disk."""

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import ci_toolkit

CHILD = str(Path(ci_toolkit.__file__).parent / "child")

PROGRAM = """
import os, random, resource, sys
sys.path.insert(0, {child!r})
import bootstrap
logs = bootstrap.load("logs", {child!r})
"""

KEEPS = (
    PROGRAM
    + """
for size, limit, seed in {cases!r}:
    path = {folder!r} + "/log"
    log = logs.Log(path, limit)
    writer, data, dice = log.open_for_worker(), b"", random.Random(seed)
    while len(data) < size:
        chunk = dice.randbytes(min(dice.randrange(1, 1 << 19), size - len(data)))
        os.write(writer, chunk)
        data += chunk
        log.trim()
    os.close(writer)
    assert log.close() == size
    kept = open(path, "rb").read()
    head, tail = data[: limit // 2], data[size - (limit - limit // 2) :]
    mark = b"\\n[... ci-toolkit: %d bytes left out ...]\\n" % (size - limit)
    assert kept == (data if size <= limit else head + mark + tail)
    assert log.cut == (size > limit)
    os.unlink(path)
    assert os.listdir({folder!r}) == []
"""
)

FULL_DISK = (
    PROGRAM
    + """
path = {folder!r} + "/log"
log = logs.Log(path, 1 << 20)
writer = log.open_for_worker()
os.write(writer, b"a" * (1 << 20) + b"b" * (1 << 22) + b"c" * (1 << 20))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
assert log.close() == 6 << 20
assert log.cut
assert os.listdir({folder!r}) == ["log"]
kept = open(path, "rb").read()
assert kept.startswith(b"a" * (1 << 19)) and kept.endswith(b"c" * (1 << 19))
assert os.stat(path).st_blocks * 512 < 2 << 20
"""
)


def run(program, folder, **values):
    subprocess.run([sys.executable, "-c", program.format(child=CHILD, folder=str(folder), **values)], check=True)


def test_head_and_tail_are_exact(tmp_path_factory):
    edges = [(size, limit, 0) for limit in (0, 1, 4096, 100_000) for size in (0, 1, limit, limit + 1, 3 << 20)]
    run(KEEPS, tmp_path_factory.mktemp("logs"), cases=edges)


def test_any_size_and_limit(tmp_path_factory):
    cases = []

    @given(st.integers(0, 3 << 20), st.integers(0, 1 << 20), st.integers(0, 1 << 30))
    def collect(size, limit, seed):
        cases.append((size, limit, seed))

    collect()
    run(KEEPS, tmp_path_factory.mktemp("logs"), cases=cases)


def test_on_a_full_disk_the_middle_is_a_hole(tmp_path):
    run(FULL_DISK, tmp_path)
