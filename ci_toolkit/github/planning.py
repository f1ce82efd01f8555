"""Plans with where the run comes from: for this machine, or for the fleet of an event."""

import datetime
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as replace_fields

from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.formats.digests import plan_digest
from ci_toolkit.formats.documents import write_document
from ci_toolkit.formats.durations import Durations
from ci_toolkit.github.changed import changed_since, tracked_files
from ci_toolkit.github.commands import write_output
from ci_toolkit.github.event import Arrived, arrived
from ci_toolkit.github.matrix import outputs
from ci_toolkit.github.provenance import collect, run_attempt
from ci_toolkit.model.build import Built
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.plan.event import Event
from ci_toolkit.plan.fleet import plan_fleet
from ci_toolkit.plan.lanes import Wish
from ci_toolkit.suites.planning import PLAN, make_and_write


def plan_here(
    catalogue: Catalogue, wish: Wish, out: Path, today: datetime.date, environ: Mapping[str, str], commit: str = ""
) -> Plan:
    """Plans what was wished for on this machine and writes ``OUT/plan.json``; ``commit`` must be checked out."""
    provenance = collect(Path(catalogue.folder).resolve().parent, environ, commit)
    event = environ.get("GITHUB_EVENT_NAME") or "local"
    return make_and_write(catalogue, wish, out, today, provenance, event=event)


def provenance_here(
    plan: Plan, catalogue: Catalogue, build: Built | None, environ: Mapping[str, str], commit: str = ""
) -> Provenance:
    """Where a part of ``plan`` runs that another job made, on ``build``; outside GitHub it is the plan's own run."""
    found = collect(Path(catalogue.folder).resolve().parent, environ, commit)
    here = found if environ.get("GITHUB_RUN_ID") else plan.provenance
    return replace_fields(here, builds={build.id: build.digest} if build else plan.provenance.builds)


def provenance_of_build(
    plan: Plan | None, catalogue: Catalogue, environ: Mapping[str, str], commit: str = ""
) -> Provenance:
    """Where a build is made, for ``plan`` where there is one; outside GitHub its run is the plan's own."""
    found = collect(Path(catalogue.folder).resolve().parent, environ, commit)
    if plan is None:
        return found
    run = found.run if environ.get("GITHUB_RUN_ID") else plan.provenance.run
    return replace_fields(found, run=run, conf_digest=plan.conf_digest, plan_digest=plan_digest(plan))


def attempt_here(plan: Plan, environ: Mapping[str, str]) -> int:
    """The run attempt that this job is of; a job that is run again keeps its plan."""
    return run_attempt(environ) if environ.get("GITHUB_RUN_ID") else plan.provenance.attempt


def event_here(base: Path, environ: Mapping[str, str], *, name: str = "", tier: str = "", since: str = "") -> Event:
    """The event of this run, with the files that it changes; what is given stands above what the runner says."""
    found = arrived(environ) if not name else replace(Arrived(name), labels=arrived(environ).labels)
    return Event(
        name=found.name,
        labels=found.labels,
        changes=changed_since(base, since or found.base),
        tier=tier,
        present=tracked_files(base),
    )


def plan_event(
    catalogue: Catalogue,
    event: Event,
    wish: Wish,
    durations: Durations,
    out: Path,
    today: datetime.date,
    environ: Mapping[str, str],
    commit: str = "",
) -> Plan:
    """Plans ``event`` for the fleet, writes ``OUT/plan.json``, and sets the matrices as outputs of the step.

    ``commit`` is the one that must be checked out, empty for whichever is.
    """
    provenance = collect(Path(catalogue.folder).resolve().parent, environ, commit)
    plan = plan_fleet(catalogue, event, wish, durations, provenance=provenance, today=today)
    values = outputs(plan)
    out.mkdir(parents=True, exist_ok=True)
    write_document(out / PLAN, plan)
    write_output(environ, values)
    return plan
