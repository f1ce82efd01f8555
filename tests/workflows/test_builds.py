"""A build of the subject under act: made once, taken by lanes, red where it failed or is not what was installed."""

import sys

import pytest
from workflows.consumer import Consumer

pytestmark = pytest.mark.xdist_group("act")

PLATFORMS = """
schema: platforms/1
platforms:
  alpha: {{device: cpu, runs_on: [self-hosted, alpha], build: good, env: {{PYTHONPATH: {site}/small-alpha}}}}
  beta: {{device: cpu, runs_on: [self-hosted, beta], build: good, env: {{PYTHONPATH: {site}/small-beta}}}}
  delta: {{device: cpu, runs_on: [self-hosted, beta], build: good, env: {{PYTHONPATH: {site}/small-delta}}}}
  gamma: {{device: cpu, runs_on: [self-hosted, gamma], build: broken}}
  plain: {{device: cpu, runs_on: [self-hosted, gamma]}}
"""
SUITES = """
schema: suites/1
suites:
  small: {platforms: [alpha, beta, delta, gamma], root: {path: tests}, subject: [small-ops]}
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
site={site}/$CI_TOOLKIT_JOB
python3 -m pip install -q --disable-pip-version-check --no-index --no-deps --target "$site" "$CI_TOOLKIT_BUILD"/*.whl
test "$CI_TOOLKIT_JOB" != small-delta || echo "ANSWER = 42 # by hand" > "$site/small_ops.py"
"""


def test_lanes_share_a_build_one_that_fails_costs_its_own_and_another_is_found(consumer: Consumer) -> None:
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
    other = {(kind, "small-delta") for kind in ("another_build", "lane_empty")}
    assert ended.findings == {("build_failed", "small-gamma"), *other}, ended.log
    messages = " ".join(finding["message"] for finding in ended.verdict["findings"])
    assert "exit status 2: ops.cc:3: no such header" in messages
    assert "small_ops.py has other bytes" in messages
    green = {lane["lane"] for lane in ended.verdict["lanes"] if lane["result"] == "passed"}
    assert green == {"small-alpha", "small-beta", "other-plain"}
    built = ended.file("built.hardware.good.a1", "build.json")
    for lane in ("small-alpha", "small-beta"):
        report = ended.file(f"evidence.hardware.{lane}.a1", f"{lane}/a1/report.json")
        assert report["provenance"]["builds"] == {"good": built["digest"]}
    assert ended.job("build broken").errors
