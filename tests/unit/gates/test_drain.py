"""Which runners a verdict blames: the machine that failed, with its card, and never for what a change brought in."""

import dataclasses

import msgspec
import pytest

from ci_toolkit.gates.drain import to_drain
from ci_toolkit.model.outcome import Cause, Outcome
from ci_toolkit.model.plan import ExpectedDevice
from ci_toolkit.model.report import Device, ErrorKind, ExecutionError, Worker, WorkerEnd
from ci_toolkit.model.verdict import Drain, Finding, FindingKind

CARDS = tuple(
    Device(index=n, module="cuda", name="H200", arch="sm_90", uuid=f"GPU-{n}", bus_id=f"0{n}:00.0") for n in (0, 1)
)
SECOND = "H200 sm_90 (cuda 1, GPU-1, 01:00.0)"


def on_box_7(world, *workers: Worker, devices=CARDS) -> None:
    """The lane ran on the cards of the runner box-7."""

    def change(lane):
        report = lane.seen.report
        provenance = msgspec.structs.replace(report.provenance, runner="box-7")
        report = msgspec.structs.replace(
            report, provenance=provenance, devices=devices, workers=workers or report.workers
        )
        return dataclasses.replace(lane, seen=dataclasses.replace(lane.seen, report=report))

    world.outcomes = {"a.py::one": Outcome.PASSED}
    world.device = ExpectedDevice(module="cuda", count=2, arch="sm_90")
    world.change = change


def error(kind: ErrorKind, worker: int | None = 1) -> ExecutionError:
    return ExecutionError(kind=kind, message="no kernel runs", cause=Cause.INFRA, unit="a.py", worker=worker)


def test_a_device_that_is_not_proven_names_its_runner_its_card_and_what_was_asked_for(world) -> None:
    on_box_7(world, Worker(number=1, unit="a.py", end=WorkerEnd.NOT_STARTED, devices=(1,)))
    world.errors = (error(ErrorKind.RUNNER),)
    verdict = world.verdict()
    (finding,) = [one for one in verdict.findings if one.blocks]
    assert (finding.kind, finding.runner, finding.device) == (FindingKind.INFRASTRUCTURE, "box-7", SECOND)
    assert (finding.expected, finding.observed) == ("2 x cuda of architecture sm_90", SECOND)
    assert verdict.exit_code == 4
    assert verdict.drain == (
        Drain(runner="box-7", lanes=("s-cpu",), devices=(SECOND,), reasons=("a.py: no kernel runs",)),
    )


def test_a_worker_that_got_no_device_blames_the_lanes_cards_and_a_full_disk_none(world) -> None:
    on_box_7(world, Worker(number=1, unit="a.py", end=WorkerEnd.NOT_STARTED))
    world.errors = (error(ErrorKind.RUNNER),)
    assert world.verdict().drain[0].devices == (", ".join(card.card for card in CARDS),)
    world.errors = (error(ErrorKind.RUNNER, worker=None),)
    verdict = world.verdict()
    (blamed,) = verdict.drain
    assert (blamed.runner, blamed.devices) == ("box-7", ())


@pytest.mark.parametrize("kind", [ErrorKind.SETUP, ErrorKind.INFRA, ErrorKind.WORKER_CRASHED, ErrorKind.DEVICE_FAULT])
def test_what_a_change_may_have_caused_drains_nothing(world, kind: ErrorKind) -> None:
    on_box_7(world)
    world.errors = (error(kind),)
    verdict = world.verdict()
    assert verdict.exit_code in (3, 4)
    assert verdict.drain == ()


def test_a_runner_that_is_not_what_its_label_says(world) -> None:
    other = Device(index=0, module="cuda", name="A100", arch="sm_80", uuid="GPU-9")
    on_box_7(world, devices=(other, CARDS[1]))
    verdict = world.verdict()
    (finding,) = [one for one in verdict.findings if one.blocks]
    assert (finding.kind, finding.runner) == (FindingKind.WRONG_DEVICE, "box-7")
    assert (finding.expected, finding.observed) == ("2 x cuda of architecture sm_90", "cuda A100 sm_80")
    assert verdict.drain[0].devices == ("A100 sm_80 (cuda 0, GPU-9)",)
    on_box_7(world, devices=CARDS[:1])
    verdict = world.verdict()
    assert [one.observed for one in verdict.findings if one.blocks] == ["H200 sm_90 (cuda 0, GPU-0, 00:00.0)"]
    assert len(verdict.drain) == 1


def test_the_findings_of_a_runner_are_one_entry() -> None:
    def finding(lane: str, runner: str, message: str, device: str = "") -> Finding:
        return Finding(
            kind=FindingKind.INFRASTRUCTURE, key="k", lane=lane, message=message, runner=runner, device=device
        )

    found = [
        finding("b", "box-7", "hangs", "card 1"),
        finding("a", "box-7", "hangs", "card 0"),
        finding("a", "box-7", "is full"),
        finding("c", "", "no torch"),
        finding("c", "box-1", "is sick"),
    ]
    assert to_drain(found) == (
        Drain(runner="box-1", lanes=("c",), reasons=("is sick",)),
        Drain(runner="box-7", lanes=("a", "b"), devices=("card 0", "card 1"), reasons=("hangs", "is full")),
    )
