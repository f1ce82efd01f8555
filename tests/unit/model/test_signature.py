"""Signatures are equal for the same failure in other circumstances, and different for other failures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.model.case import Failure, Frame
from ci_toolkit.model.outcome import Cause, Stage
from ci_toolkit.model.signature import normalise, signature, signature_class, signed

WORDS = st.sampled_from(
    [
        "/tmp/tmpab12cd_3/x",
        "/tmp",
        "/repo/a.py:12",
        "tmpab12cd_3",
        "0x7f00deadbeef",
        "cuda:3",
        "device 2",
        " ",
        "/",
        ":",
        "1.23s",
        "in 0.5 seconds",
        "12",
        "\n    ",
        "pid 77",
        "2026-01-02 03:04:05",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4",
        "/var/folders/xy/abc/T/run",
        "<tmp>",
        "<n>",
        "'",
        "a",
        "ms",
        "-",
        "[",
        "]\n    ",
        "/tmp/pytest-of-me/pytest-12/t0",
        "123e4567-e89b-12d3-a456-426614174000",
        "/srv/out/lane/a1/workers/001/tmp/f",
        ".py:1",
        "npu:0\n    ",
        "0x1",
        "\x1b[31m",
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=5), max_size=12).map("".join)
ROOTS = {"/repo": "<root>", "/srv/out/lane/a1/workers/001/tmp": "<tmp>", "/tmp/link": "<root>"}


def failure(message: str, frames: tuple[Frame, ...] = (Frame(file="t_test.py", line=3, function="t", own=True),)):
    return Failure(stage=Stage.CALL, cause=Cause.ASSERTION, exception="AssertionError", message=message, frames=frames)


@given(TEXTS)
def test_normalising_twice_is_normalising_once(text):
    once = normalise(text, ROOTS)
    assert normalise(once, ROOTS) == once


@st.composite
def circumstances(draw: st.DrawFn):
    digits = st.integers(1, 10**6)
    name = st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=8, max_size=8)
    folder = draw(st.text("abcdefgh0123456789-_.", min_size=1, max_size=12).filter(lambda t: t.strip(".")))
    root, evidence = f"/srv/{folder}/repo", f"/var/out-{folder}/lane/a{draw(digits)}"
    pieces = {
        "root": root,
        "evidence": evidence,
        "temporary": f"{evidence}/workers/{draw(digits):03}/tmp",
        "name": draw(name),
        "user": draw(st.sampled_from(["me", "root", "ci-user"])),
        "address": f"0x{draw(st.integers(2**24, 2**48)):x}",
        "pid": draw(digits),
        "line": draw(digits),
        "seconds": draw(st.floats(0.001, 1000)),
        "ordinal": draw(st.integers(0, 15)),
        "uuid": draw(st.uuids()),
        "number": draw(digits),
    }
    return pieces, {root: "<root>", evidence: "<evidence>", pieces["temporary"]: "<tmp>"}


MESSAGE = (
    "open {temporary}/tmp{name}/data.bin under {root}/src/a.py:{line}: <Foo object at {address}> pid={pid} took "
    "{seconds:.3f}s (in {seconds:.1f} seconds) on cuda:{ordinal} and npu:{ordinal}, device {ordinal}; run {uuid}; "
    "{temporary}/pytest-of-{user}/pytest-{number}/test_a0/x "
    "/tmp/{user}-{number}/y at 2026-01-02T03:04:05Z {evidence}/log"
)


@given(circumstances(), circumstances())
def test_two_runs_elsewhere_have_equal_signatures(one, two):
    assert signature(failure(MESSAGE.format(**one[0])), one[1]) == signature(failure(MESSAGE.format(**two[0])), two[1])


@given(st.integers(), st.integers())
def test_other_asserted_values_are_another_failure(left, right):
    same = signature(failure(f"assert 1 == {left}")) == signature(failure(f"assert 1 == {right}"))
    assert same == (left == right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("disk:/tmp/out/pg_both/cc_tmp/tmpdwuwvl1g", "disk:<tmp>/pg_both/cc_tmp/<name>"),
        ("/repository/x.txt", "/repository/x.txt"),
        ('File "/repo/a.py", line 12, in f', 'File "<root>/a.py", line <line>, in f'),
        ("array(0x10) != 1.5", "array(0x10) != 1.5"),
        ("Timeout >5.0s", "Timeout ><duration>"),
        ("12 seconds", "<duration>"),
        ("float32 vs 32 strings, cuda12", "float32 vs 32 strings, cuda12"),
        ("/var/folders/ab/cd_e/T/run1/f.txt", "<tmp>/f.txt"),
        ("/private/var/folders/ab/cd_e/T/run1", "<tmp>"),
        ("deadbeef" * 8, "deadbeef" * 8),
        ("e3b0c442" * 8, "<digest>"),
        ("GPU 1 has a total capacity of 79.11 GiB", "GPU <n> has a total capacity of 79.11 GiB"),
    ],
)
def test_normal_forms(text, expected):
    assert normalise(text, ROOTS) == expected


def test_class_names_the_innermost_own_frame():
    frames = (
        Frame(file="tests/test_umath.py", line=1, function="test_small", own=True),
        Frame(file="numpy/testing.py", line=1, function="assert_allclose", own=True),
        Frame(file="contextlib.py", line=81, function="inner"),
    )
    assert signature_class("AssertionError", "call", frames) == "AssertionError call numpy/testing:assert_allclose"
    assert signature_class("E", "setup", frames[2:]) == "E setup contextlib:inner"
    assert signature_class("E", "setup", ()) == "E setup"


def test_a_long_message_is_cut_and_still_tells_differences():
    one, two = signature(failure("x" * 1500 + "1")), signature(failure("x" * 1500 + "2"))
    assert one != two
    assert len(one) < 600


def test_where_a_worker_cut_a_message_does_not_matter():
    one = signature(
        failure("/srv/a/repo " + "x" * 4000 + "[... 900 characters left out ...]yyy"), {"/srv/a/repo": "<root>"}
    )
    two = signature(failure("/srv/repo " + "x" * 4002 + "[... 898 characters left out ...]yy"), {"/srv/repo": "<root>"})
    assert one == two


def test_a_crash_is_signed_by_its_signal():
    crash = signed(Failure(stage=Stage.CALL, cause=Cause.EXCEPTION, signal="SIGSEGV"))
    assert crash.signature == crash.signature_class == "SIGSEGV call"
