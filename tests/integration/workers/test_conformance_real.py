"""Upstreams whose tests ship in their wheels, run unmodified against the libraries that claim their interface."""

import base64
import collections
import dataclasses
import hashlib
import importlib.metadata
import os
from pathlib import Path

import msgspec
import pytest

from ci_toolkit.workers.jobs import in_order
from ci_toolkit.workers.scheduler import run_jobs
from ci_toolkit.workers.stop import Stop

pytestmark = pytest.mark.parametrize("bench", ["spawn"], indirect=True)


def needs(name, version):
    """The folder that a distribution is installed in; the expected counts are those of one version."""
    try:
        found = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    if found != version:
        pytest.skip(f"{name} {version} is expected, {found} is installed")
    return Path(str(importlib.metadata.distribution(name).locate_file("")))


def run(bench, root, upstream, candidate, leave_out=(), only=(), **options):
    """Runs the upstream's test files under control and candidate; returns what each told."""
    folder = root / upstream / "tests"
    files = [
        file.relative_to(root).as_posix() for file in sorted(folder.glob("test_*.py")) if file.name not in leave_out
    ]
    files = [file for file in files if not only or Path(file).name in only]
    jobs = []
    for number, engine in enumerate(("control", "candidate"), 1):
        job = bench.job("", number=number, settings={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, unit_s=300.0)
        told = {
            "root": str(root),
            "files": files,
            "args": ["-c", os.devnull, "--noconftest", "--import-mode=importlib", "-q"],
            "engine": engine,
            "alias": "all",
            "private_upstream": False,
            "tests_folder": "",
            "upstream": {"name": upstream, "tests": [str(folder)]},
            "candidate": {"name": candidate, "folder": "", "libraries": []},
            **options,
        }
        request = msgspec.structs.replace(job.request, runner="conformance", options=told)
        jobs.append(dataclasses.replace(job, request=request))
    for ended in run_jobs(in_order(jobs), 1, Stop(), bench.observe):
        assert ended.worker.end.value == "completed", bench.stderr(ended.worker.number)[-2000:]
    return [Told(bench.events(number)) for number in (1, 2)]


class Told:
    def __init__(self, events):
        self.events = events
        (self.providers,) = [event for event in events if event["e"] == "providers"]
        self.faults = self.providers["faults"]

    @property
    def counts(self):
        order = ("error", "failed", "skipped", "passed")
        seen = collections.defaultdict(set)
        for event in self.events:
            if event["e"] == "phase":
                seen[event["id"]].add(event["outcome"])
        worst = (next(word for word in order if word in words) for words in seen.values())
        return dict(collections.Counter(worst))

    @property
    def failed(self):
        return {e["id"].rpartition("::")[2] for e in self.events if e["e"] == "phase" and e["outcome"] == "failed"}

    @property
    def uncollected(self):
        return {Path(e["id"]).name for e in self.events if e["e"] == "collect_error"}

    def kinds(self):
        return collections.Counter(row["kind"] for row in self.providers["modules"])


def urlsafe(file):
    """The hash of a file as a wheel's record writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode().rstrip("=")


def recorded(root, distribution):
    """The hashes that a wheel's own record tells of its files."""
    files = importlib.metadata.distribution(distribution).files or ()
    return {str(root / str(file)): file.hash for file in files if file.hash is not None}


def test_toolz_against_cytoolz(bench):
    root = needs("toolz", "1.2.0")
    needs("cytoolz", "1.2.0")
    # tlz, which one of the tests imports, imports both libraries.
    control, candidate = run(bench, root, "toolz", "cytoolz", leave_out=["test_tlz.py"], private_upstream=True)
    assert control.counts == {"passed": 186, "skipped": 1}
    assert candidate.counts == {"passed": 184, "failed": 2, "skipped": 1}
    assert candidate.failed == {"test_module_name", "test_curry_module"}
    assert control.faults == candidate.faults == []
    assert set(control.kinds()) == {"upstream", "pin"}
    private = {row["name"] for row in candidate.providers["modules"] if row["kind"] == "private"}
    assert {"toolz", "toolz._signatures", "toolz.functoolz", "toolz.utils"} <= private
    answered = {row["name"]: row["provider"] for row in candidate.providers["modules"] if row["kind"] == "candidate"}
    assert answered["toolz.functoolz"] == "cytoolz.functoolz"
    # What ran is what the wheel shipped, byte for byte.
    hashes = recorded(root, "toolz")
    assert candidate.providers["tests"] == candidate.providers["tests_end"] == control.providers["tests"]
    assert len(candidate.providers["tests"]) == 12
    for file in candidate.providers["tests"]:
        assert hashes[file].value == urlsafe(Path(file))


def test_cytoolz_needs_toolz_and_may_not_have_it(bench):
    root = needs("toolz", "1.2.0")
    needs("cytoolz", "1.2.0")
    _, candidate = run(bench, root, "toolz", "cytoolz", only=["test_utils.py"])
    refused = [event["reason"] for event in candidate.events if event["e"] == "refused"]
    assert refused == ["the candidate cytoolz imports the upstream (toolz), and conf does not give it a private copy"]
    assert candidate.counts == {}


def test_the_control_of_toolz_is_contaminated_by_a_test_that_imports_cytoolz(bench):
    root = needs("toolz", "1.2.0")
    needs("cytoolz", "1.2.0")
    control, _ = run(bench, root, "toolz", "cytoolz", only=["test_tlz.py"], private_upstream=True)
    assert [fault["kind"] for fault in control.faults][-1:] == ["candidate_in_control"]
    # tlz takes over the paths of packages, and so really executes files of both libraries a second time.
    copies = [fault["message"] for fault in control.faults if fault["kind"] == "duplicate_provider"]
    assert "one file is 2 modules: cytoolz.curried.operator, tlz.curried.operator" in copies


def test_regex_against_re(bench):
    root = needs("regex", "2026.12.2")
    control, candidate = run(bench, root, "regex", "re")
    assert sum(control.counts.values()) == sum(candidate.counts.values()) == 106
    assert candidate.counts["passed"] > 40
    assert candidate.counts["failed"] > 50
    assert control.faults == candidate.faults == []
    assert candidate.kinds()["upstream"] == candidate.kinds()["private"] == 0


def test_simplejson_against_json(bench):
    root = needs("simplejson", "4.3.0")
    control, candidate = run(bench, root, "simplejson", "json")
    assert control.faults == []
    assert control.uncollected == set()
    assert len(candidate.uncollected) > 10
    control, candidate = run_again(bench, root, candidate.uncollected)
    assert control.counts == {"passed": 63, "skipped": 6}
    assert sum(candidate.counts.values()) == 69
    assert candidate.uncollected == set()
    assert candidate.faults == []
    assert "simplejson.tests" in {row["name"] for row in candidate.providers["modules"] if row["kind"] == "pin"}


def run_again(bench, root, leave_out):
    again = dataclasses.replace(bench, folder=bench.folder / "again", jobs=[])
    again.folder.mkdir()
    return run(again, root, "simplejson", "json", leave_out=leave_out)


def test_array_api_strict_against_torch(bench):
    root = needs("array-api-strict", "2.6.1")
    needs("array-api-compat", "1.16.0")
    pytest.importorskip("torch")
    files = [
        "test_device_support.py",
        "test_indexing_functions.py",
        "test_set_functions.py",
        "test_sorting_functions.py",
    ]
    control, candidate = run(
        bench, root, "array_api_strict", "array_api_compat.torch", only=[*files, "test_validation.py"], alias="tests"
    )
    assert control.counts == {"passed": 34}
    assert sum(candidate.counts.values()) == 34
    assert 0 < candidate.counts["passed"] < 34
    assert control.faults == candidate.faults == []
    assert candidate.uncollected == set()
    answered = {row["name"]: row["provider"] for row in candidate.providers["modules"] if row["kind"] == "candidate"}
    assert answered["array_api_strict"] == "array_api_compat.torch"
    assert candidate.providers["versions"]["torch"]
