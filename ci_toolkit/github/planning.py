"""The plan for this machine, with where the run comes from."""

import datetime
from collections.abc import Mapping
from pathlib import Path

from ci_toolkit.catalogue.load import Catalogue
from ci_toolkit.github.provenance import collect
from ci_toolkit.model.plan import Plan
from ci_toolkit.plan.lanes import Wish
from ci_toolkit.suites.planning import make_and_write


def plan_here(catalogue: Catalogue, wish: Wish, out: Path, today: datetime.date, environ: Mapping[str, str]) -> Plan:
    """Plans what was wished for on this machine and writes ``OUT/plan.json``."""
    provenance = collect(Path(catalogue.folder).resolve().parent, environ)
    event = environ.get("GITHUB_EVENT_NAME") or "local"
    return make_and_write(catalogue, wish, out, today, provenance, event=event)
