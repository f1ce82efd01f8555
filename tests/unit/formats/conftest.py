"""A lane's evidence in a temporary folder."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ci_toolkit.formats.evidence import EvidenceWriter
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import ExpectedDevice, Lane
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.report import Device, ExecutionError, Report


def head(errors: Sequence[ExecutionError] = (), device: str = "a card") -> Report:
    lane = Lane(id="s-cpu", suite="s", kind="pytest", platform="cpu", timeout_s=60, device=ExpectedDevice(module="cpu"))
    return Report(
        lane=lane,
        provenance=Provenance(toolkit="0", attempt=2, commit="abc"),
        root="/r",
        started="2026-12-01T00:00:00+00:00",
        ended="2026-12-01T00:00:10+00:00",
        units=("a.py",),
        devices=(Device(index=0, module="cpu", name=device),),
        errors=tuple(errors),
    )


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes cases, each with its failures, and gives the folder."""

    def written(
        cases: Sequence[tuple[Case, Sequence[Failure]]] = (),
        errors: Sequence[ExecutionError] = (),
        device: str = "a card",
        folder: str = "out",
    ) -> Path:
        writer = EvidenceWriter(tmp_path / folder)
        for case, failures in cases:
            rows = tuple(writer.add_failure(failure) for failure in failures)
            fields = {name: getattr(case, name) for name in case.__struct_fields__}
            writer.add_case(Case(**{**fields, "failures": rows}))
        writer.worker_folder(1).joinpath("stdout.log").write_bytes(b"said")
        writer.close(head(errors, device))
        return writer.folder

    return written


@pytest.fixture
def passed() -> list[tuple[Case, Sequence[Failure]]]:
    return [(Case(id="a.py::one", outcome=Outcome.PASSED, seconds=0.5), ())]
