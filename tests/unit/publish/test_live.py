"""The view on a terminal: one line for each running worker, whatever its names hold, and totals that stay in sight."""

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ci_toolkit.formats.durations import Durations
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.publish.live import LiveView, Running, Totals, is_watched
from ci_toolkit.publish.progress import Progress
from ci_toolkit.publish.remaining import Remaining

PLAN = Plan(provenance=Provenance(toolkit="0", run="r", conf_digest="c"), conf_digest="c", lanes=())
HOSTILE = "a\n::error::x\x1b[31m ##[group]\u202e" + "w" * 9000


def drawn(*running: Running, totals: Totals | None = None, width: int = 100) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=8, markup=False, highlight=False, emoji=False)
    workers = {str(at): one for at, one in enumerate(running)}
    view = LiveView(workers, totals or Totals(), Remaining(PLAN, Durations(), 1), clock=lambda: 75.0)
    console.print(view)
    return console.file.getvalue().splitlines()


def test_a_worker_is_seen_with_its_device_case_and_time() -> None:
    one = Running("s-cuda", "test_a.py", 10.0, device="device 3 (A card)", case="test_a.py::test_one[1-2]")
    head, line = drawn(one, totals=Totals(ended=4, finished=1200, failed=1))
    assert head == "1 unit running, 1,200 cases finished, 1 failed, 4 units ended"
    assert " ".join(line.split()) == "s-cuda test_a.py device 3 (A card) test_a.py::test_one[1-2] 1 m 05 s"


def test_a_worker_that_waits_says_so() -> None:
    assert "waits for a device" in drawn(Running("s-cuda", "test_a.py", 74.0, waits=True))[1]


TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that turn the direction of what follows."""


@given(st.integers(20, 200), st.text(max_size=400) | st.just(HOSTILE), st.integers(0, 5))
def test_a_worker_is_one_line_of_the_terminal_whatever_its_names_hold(width: int, text: str, workers: int) -> None:
    running = [Running(text, text, 0.0, device=text, case=text) for _ in range(workers)]
    lines = drawn(*running, width=width)
    assert len(lines) == 1 + workers
    for line in lines:
        assert cell_len(line) <= width
        assert "##[" not in line
        assert not {unicodedata.category(character) for character in line} & {"Cc", "Cs"}
        assert not set(line) & set(TURNING)


@pytest.mark.parametrize(
    ("environ", "watched"), [({}, True), ({"CI": ""}, True), ({"CI": "false"}, True), ({"CI": "true"}, False)]
)
def test_a_log_of_ci_gets_no_lines_that_change(
    environ: dict[str, str], watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ci_toolkit.publish.live.on_terminal", lambda: True)
    assert is_watched(Console(force_terminal=True, force_interactive=True), environ) == watched
    assert not is_watched(Console(force_interactive=False), environ)


def test_what_is_no_terminal_gets_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(PLAN):
        pass
    assert capsys.readouterr().out == ""
