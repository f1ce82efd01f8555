"""A build of the subject under act: made once, taken by the lanes that test it, and red where it failed."""

import sys

import pytest
from workflows.consumer import Consumer

pytestmark = pytest.mark.xdist_group("act")

PLATFORMS = """
schema: platforms/1
platforms:
  alpha: {{device: cpu, runs_on: [self-hosted, alpha], build: good, env: {{PYTHONPATH: {site}}}}}
  beta: {{device: cpu, runs_on: [self-hosted, beta], build: good, env: {{PYTHONPATH: {site}}}}}
  gamma: {{device: cpu, runs_on: [self-hosted, gamma], build: broken}}
  plain: {{device: cpu, runs_on: [self-hosted, gamma]}}
"""
SUITES = """
schema: suites/1
suites:
  small: {platforms: [alpha, beta, gamma], root: {path: tests}, subject: [small-ops]}
  other: {platforms: [plain], root: {path: tests}, paths: [test_small.py]}
"""
BUILDS = """
schema: builds/1
builds:
  good: {{run: [bash, conf/build.sh], runs_on: [self-hosted, builder], env: {{PYTHON: "{python}"}}}}
  broken: {{run: [bash, -c, "echo 'ops.cc:3: no such header' >&2; exit 2"], runs_on: [self-hosted, builder]}}
"""
BUILD = """
exec "$PYTHON" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$CI_TOOLKIT_BUILD_OUT" .
"""
SETUP = """
test -n "$CI_TOOLKIT_BUILD" || exit 0
exec python3 -m pip install -q --disable-pip-version-check --no-index --no-deps --upgrade --target {site} \\
  "$CI_TOOLKIT_BUILD"/*.whl
"""


def test_lanes_share_a_build_and_one_that_fails_costs_its_own_alone(consumer: Consumer) -> None:
    site = consumer.temporary / "site"
    consumer.write("setup.py", "from setuptools import setup\nsetup(name='small-ops', py_modules=['small_ops'])\n")
    consumer.write("small_ops.py", "ANSWER = 42\n")
    consumer.write("conf/platforms.yml", PLATFORMS.format(site=site))
    consumer.write("conf/suites.yml", SUITES)
    consumer.write("conf/builds.yml", BUILDS.format(python=sys.executable))
    consumer.write("conf/build.sh", BUILD)
    consumer.write("conf/setup.sh", SETUP.format(site=site))
    consumer.use("setup: conf/setup.sh")
    ended = consumer.run("use.yml")
    assert ended.exit_code == 1, ended.log
    assert ended.findings == {("build_failed", "small-gamma")}, ended.log
    (finding,) = ended.verdict["findings"]
    assert "exit status 2: ops.cc:3: no such header" in finding["message"]
    results = {lane["lane"]: lane["result"] for lane in ended.verdict["lanes"]}
    assert results == {
        "small-alpha": "passed",
        "small-beta": "passed",
        "small-gamma": "failed",
        "other-plain": "passed",
    }
    built = ended.file("built.hardware.good.a1", "build.json")
    for lane in ("small-alpha", "small-beta"):
        report = ended.file(f"evidence.hardware.{lane}.a1", f"{lane}/a1/report.json")
        assert report["provenance"]["builds"] == {"good": built["digest"]}
    assert ended.job("build broken").errors
