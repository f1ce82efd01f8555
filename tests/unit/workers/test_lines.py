"""Messages arrive whole, however the peer cuts them, and nothing else does."""

import json
import socket

from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.workers.lines import LINE_BYTES, Lines


def pair():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    return Lines(ours), theirs


messages = st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20)), max_size=8)


@given(messages, st.lists(st.integers(1, 30), min_size=1))
def test_messages_survive_any_cut(sent, cuts):
    lines, theirs = pair()
    data = b"".join(json.dumps(message).encode() + b"\n" for message in sent)
    received = []
    with theirs, lines.connection:
        turn = 0
        while data:
            size = cuts[turn % len(cuts)]
            theirs.sendall(data[:size])
            data, turn = data[size:], turn + 1
            received += lines.receive()
        theirs.shutdown(socket.SHUT_WR)
        received += lines.drain()
    assert (received, lines.garbled, lines.closed) == (sent, 0, True)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_and_counted(data):
    lines, theirs = pair()
    with theirs, lines.connection:
        theirs.sendall(data + b"\n" + b'{"a": 1}\n')
        received = lines.drain()
    assert received[-1] == {"a": 1}
    assert len(received) + lines.garbled == data.count(b"\n") + 2
    assert not lines.closed


def test_a_line_without_an_end_is_dropped_once():
    lines, theirs = pair()
    theirs.setblocking(False)
    with theirs, lines.connection:
        rest = b"x" * (3 * LINE_BYTES) + b'\n{"a": 1}\n'
        received = []
        while rest:
            rest = rest[theirs.send(rest[:65536]) :]
            received += lines.receive()
            assert len(lines._rest) <= LINE_BYTES
        received += lines.drain()
    assert received == [{"a": 1}]
    assert lines.garbled == 1
