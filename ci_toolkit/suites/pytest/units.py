"""The units of a pytest suite: one a test file."""

import os
from pathlib import Path

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.errors import UsageError
from ci_toolkit.model.text import one_line
from ci_toolkit.suites.kind import Found, Subject, Unit
from ci_toolkit.suites.pytest.files import select

RUNNER = "pytest"


def find(conf: LaneConf, subject: Subject) -> Found:
    """The suite's root, and one unit for each of its test files; node ids of one file share its unit."""
    root = _root(conf, subject)
    # What lies around a virtual environment is no part of a library that is installed in it: no conftest.py, and no
    # settings, which pytest would take from the project that the environment lies in.
    bounds = (f"--confcutdir={root}", "-c", os.devnull) if conf.root_distribution else ()
    args = (*bounds, *conf.args)
    shared = {"root": str(root), "args": args, "marker": conf.marker, "keyword": conf.keyword}
    units = tuple(
        Unit(one_line(selected.file), {**shared, "files": selected.nodes or (selected.file,)})
        for selected in select(root, conf.paths, conf.exclude)
    )
    return Found(root=str(root), runner=RUNNER, units=units)


def _root(conf: LaneConf, subject: Subject) -> Path:
    if not conf.root_distribution:
        return Path(conf.base, conf.root_path).absolute()
    if conf.root_distribution not in subject.roots:
        raise UsageError(
            f"suite {conf.lane.suite}: the distribution {conf.root_distribution!r} is not installed in "
            f"{subject.executable}"
        )
    return Path(subject.roots[conf.root_distribution])
