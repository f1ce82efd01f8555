"""How long planning takes: 2,000 suites on 12 platforms, for a night and for a change of 200 files.

    python tests/benchmarks/plan_time.py

Target: under 2 s each, once conf is read. Beside them stands what the same machine needs to write the plan as JSON,
which no planner can be under.
"""

import argparse
import datetime
import json
import tempfile
import time
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.load import Catalogue, load_catalogue
from ci_toolkit.formats.durations import Durations
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.plan.event import Changes, Event
from ci_toolkit.plan.fleet import plan_fleet
from ci_toolkit.plan.lanes import Wish


def written(folder: Path, suites: int, platforms: int) -> Catalogue:
    """Conf as a user has it: each suite on each platform, and a row of the table for each suite."""
    names = [f"p{number}" for number in range(platforms)]
    every = ", ".join(names)
    files = {
        "platforms": [f"  {name}: {{device: cpu, runs_on: [{name}], boards: 20}}" for name in names],
        "suites": [f"  s{n}: {{platforms: [{every}], root: {{path: tests/s{n}}}}}" for n in range(suites)],
    }
    for name, lines in files.items():
        (folder / f"{name}.yml").write_text("\n".join([f"schema: {name}/1", f"{name}:", *lines]), encoding="utf-8")
    rows = [f'  - {{path: "src/s{n}/{{op}}.py", suites: [s{n}], units: ["test_{{op}}.py"]}}' for n in range(suites)]
    (folder / "selection.yml").write_text("\n".join(["schema: selection/1", "paths:", *rows]), encoding="utf-8")
    return load_catalogue(folder)


def timed(catalogue: Catalogue, event: Event) -> tuple[Plan, float]:
    """The plan, and the seconds that it took."""
    started = time.perf_counter()
    made = plan_fleet(
        catalogue, event, Wish(), Durations(), provenance=Provenance(toolkit="0"), today=datetime.date(2026, 1, 1)
    )
    return made, time.perf_counter() - started


def main() -> None:
    """Prints one line for each event."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=2000)
    parser.add_argument("--platforms", type=int, default=12)
    parser.add_argument("--files", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        catalogue = written(Path(folder), given.suites, given.platforms)
        print(f"{'reading conf':16}{time.perf_counter() - started:8.2f} s")
    files = tuple(f"src/s{number * given.suites // given.files}/add.py" for number in range(given.files))
    change = Changes(files, "abc")
    for event in (Event("schedule"), Event("pull_request", changes=change, present=frozenset())):
        made, spent = timed(catalogue, event)
        started = time.perf_counter()
        json.dumps(msgspec.to_builtins(made))
        floor = time.perf_counter() - started
        print(f"{event.name:16}{spent:8.2f} s  {len(made.lanes)} lanes, {len(made.jobs)} jobs; as JSON {floor:.2f} s")


if __name__ == "__main__":
    main()
