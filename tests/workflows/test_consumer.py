"""A repository that uses the action and the reusable workflow by ``owner/toolkit@v1``, all green."""

import pytest
from workflows import act
from workflows.consumer import Consumer

pytestmark = pytest.mark.xdist_group("act")

USE = """
on: push
jobs:
  hardware:
    uses: owner/toolkit/.github/workflows/hardware-matrix.yml@v1
    with: {{toolkit-repository: owner/toolkit, toolkit-ref: v1, wheelhouse: "{wheels}"}}
  after:
    needs: hardware
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
      - id: list
        uses: owner/toolkit@v1
        with: {{args: "plan --only 'small-*' --out 'a folder'", wheelhouse: "{wheels}", upload: mine, path: a folder}}
      - run: echo "the result is ${{{{ needs.hardware.outputs.result }}}}"
"""


def test_a_consumer_is_green_when_all_is_green(consumer: Consumer) -> None:
    """Nothing is installed before: each job makes its own virtual environment from the wheels."""
    consumer.write(".github/workflows/use.yml", USE.format(wheels=consumer.toolkit.wheels))
    consumer.commit()
    ended = act.run(consumer.folder, "use.yml", toolkit=consumer.toolkit.folder, temporary=consumer.temporary)
    assert ended.exit_code == 0, ended.log
    lanes = [f"small-{platform}" for platform in ("alpha", "beta", "gamma")]
    assert {job for job in ended.jobs if "small" in job} == {
        f"hardware/Hardware matrix/{lane}-{leg}" for leg, lane in enumerate(lanes, 1)
    }
    uploads = {"plan.hardware.a1", "verdict.hardware.a1", "mine", *(f"evidence.hardware.{lane}.a1" for lane in lanes)}
    assert {artifact.name for artifact in ended.artifacts} == uploads
    assert ended.findings == set()
    assert [lane["lane"] for lane in ended.verdict["lanes"]] == lanes
    gate = ended.job("gate")
    assert gate.result == "success"
    assert "PASSED: 3 lanes, 9 passed" in gate.summary
    assert "PASSED: 1 lane, 3 passed" in ended.job("small-beta").summary
    assert "the result is passed" in ended.job("after").text
    assert ended.file("mine", "plan.json")["schema"].startswith("plan/")
