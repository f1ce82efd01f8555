"""Reads, gates and summarises a lane of many cases: all passing, all failing with 8 KB of text each for 100 causes,
and all failing for a cause of their own.

    python tests/benchmarks/lane_read.py --cases 100000

Targets: at most 5 s and 500 MiB. The peer is junitparser, which only reads and counts the same lane's JUnit file.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from costs import run

PEER = """
import sys
from junitparser import JUnitXml
print(sum(1 for suite in JUnitXml.fromfile(sys.argv[1]) for case in suite if case.is_passed), "passed, by junitparser")
"""


LANES = {
    "passing": "all passing",
    "failing": "all failing with 8 KB of text, 100 causes",
    "unlike": "all failing with 8 KB of text, each for a cause of its own",
}


def write_lane(out: Path, cases: int, what: str) -> None:
    """Writes the evidence of a lane, as a run does."""
    from ci_toolkit.formats.documents import write_document
    from ci_toolkit.formats.evidence import EvidenceWriter, attempt_folder
    from ci_toolkit.model.case import Case, Failure
    from ci_toolkit.model.outcome import Cause, Outcome, Stage
    from ci_toolkit.model.plan import ExpectedDevice, Lane, Plan
    from ci_toolkit.model.provenance import Provenance
    from ci_toolkit.model.report import Report, Worker, WorkerEnd
    from ci_toolkit.model.request import Limits, Request

    lane = Lane(
        id="many-cpu",
        suite="many",
        kind="pytest",
        platform="cpu",
        timeout_s=3600,
        device=ExpectedDevice(module="cpu"),
    )
    provenance = Provenance(toolkit="0", run="benchmark", conf_digest="conf")
    write_document(out / "plan.json", Plan(provenance=provenance, conf_digest="conf", lanes=(lane,)))
    writer = EvidenceWriter(attempt_folder(out, lane.id, 1))
    request = Request(
        nonce="n",
        lane=lane.id,
        unit="tests",
        runner="pytest",
        interpreter=sys.executable,
        env={"HOME": "/"},
        cwd="/",
        temporary="/",
        limits=Limits(unit_s=3600),
    )
    write_document(writer.worker_folder(1) / "request.json", request)
    for number in range(cases):
        identity = f"tests/test_{number % 100}.py::test_op[float32-{number}]"
        file = f"tests/test_{number % 100}.py"
        if what == "passing":
            writer.add_case(Case(id=identity, outcome=Outcome.PASSED, seconds=0.001, worker=1, file=file, line=7))
            continue
        where = f"ValueError call tests/test_{number % 100}:test_{number if what == 'unlike' else 'op'}"
        failure = Failure(
            stage=Stage.CALL,
            cause=Cause.EXCEPTION,
            exception="ValueError",
            message=f"wrong in {number}: " + "x" * 4000,
            excerpt=f"E   wrong in {number}\n" * 200,
            signature=f"{where}: wrong in {number}",
            signature_class=where,
        )
        row = writer.add_failure(failure)
        writer.add_case(
            Case(id=identity, outcome=Outcome.FAILED, seconds=0.001, worker=1, file=file, line=7, failures=(row,))
        )
    worker = Worker(number=1, unit="tests", end=WorkerEnd.COMPLETED)
    day = "2026-12-01T00:00:00+00:00"
    writer.close(
        Report(lane=lane, provenance=provenance, root="/", started=day, ended=day, units=("tests",), workers=(worker,))
    )


def judge_lane(out: Path) -> None:
    """Reads the evidence, judges it, renders the summary."""
    import datetime

    from ci_toolkit.formats.documents import read_document
    from ci_toolkit.formats.evidence import attempt_folder, read_evidence
    from ci_toolkit.gates.judge import judge
    from ci_toolkit.gates.lane import LaneInput
    from ci_toolkit.model.plan import Plan
    from ci_toolkit.publish.summary import render
    from ci_toolkit.publish.words import headline
    from ci_toolkit.suites.collect import seen_of

    plan = read_document(out / "plan.json", Plan)
    lane = plan.lanes[0]
    seen = seen_of(read_evidence(attempt_folder(out, lane.id, 1)))
    verdict = judge(plan, {lane.id: LaneInput(lane, seen=seen)}, datetime.date(2026, 12, 1))
    summary = render(verdict, 900 << 10)
    print(f"{headline(verdict)}; {len(seen.cases)} cases, {len(summary.encode()) >> 10} KiB of summary")


def main() -> None:
    """Prints what each step costs, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--step", choices=["write", "judge"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--what", choices=LANES)
    given = parser.parse_args()
    if given.step == "write":
        write_lane(given.out, given.cases, given.what)
    elif given.step == "judge":
        judge_lane(given.out)
    else:
        for what in [given.what] if given.what else LANES:
            print(f"\n{given.cases} cases, {LANES[what]}", flush=True)
            with tempfile.TemporaryDirectory() as out:
                extra = ["--cases", str(given.cases), "--out", out, "--what", what]
                written = run(sys.executable, __file__, "--step", "write", *extra)
                judged = run(sys.executable, __file__, "--step", "judge", *extra)
                peer = run(sys.executable, "-c", PEER, f"{out}/many-cpu/a1/junit.xml")
            print(f"{'write the evidence':28}{written}")
            print(f"{'read, gate, summarise':28}{judged}")
            print(f"{'junitparser reads':28}{peer}", flush=True)


if __name__ == "__main__":
    main()
