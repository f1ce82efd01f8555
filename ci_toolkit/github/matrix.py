"""A plan as outputs of a workflow's step: a matrix for each chunk, within what GitHub takes."""

import json

from ci_toolkit.errors import UsageError
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.model.plan import Build, Job, Plan
from ci_toolkit.plan.packing import CHUNKS

OUTPUT_BYTES = 1 << 20
"""What all outputs of a job may hold, counted as UTF-16 (GitHub Docs, "Passing information between jobs")."""


def outputs(plan: Plan) -> dict[str, str]:
    """``digest`` of the plan, ``jobs`` (their number), and the matrices ``builds``, ``matrix_0`` and on.

    A matrix without a job is empty.

    Raises UsageError where GitHub would drop them for their size.
    """
    found = {"digest": digest_of(plan), "jobs": str(len(plan.jobs))}
    found["builds"] = _matrix([_entry(build) for build in plan.builds])
    for chunk in range(CHUNKS):
        found[f"matrix_{chunk}"] = _matrix([_entry(job) for job in plan.jobs if job.chunk == chunk])
    size = sum(len(text.encode("utf-16-le")) for pair in found.items() for text in pair)
    if size > OUTPUT_BYTES:
        raise UsageError(
            f"the matrices take {size:,} bytes as GitHub counts, it takes {OUTPUT_BYTES:,}",
            hint="select fewer lanes, or give platforms their number of boards",
        )
    return found


def _matrix(include: list[dict[str, object]]) -> str:
    return json.dumps({"include": include}, separators=(",", ":")) if include else ""


def _entry(job: Job | Build) -> dict[str, object]:
    entry: dict[str, object] = {"job": job.id, "runs_on": job.runs_on, "timeout": job.timeout_minutes}
    if isinstance(job, Job) and job.build:
        entry["build"] = job.build
    if job.container:
        volumes = list(job.container.volumes)
        entry["container"] = {"image": job.container.image, "options": job.container.options, "volumes": volumes}
    return entry
