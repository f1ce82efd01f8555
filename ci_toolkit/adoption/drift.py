"""Where a repository and its conf have grown apart, one line each."""

import difflib
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from ci_toolkit.adoption.accelerators import GENERIC, accelerator
from ci_toolkit.adoption.layout import can_be_given, find_tests, inside, is_open, read_layout
from ci_toolkit.adoption.toolkit import INPUTS, Toolkit
from ci_toolkit.adoption.workflows import Call, Workflows, read_workflows
from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.catalogue.schema import PlatformsFile
from ci_toolkit.catalogue.yaml_file import load
from ci_toolkit.errors import UsageError
from ci_toolkit.model.ids import matches
from ci_toolkit.suites.pytest.files import select


def drift(folder: Path, catalogue: Catalogue, toolkit: Toolkit, devices: Collection[str]) -> tuple[str, ...]:
    """What the repository in ``folder`` has and ``catalogue`` has not, and the other way round; nothing where they fit.

    Raises UsageError for a file that is malformed.
    """
    workflows = read_workflows(folder)
    layout = read_layout(folder)
    tests = [file for file in find_tests(folder, layout) if can_be_given(file) and is_open(file, layout)]
    covered: set[str] = set()
    lines: list[str] = []
    for conf in catalogue.lanes:
        try:
            covered.update(_covered(conf, tests))
        except UsageError as error:
            lines.append(f"suite {conf.lane.suite}: {error}")
    lines += _uncovered(tests, covered)
    lines += _unnamed(workflows, catalogue, devices)
    lines += _calls([call for call in workflows.calls if toolkit.holds(call)])
    return tuple(dict.fromkeys(lines))


def _covered(conf: LaneConf, tests: Collection[str]) -> Iterator[str]:
    """The test files that a lane runs, and those that it excludes: they are left out on purpose."""
    if conf.root_distribution:
        return
    root = PurePosixPath(conf.root_path)
    if conf.lane.kind != "pytest":  # what its files are is for its kind to say
        yield from (file for file in tests if any(inside(file, (root / path).as_posix()) for path in conf.paths))
        return
    selected = select(Path(conf.base, conf.root_path), conf.paths, conf.exclude)
    if not selected:
        raise UsageError("its paths hold no test file")
    yield from ((root / one.file).as_posix() for one in selected)
    for file in (PurePosixPath(file) for file in tests):
        if file.is_relative_to(root) and any(matches(glob, file.relative_to(root).as_posix()) for glob in conf.exclude):
            yield file.as_posix()


def _uncovered(tests: Collection[str], covered: Collection[str]) -> Iterator[str]:
    lost = Counter(PurePosixPath(file).parent.as_posix() for file in tests if file not in covered)
    for folder, count in sorted(lost.items()):
        files = "1 test file that no suite runs" if count == 1 else f"{count} test files that no suite runs"
        yield f"folder {folder}: holds {files}"


def _unnamed(workflows: Workflows, catalogue: Catalogue, devices: Collection[str]) -> Iterator[str]:
    platforms = load(Path(catalogue.folder, "platforms.yml"), PlatformsFile, schema="platforms/1").value.platforms
    named = {label.lower() for platform in platforms.values() for label in platform.runs_on}
    for runner in workflows.runners:
        card = accelerator(runner.labels)
        if card is None or card.device not in devices:
            continue
        for label in runner.labels:
            if label.lower() not in named | GENERIC and accelerator([label]):
                yield f"{runner.file}: job {runner.job} runs on {label!r}, which no platform names"


def _calls(calls: Collection[Call]) -> Iterator[str]:
    references = Counter((call.repository, call.ref) for call in calls)
    usual = max(references, key=lambda reference: references[reference], default=None)
    for call in calls:
        place = f"{call.file}: job {call.job} calls {call.path or 'the action'}"
        if call.path not in INPUTS:
            yield f"{place}, which the toolkit does not have; {_nearest(call.path, [name for name in INPUTS if name])}"
            continue
        for name in call.inputs:
            if name not in INPUTS[call.path]:
                yield f"{place} with {name!r}, an input that it does not have; {_nearest(name, INPUTS[call.path])}"
        if (call.repository, call.ref) != usual and usual:
            yield f"{place} at {call.repository}@{call.ref}, others are called at {'@'.join(usual)}"


def _nearest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"
