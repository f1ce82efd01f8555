"""Builds of the subject as other jobs of the run left them: the newest attempt's, whole, and of this plan."""

import shutil
from collections.abc import Callable
from pathlib import Path

from ci_toolkit.errors import EvidenceError, UsageError, Where
from ci_toolkit.formats.digests import digest_of, plan_digest
from ci_toolkit.formats.documents import read_document
from ci_toolkit.formats.manifest import MANIFEST, Manifest, verify_manifest
from ci_toolkit.model.build import BUILD, FILES, Built
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.uploads import build_upload, built_upload
from ci_toolkit.model.verdict import FindingKind

Fault = tuple[FindingKind, str]


def take_build(plan: Plan, build: str, uploads: Path, name: str, attempt: int, out: Path) -> Built:
    """Moves the build that the lanes of ``plan`` test from ``uploads`` to ``out``.

    Raises EvidenceError for one that is not there, failed, was changed on the way, or is of another commit or plan, and
    UsageError for one that the plan does not have.
    """
    if build not in {one.id for one in plan.builds}:
        raise UsageError(f"the plan has no build {build!r}", hint="plan again")
    folder = _newest(uploads, build_upload, name, build, plan.provenance.attempt, attempt)
    if folder is None:
        raise EvidenceError(f"the build {build} is not among the artifacts", Where(str(uploads)))
    built = read_document(folder / BUILD, Built)
    fault = _fault(plan, build, built)
    if fault:
        raise EvidenceError(fault[1], Where(str(folder)))
    if out.exists():
        raise UsageError("is there already", Where(str(out)), "name another --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, out)
    return read_build(out)


def read_build(folder: Path) -> Built:
    """The build in ``folder``. Raises EvidenceError unless its files are those that it was sealed with."""
    built = read_document(folder / BUILD, Built)
    if built.failed:
        raise EvidenceError(f"the build {built.id} failed: {built.failed}", Where(str(folder)))
    verify_manifest(folder / FILES)
    if digest_of(read_document(folder / FILES / MANIFEST, Manifest)) != built.digest:
        raise EvidenceError(f"the files are not those of the build {built.id}", Where(str(folder)))
    return built


def check_builds(plan: Plan, build: Built | None) -> None:
    """Raises UsageError where the lanes of ``plan`` test another build than ``build``, or none."""
    needed = {lane.build for lane in plan.lanes if plan.builds and lane.build}
    if needed != ({build.id} if build else set()):
        have = build.id if build else "none"
        wanted = ", ".join(sorted(needed)) or "none"
        raise UsageError(f"the lanes test the build {wanted}, given was {have}", hint="see `ci-toolkit builds take`")


def left_builds(plan: Plan, uploads: Path, name: str, attempt: int) -> tuple[dict[str, str], dict[str, Fault]]:
    """Build -> its digest, and build -> why there is none, from the ``build.json`` that the builds uploaded."""
    digests: dict[str, str] = {}
    faults: dict[str, Fault] = {}
    for one in plan.builds:
        folder = _newest(uploads, built_upload, name, one.id, plan.provenance.attempt, attempt)
        if folder is None:
            message = f"the build {one.id} left nothing: it was killed, its runner was lost, or one of its steps failed"
            faults[one.id] = (FindingKind.BUILD_LOST, message)
            continue
        try:
            built = read_document(folder / BUILD, Built)
        except (EvidenceError, UsageError) as error:
            faults[one.id] = (FindingKind.BUILD_LOST, f"what the build {one.id} left can not be read: {error}")
            continue
        fault = _fault(plan, one.id, built)
        if fault:
            faults[one.id] = fault
        else:
            digests[one.id] = built.digest
    return digests, faults


def _newest(
    uploads: Path, called: Callable[[str, str, int], str], name: str, build: str, first: int, last: int
) -> Path | None:
    folders = (uploads / called(name, build, number) for number in range(last, first - 1, -1))
    return next((folder for folder in folders if folder.is_dir()), None)


def _fault(plan: Plan, build: str, built: Built) -> Fault | None:
    if built.failed:
        return FindingKind.BUILD_FAILED, f"the build {build} failed: {built.failed}"
    planned, made = plan.provenance, built.provenance
    pairs = {
        "build": (build, built.id),
        "run": (planned.run, made.run),
        "commit": (planned.commit, made.commit),
        "plan": (plan_digest(plan), made.plan_digest),
    }
    for what, (wanted, found) in pairs.items():
        if wanted != found:
            message = f"what the build {build} left is of another {what}: {found or 'none'}, planned was {wanted}"
            return FindingKind.ANOTHER_BUILD, message
    return None
