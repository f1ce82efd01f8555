"""The units of a conformance suite: one a test file of the upstream."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from ci_toolkit.catalogue.conformance import ConformanceConf
from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.errors import UsageError
from ci_toolkit.formats.digests import digest_of, digest_of_file
from ci_toolkit.model.report import ErrorKind
from ci_toolkit.suites.conformance.pin import upstream_files, wrong_pin
from ci_toolkit.suites.kind import Found, Subject, Unit
from ci_toolkit.suites.pytest.units import find as find_files
from ci_toolkit.workers.environment import worker_environment

RUNNER = "conformance"
BOUNDS = ("-c", os.devnull, "--noconftest", "--import-mode=importlib")
"""No settings, conftest or import path but the request's own."""


def find(conf: LaneConf, subject: Subject) -> Found:
    """The suite's root, its pin, and one unit for each test file of the upstream.

    Raises UsageError for an upstream whose name no process can be without, and for test files that are not its tests.
    """
    made = conf.conformance
    assert made is not None
    if made.alias == "all" and not conf.is_control and made.upstream.name.partition(".")[0] in sys.stdlib_module_names:
        raise UsageError(
            f"suite {conf.lane.suite}: {made.upstream.name!r} is loaded before any test: nothing can stand in for it",
            hint="alias: tests redirects the imports of the tests alone",
        )
    found = find_files(conf, subject)
    root = Path(found.root)
    tests = [root / path for path in made.upstream.tests]
    for path in tests:
        if not path.exists():
            raise UsageError(f"suite {conf.lane.suite}: the upstream's tests {path} are not there")
    for unit in found.units:
        if not any((root / unit.name).is_relative_to(path) for path in tests):
            raise UsageError(f"suite {conf.lane.suite}: {unit.name} is none of the upstream's tests")
    files = upstream_files(made.upstream, root)
    fault = wrong_pin(made.upstream, root, files)
    options = _options(conf, made, [str(path) for path in tests], root)
    return Found(
        root=found.root,
        runner=RUNNER,
        units=tuple(_unit(unit, options) for unit in found.units),
        faults=((ErrorKind.UPSTREAM_CHANGED, fault),) if fault else (),
        pins={str(root / name): digest for name, digest in files.items()},
        contract={**_contract(made, digest_of(files)), "env.allowed": digest_of(_allowed(conf))},
    )


def _unit(unit: Unit, options: dict[str, object]) -> Unit:
    args = unit.options["args"]
    assert isinstance(args, tuple)
    # What bounds a distribution's own tests is said once, and first, so that the suite's arguments can add to it.
    own = args[3:] if args[:1] and str(args[0]).startswith("--confcutdir=") else args
    return replace(unit, options={**unit.options, **options, "args": (*BOUNDS, *own)})


def _options(conf: LaneConf, made: ConformanceConf, tests: list[str], root: Path) -> dict[str, object]:
    candidate = made.candidate
    libraries = [Path(conf.base, path).absolute() for path in candidate.libraries]
    for path in libraries:
        if not path.is_file():
            raise UsageError(f"suite {conf.lane.suite}: the candidate's library {path} is not there")
    options: dict[str, object] = {
        "engine": "control" if conf.is_control else "candidate",
        "upstream": {"name": made.upstream.name, "tests": tests},
        "candidate": {
            "name": candidate.name,
            "folder": str(Path(conf.base, candidate.folder).absolute()) if candidate.folder else "",
            "libraries": [{"path": str(path), "sha256": digest_of_file(path)} for path in libraries],
        },
        "alias": made.alias,
        "private_upstream": made.private_upstream,
        "tests_folder": "" if conf.root_distribution else str(root),
    }
    return options if made.seed is None else {**options, "seed": made.seed}


def _allowed(conf: LaneConf) -> dict[str, str]:
    """What of the machine's own environment conf lets through."""
    bare = worker_environment(os.environ, (), {}, "")
    given = worker_environment(os.environ, conf.env_allow, {}, "")
    return {name: value for name, value in sorted(given.items()) if bare.get(name) != value}


def _contract(made: ConformanceConf, files: str) -> dict[str, str]:
    return {
        "upstream": made.upstream.commit or made.upstream.digest,
        "upstream.files": files,
        "candidate": made.candidate.name,
        "alias": made.alias,
        "private_upstream": str(made.private_upstream).lower(),
        "seed": "none" if made.seed is None else str(made.seed),
        "allow_control_skips": str(made.allow_control_skips).lower(),
    }
