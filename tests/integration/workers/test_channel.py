"""What a worker says is its own: strangers are counted, forks are silent, odd text arrives."""

import pytest

from ci_toolkit.model.report import ErrorKind, WorkerEnd


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ('{"n": "guessed", "e": "bye", "code": 0}\\n', 1),
        ('{"e": "bye", "code": 0}\\n', 1),
        ("no message at all\\n[1, 2]\\n", 2),
        ("[" * 100_000 + "\\n", 1),
    ],
)
def test_a_message_without_the_nonce_is_a_strangers(bench, line, count):
    ended = bench.run(f"import os\nos.write(channel, b'{line}')\nos._exit(0)", speaks=True)
    assert ended.strangers == count
    assert ended.error is ErrorKind.NO_FINAL_REPORT


def test_a_stranger_that_never_ends_its_line_costs_no_memory(bench):
    ended = bench.run(
        """
        import os, socket
        for _ in range(64):
            socket.socket(fileno=os.dup(channel)).sendall(b"x" * (1 << 20))
        os.write(channel, b"\\n")
        """,
        speaks=True,
    )
    assert (ended.worker.end, ended.strangers) == (WorkerEnd.COMPLETED, 1)


def test_a_fork_of_the_worker_reports_nothing(bench):
    ended = bench.run(
        """
        import os
        pid = os.fork()
        if pid == 0:
            events.emit("start", id="of the fork")
            os._exit(0)
        os.waitpid(pid, 0)
        """,
        speaks=True,
    )
    assert ended.worker.end is WorkerEnd.COMPLETED
    assert [event for event in bench.events() if event.get("id") == "of the fork"] == []


def test_a_fork_that_returns_from_the_program_reports_nothing(bench):
    ended = bench.run("import os\nif os.fork(): os.wait()")
    assert ended.worker.end is WorkerEnd.COMPLETED
    assert [event["e"] for event in bench.events()].count("bye") == 1


def test_lone_surrogates_are_written_as_escapes(bench):
    bench.run("events.emit('note', text='a' + chr(0xd800) + chr(0x1f600), **{'k' + chr(0xdfff): 1})", speaks=True)
    (note,) = [event for event in bench.events() if event["e"] == "note"]
    assert note["text"] == "a\\ud800\U0001f600"
    assert note["k\\udfff"] == 1


def test_large_fields_stay_in_the_file(bench):
    bench.run("events.emit('phase', id='unit_1.py', when='call', failure={'excerpt': 'x' * 100000})", speaks=True)
    assert any("failure" in event for event in bench.events())
    assert not any("failure" in message for message in bench.messages)
    assert len([message for message in bench.messages if message["e"] == "phase"]) == 2


def test_events_carry_the_nonce_and_rise_in_time(bench):
    ended = bench.run("pass")
    events = bench.events()
    assert {event["n"] for event in events} == {ended.job.request.nonce}
    assert sorted(event["t"] for event in events) == [event["t"] for event in events]


def test_the_toolkit_in_a_workers_modules_is_an_error(bench):
    body = "import ci_toolkit.errors"
    (fault,) = bench.run(body).faults
    assert fault.kind is ErrorKind.HOST_LIBRARY_LEAKED
    assert "ci_toolkit.errors" in fault.message
    assert fault.worker == 1


def test_a_subject_that_is_the_toolkit_may_be_imported(bench):
    assert bench.run("import ci_toolkit.errors", options={"subject": ["ci_toolkit"]}).faults == ()


def test_a_changed_environment_is_an_error(bench):
    site = bench.folder / "site"
    for name in ("old-1.0", "Other_Name-2"):
        (site / f"{name}.dist-info").mkdir(parents=True)
    (fault,) = bench.run(
        """
        import os, sys
        site = os.environ["PYTHONPATH"]
        os.rename(site + "/old-1.0.dist-info", site + "/old-1.1.dist-info")
        os.rmdir(site + "/Other_Name-2.dist-info")
        os.mkdir(site + "/new-3.dist-info")
        """,
        settings={"PYTHONPATH": str(site)},
    ).faults
    assert fault.kind is ErrorKind.ENVIRONMENT_CHANGED
    assert fault.message == "changed what is installed: new absent -> 3, old 1.0 -> 1.1, other-name 2 -> absent"
