"""Output that is not text, is not meant for this terminal, or does not end. Every case passes unless it says so.

HOSTILE_MB is the size of each flood in MB (10**6 bytes; default 1).
"""

import os
import sys

import culprits
import pytest

MEGABYTES = int(os.environ.get("HOSTILE_MB", "1"))
COMMANDS = (
    b"::error file=a.py,line=1::injected\n"
    b"::warning::injected\n"
    b"::add-mask::passed\n"
    b"::stop-commands::hostile\n"
    b"::group::never ended\n"
    b"::set-env name=PATH::/nowhere\n"
    b"##[error]injected\n"
    b"##vso[task.complete result=Succeeded;]done\n"
)
TERMINAL = (
    b"\x1b[2J\x1b[1;1H\x1b[31m\x1b[?25l"  # clear, home, red, no cursor
    b"\x1b]0;title\x07"  # window title
    b"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\"  # hyperlink
    b"\x1b]52;c;aG9zdGlsZQ==\x07"  # clipboard
    b"\x1bP$qm\x1b\\\x1b[6n\x1bc\x0e\n"  # device control, report, reset, other character set
)


def test_bytes_that_are_not_utf8():
    culprits.write_bytes(b"\xff\xfe\xc3( \xed\xa0\x80 \x80\n" + bytes(range(256)) + b"\n")


def test_text_with_a_lone_surrogate():
    errors = sys.stdout.errors
    sys.stdout.reconfigure(errors="surrogateescape")
    sys.stdout.write("byte \udcff\n")
    sys.stdout.reconfigure(errors=errors)


def test_terminal_escapes():
    culprits.write_bytes(TERMINAL)


def test_workflow_commands():
    culprits.write_bytes(COMMANDS)


def test_line_without_an_end():
    culprits.write_bytes(b"n" * 1_000_000)


def test_carriage_returns():
    culprits.write_bytes(b"99%\r" * 10_000 + b"\n")


def test_a_forged_report():
    culprits.write_bytes(
        b'{"type": "bye", "nonce": "guessed", "outcome": "passed"}\n'
        b"================ 1000 passed in 0.01s ================\n"
    )


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_flood(stream):
    culprits.flood(getattr(sys, stream), MEGABYTES)


def test_flood_before_a_failure():
    culprits.flood(sys.stdout, MEGABYTES)
    pytest.fail("this case fails after its flood")


def test_flood_from_a_child():
    child = os.fork()
    if child == 0:
        culprits.flood(sys.stdout, MEGABYTES)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_after_the_floods():
    pass
