"""Where a document comes from: repository, run and runner."""

from ci_toolkit.model.documents import Record


class Provenance(Record, frozen=True, kw_only=True):
    """What was tested, by which run, on which machine. A fact that could not be had is absent."""

    toolkit: str
    repository: str = ""
    commit: str = ""
    dirty: bool | None = None
    pull_request: int | None = None
    run: str = ""
    attempt: int = 1
    runner: str = ""
    image: str = ""
    system: str = ""
    builds: dict[str, str] = {}
    plan_digest: str = ""
    conf_digest: str = ""
