"""A lane's run in memory, judged against a ratchet in a folder."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.formats.failures import Signature
from ci_toolkit.gates.judge import judge
from ci_toolkit.gates.lane import LaneInput, Seen
from ci_toolkit.gates.members import write_members
from ci_toolkit.gates.ratchet_files import LoadedRatchet, load_ratchet
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage
from ci_toolkit.model.plan import Advisory, ExpectedDevice, Lane, Plan, Selection
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import ContractField, Device, ExecutionError, Report, Worker, WorkerEnd
from ci_toolkit.model.verdict import Finding, Verdict

TODAY = datetime.date(2026, 12, 1)
HEAD = "schema: ratchet/1\n"
BAD = {Outcome.FAILED, Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.XFAILED}


def made_case(identity: str, outcome: Outcome, row: int, reason: str = "", tries: Sequence[Outcome] = ()) -> Case:
    return Case(
        id=identity,
        outcome=outcome,
        reason=reason,
        failures=(row,) if outcome in BAD else (),
        file=identity.partition("::")[0],
        line=3,
        worker=1,
        tries=tuple(tries),
    )


@dataclass
class World:
    """What was planned, what ran, and what is expected; ``verdict`` judges it."""

    folder: Path
    outcomes: dict[str, Outcome | tuple[Outcome, str]] = field(default_factory=dict)
    ratchet: str | None = None
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    signature: str = "ValueError call a:f"
    errors: tuple[ExecutionError, ...] = ()
    units: tuple[str, ...] = ("a.py",)
    selection: Selection = field(default_factory=Selection)
    facts: Mapping[str, str] = field(default_factory=lambda: {"python": "3.11.7", "system": "linux-x86_64"})
    interrupted: str = ""
    run: str = "run-1"
    attempt: int = 1
    builds: Mapping[str, str] = field(default_factory=dict)
    devices: Sequence[tuple[str, str]] = (("cpu", ""),)
    device: ExpectedDevice = field(default_factory=lambda: ExpectedDevice(module="cpu"))
    advisory: Advisory | None = None
    tries: Mapping[str, Sequence[Outcome]] = field(default_factory=dict)
    base: Mapping[str, tuple[Outcome, str]] = field(default_factory=dict)
    change: Callable[[LaneInput], LaneInput] = lambda lane: lane

    @property
    def lane(self) -> Lane:
        return Lane(
            id="s-cpu",
            suite="s",
            kind="pytest",
            platform="cpu",
            timeout_s=60,
            device=self.device,
            selection=self.selection,
            advisory=self.advisory,
        )

    def plan(self) -> Plan:
        return Plan(provenance=Provenance(toolkit="0", run="run-1"), conf_digest="conf", lanes=(self.lane,))

    def loaded(self) -> LoadedRatchet | None:
        if self.ratchet is None:
            return None
        write_members(self.folder, self.members)
        (self.folder / "cpu.yml").write_text(HEAD + self.ratchet, encoding="utf-8")
        return load_ratchet(self.folder, "cpu")

    def input(self) -> LaneInput:
        pairs = {name: value if isinstance(value, tuple) else (value, "") for name, value in self.outcomes.items()}
        cases = [
            made_case(name, outcome, row, reason, self.tries.get(name, ()))
            for row, (name, (outcome, reason)) in enumerate(pairs.items())
        ]
        counts: dict[Outcome, int] = {}
        for case in cases:
            counts[case.outcome] = counts.get(case.outcome, 0) + 1
        contract = {name: ContractField(value=value) for name, value in self.facts.items()}
        report = Report(
            lane=self.lane,
            provenance=Provenance(
                toolkit="0",
                run=self.run,
                attempt=self.attempt,
                builds=dict(self.builds),
                conf_digest="conf",
                plan_digest=plan_digest(self.plan()),
            ),
            devices=tuple(Device(index=0, module=module, name=module, arch=arch) for module, arch in self.devices),
            root="/r",
            started="2026-12-01T00:00:00+00:00",
            ended="2026-12-01T00:00:10+00:00",
            units=self.units,
            counts=counts,
            facts=dict(self.facts),
            contract={**contract, "signature_scheme": ContractField(value="1")},
            workers=tuple(
                Worker(number=number, unit=unit, end=WorkerEnd.COMPLETED) for number, unit in enumerate(self.units, 1)
            ),
            errors=self.errors,
            interrupted=self.interrupted,
        )
        signatures = [Signature("call", "exception", f"{self.signature}: message", self.signature) for _ in cases]
        failure = Failure(stage=Stage.CALL, cause=Cause.EXCEPTION, message="message", signature_class=self.signature)
        seen = Seen(report, cases, signatures, "out/s-cpu/a1", lambda row: failure)
        return self.change(
            LaneInput(self.lane, seen=seen, ratchet=self.loaded(), base=self.base, base_contract=report.contract)
        )

    def verdict(self, today: datetime.date = TODAY) -> Verdict:
        return judge(self.plan(), {"s-cpu": self.input()}, today)

    def blocking(self, today: datetime.date = TODAY) -> list[Finding]:
        return [finding for finding in self.verdict(today).findings if finding.blocks]

    def kinds(self, today: datetime.date = TODAY) -> list[str]:
        return [finding.kind.value for finding in self.blocking(today)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
