"""Conformance units in real workers: fresh interpreters and forks end alike, and a bad preload is refused."""

import dataclasses
import os

import msgspec
import pytest

from ci_toolkit.child.conformance_runner import REFUSED
from ci_toolkit.model.report import WorkerEnd
from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

FILES = {
    "up/__init__.py": "WHO = 'up'\n",
    "up/tests/__init__.py": "",
    "up/tests/test_it.py": "import up, os\ndef test_it(): assert up.WHO == os.environ['WHO']\n",
    "cand/__init__.py": "WHO = 'cand'\n",
    "neutral.py": "",
}


def unit(bench, number, preload=(), **options):
    site = bench.folder / "site"
    for name, text in FILES.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    engine = options.get("engine", "candidate")
    settings = {"PYTHONPATH": str(site), "WHO": "up" if engine == "control" else "cand"}
    job = bench.job("", number=number, settings=settings)
    options = {
        "root": str(site),
        "files": ["up/tests/test_it.py"],
        "args": ["-c", os.devnull, "--noconftest", "--import-mode=importlib"],
        "engine": engine,
        "alias": "all",
        "private_upstream": False,
        "tests_folder": "",
        "upstream": {"name": "up", "tests": [str(site / "up/tests")]},
        "candidate": {"name": "cand", "folder": "", "libraries": []},
        **options,
    }
    request = msgspec.structs.replace(job.request, runner="conformance", preload=preload, options=options)
    return dataclasses.replace(job, request=request)


def run(bench, *jobs):
    return list(run_jobs(in_order(jobs), 1, Stop(), bench.observe))


def told(bench, number, kind):
    return [event for event in bench.events(number) if event["e"] == kind]


def test_both_engines_run_in_both_start_modes(bench):
    jobs = [
        unit(bench, 1, preload=("neutral",)),
        unit(bench, 2, preload=("neutral",), engine="control"),
        unit(bench, 3, preload=("neutral",), alias="tests"),
    ]
    for ended in run(bench, *jobs):
        assert (ended.worker.end, ended.worker.exit_code) == (WorkerEnd.COMPLETED, 0), bench.stderr(ended.worker.number)
        assert (ended.worker.start_mode, ended.worker.fallback) == (bench.start, "")
        (providers,) = told(bench, ended.worker.number, "providers")
        assert providers["faults"] == []
        kinds = {row["kind"] for row in providers["modules"]}
        assert (
            kinds
            == [{"candidate", "pin"}, {"upstream", "pin"}, {"candidate", "pin", "upstream"}][ended.worker.number - 1]
        )


@pytest.mark.parametrize("bench", ["fork"], indirect=True)
@pytest.mark.parametrize(
    ("preload", "options", "reason"),
    [
        ("up", {}, "up is loaded already"),
        ("cand", {}, "the candidate is loaded already (cand)"),
        ("cand", {"alias": "tests"}, "the candidate is loaded already (cand)"),
        ("cand", {"engine": "control"}, "the candidate is loaded already (cand)"),
        ("up.tests.test_it", {"alias": "tests"}, "the upstream's test code is loaded already"),
    ],
)
def test_a_server_that_has_loaded_a_side_is_refused(bench, preload, options, reason):
    (ended,) = run(bench, unit(bench, 1, preload=(preload,), **options))
    assert (ended.worker.start_mode, ended.worker.exit_code) == ("fork", REFUSED)
    (refused,) = told(bench, 1, "refused")
    assert reason in refused["reason"]
    assert told(bench, 1, "start") == []


@pytest.mark.parametrize("bench", ["fork"], indirect=True)
def test_an_upstream_that_is_loaded_is_no_hindrance_where_only_tests_are_redirected(bench):
    (ended,) = run(bench, unit(bench, 1, preload=("up",), alias="tests"))
    assert (ended.worker.start_mode, ended.worker.exit_code) == ("fork", 0)
