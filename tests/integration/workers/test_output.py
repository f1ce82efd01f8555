"""Output goes to files of bounded size, byte for byte; a flood costs its middle, not the disk."""

import stat
import sys

import pytest

from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.workers import keeper

MIB = 1 << 20

# Raw bytes, NUL, progress lines, characters cut between writes, both streams mixed.
FLOOD = r"""
    import sys
    o, e = sys.stdout.buffer, sys.stderr.buffer
    o.write(b"bad \x9e \xff\xfe \xed\xa0\x80 nul\x00 end\n"); e.write("na\xefve".encode("latin-1") + b"\n")
    for i in range(200): o.write(b"\rprogress %3d%%" % (i // 2))
    chunk = b"\xe2\x82\xac" * 21845 + b"x"
    for i in range(8 * 16): (o if i % 2 else e).write(chunk)
    o.write(b"\nLAST LINE assert 1 == 2"); o.flush(); e.flush(); sys.exit(3)
"""


def keeper_with(fault, folder):
    """The command of a keeper in which ``fault`` was done before it began."""
    child = str(keeper.BOOTSTRAP.parent)
    program = folder / "faulty_keeper.py"
    program.write_text(f"""
import importlib, sys
sys.path.insert(0, {child!r})
import bootstrap
def load(name):
    return bootstrap.load(name, {child!r}) if bootstrap.PACKAGE not in sys.modules else importlib.import_module(
        bootstrap.PACKAGE + "." + name)
{fault}
sys.exit(load("keeper").main(sys.argv[1:]))
""")
    return (sys.executable, "-I", "-S", str(program))


def test_bytes_are_kept_as_they_are(bench):
    ended = bench.run(FLOOD)
    assert (ended.worker.end, ended.worker.exit_code, ended.worker.output_cut) == (WorkerEnd.COMPLETED, 3, False)
    stdout = bench.stdout()
    assert stdout.startswith(b"bad \x9e \xff\xfe \xed\xa0\x80 nul\x00 end\n\rprogress   0%")
    assert stdout.endswith(b"\xacx\nLAST LINE assert 1 == 2")
    assert len(stdout) == ended.worker.stdout_bytes
    assert ended.worker.stderr_bytes == 64 * 65536 + len(b"na\xefve\n")


def test_a_flood_keeps_head_and_tail(bench):
    ended = bench.run(FLOOD, output_bytes=MIB)
    assert (ended.worker.end, ended.worker.exit_code, ended.worker.output_cut) == (WorkerEnd.COMPLETED, 3, True)
    stdout = bench.stdout()
    left_out = ended.worker.stdout_bytes - MIB
    assert stdout.startswith(b"bad \x9e \xff\xfe \xed\xa0\x80 nul\x00 end\n\rprogress   0%")
    assert b"\n[... ci-toolkit: %d bytes left out ...]\n" % left_out in stdout
    assert stdout.endswith(b"\xacx\nLAST LINE assert 1 == 2")
    assert MIB < len(stdout) < MIB + 100
    assert sorted(path.name for path in ended.job.folder.iterdir()) == [
        "events.jsonl",
        "request.json",
        "stderr.log",
        "stdout.log",
    ]


def test_a_long_flood_never_fills_the_disk(bench):
    """A gigabyte without a line break is on disk as some tens of megabytes at most, at any time."""
    ended = bench.run(
        """
        import os
        chunk, most = bytes(1 << 20), 0
        for _ in range(1024):
            os.write(1, chunk)
            most = max(most, os.fstat(1).st_blocks * 512)
        os.write(2, b"%d" % most)
        """,
        output_bytes=MIB,
    )
    assert ended.worker.end is WorkerEnd.COMPLETED
    assert ended.worker.stdout_bytes == 1 << 30
    assert int(bench.stderr()) < 512 * MIB
    status = (ended.job.folder / "stdout.log").stat()
    assert status.st_size < 2 * MIB
    assert status.st_blocks * 512 < 3 * MIB
    assert stat.S_IMODE(status.st_mode) == 0o644


@pytest.mark.parametrize("bench", ["spawn"], indirect=True)
def test_where_no_hole_can_be_punched_a_flood_ends_the_worker(bench, tmp_path, monkeypatch):
    """The kernel's refusal is put in; all the rest is real."""
    refuse = """
def refuse(descriptor, start, length):
    raise OSError(95, "Operation not supported")
load("logs").free_range = refuse
"""
    monkeypatch.setattr(keeper, "COMMAND", keeper_with(refuse, tmp_path))
    ended = bench.run("import os\nwhile True: os.write(1, bytes(65536))", output_bytes=MIB)
    assert (ended.worker.end, ended.error) == (WorkerEnd.OUTPUT, ErrorKind.WORKER_OUTPUT)
    assert ended.message.startswith("was ended: it printed too much")
    assert len(bench.stdout()) < MIB + 100


@pytest.mark.parametrize("body", ["open('/dev/stdout', 'w').write('again')", "import os; os.ftruncate(1, 0)"])
def test_a_worker_that_cuts_its_own_output_is_no_trouble(bench, body):
    ended = bench.run(f"print('x' * 100, flush=True)\n{body}")
    assert ended.worker.end is WorkerEnd.COMPLETED
    assert len(bench.stdout()) == ended.worker.stdout_bytes


@pytest.mark.parametrize("bench", ["spawn"], indirect=True)
def test_a_keeper_that_fails_says_so_and_leaves_nothing(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "COMMAND", keeper_with("load('logs').Log.trim = lambda self: 1 / 0", tmp_path))
    ended = bench.run("import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(600)")
    assert ended.worker.end is WorkerEnd.CRASHED
    assert ended.message == "its keeper failed (ZeroDivisionError: division by zero), so what became of it is unknown"


def test_a_worker_that_removes_its_own_evidence_is_no_trouble(bench):
    ended = bench.run(
        "import os, shutil; os.write(1, bytes(4 << 20)); shutil.rmtree(os.environ['EVIDENCE'])",
        output_bytes=MIB,
        settings={"EVIDENCE": str(bench.folder / "workers")},
    )
    assert (ended.worker.end, ended.worker.stdout_bytes) == (WorkerEnd.COMPLETED, 4 * MIB)
