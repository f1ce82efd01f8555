"""A process failure beats whatever the process said before."""

from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.model.report import ErrorKind, WorkerEnd
from ci_toolkit.workers.ends import End, classify, faults, signal_name

FINE = {"overflow": False, "gone": True, "exit_code": 0, "signal": None}
TIMEOUT = End(WorkerEnd.TIMEOUT, "too long", ErrorKind.WORKER_TIMEOUT)
INTERRUPTED = End(WorkerEnd.INTERRUPTED, "interrupted", ErrorKind.INTERRUPTED)

statuses = st.one_of(
    st.builds(lambda code: {"exit_code": code, "signal": None}, st.integers(0, 255)),
    st.builds(lambda number: {"exit_code": None, "signal": number}, st.integers(1, 64)),
    st.just({}),
)
byes = st.none() | st.builds(lambda code: {"code": code}, st.integers(-5, 300) | st.none() | st.text(max_size=3))


@given(statuses, byes, st.booleans(), st.sampled_from([None, TIMEOUT, INTERRUPTED]))
def test_only_an_agreeing_end_is_complete(status, bye, overflow, ordered):
    end = classify({"gone": True, "overflow": overflow, **status}, bye, ordered)
    agrees = bye is not None and isinstance(bye["code"], int) and status.get("exit_code") == bye["code"] % 256
    complete = agrees and not overflow and ordered is not TIMEOUT
    assert (end.end is WorkerEnd.COMPLETED) == complete
    assert bool(end.message) == bool(end.error) == (not complete)
    if ordered is TIMEOUT or (ordered is INTERRUPTED and not complete):
        assert end is ordered


def test_signals_have_names():
    assert (signal_name(11), signal_name(40)) == ("SIGSEGV", "signal 40")


def test_a_process_that_could_not_be_killed_is_a_fault():
    assert faults("u", 1, FINE, None, None) == ()
    (fault,) = faults("u", 1, {**FINE, "gone": False}, None, None)
    assert (fault.kind, fault.cause) == (ErrorKind.RUNNER, "infra")


def test_long_lists_are_cut():
    (fault,) = faults("u", 1, FINE, {}, {"leaked": [f"m{number}" for number in range(9)]})
    assert fault.message == "loaded modules of the toolkit: m0, m1, m2, m3, m4 and 4 more"
