"""What conf may say of a conformance suite: whose tests run, against what, and how they meet."""

import re

from ci_toolkit.catalogue.yaml_file import dangling
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.model.documents import Authored

ALIASES = ("all", "tests")
CONTROL = "control"
"""The variant in which the upstream itself is tested; no other may be called so."""
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class UpstreamConf(Authored, frozen=True, kw_only=True):
    """The project whose tests run. ``name`` is what they import, ``tests`` are its test files and folders.

    They lie under the suite's root and come from the pin: a ``commit`` of the checkout there, or the ``digest`` of the
    installed distribution, as a run that finds another one tells it.
    """

    name: str
    tests: tuple[str, ...]
    commit: str = ""
    digest: str = ""


class CandidateConf(Authored, frozen=True, kw_only=True):
    """What stands in for the upstream. ``name`` is what it is imported as, dotted where it is a module of a package.

    ``folder`` is the folder of a package that is not installed, relative to the repository; ``libraries`` are native
    libraries that it must have loaded, by their paths.
    """

    name: str
    folder: str = ""
    libraries: tuple[str, ...] = ()


class ConformanceConf(Authored, frozen=True, kw_only=True):
    """A conformance suite.

    With ``alias: all`` the upstream's name means the candidate in the whole process, with ``tests`` only in the imports
    of the upstream's tests. ``private_upstream`` lets the candidate import the upstream for its own use. ``seed`` is
    given to every generator before each test. Beside the candidate's lanes each platform has one that runs the upstream
    itself, unless ``control`` is false; a skip that it shows too is accepted with ``allow_control_skips``.
    """

    upstream: UpstreamConf
    candidate: CandidateConf
    alias: str = "all"
    private_upstream: bool = False
    seed: int | None = None
    control: bool = True
    allow_control_skips: bool = False


def check_conformance(conf: ConformanceConf, *, distribution: bool, where: Where) -> None:
    """Raises UsageError for what no run could make right. ``distribution`` says that the root is an installed one."""
    if conf.alias not in ALIASES:
        raise dangling(where, "alias", conf.alias, ALIASES)
    for what, name in (("upstream", conf.upstream.name), ("candidate", conf.candidate.name)):
        if not _NAME.fullmatch(name):
            raise UsageError(f"the {what}'s name {name!r} can not be imported", where)
    if conf.upstream.name.partition(".")[0] == conf.candidate.name.partition(".")[0]:
        raise UsageError("upstream and candidate are one package", where)
    if not conf.upstream.tests:
        raise UsageError("the upstream's tests are not named", where, "list its test files and folders")
    pin, form, other = ("digest", _DIGEST, "commit") if distribution else ("commit", _COMMIT, "digest")
    if getattr(conf.upstream, other):
        raise UsageError(f"a root of this sort has no {other}", where, f"pin it by its {pin}")
    if not form.fullmatch(getattr(conf.upstream, pin)):
        raise UsageError(
            f"the upstream is not pinned by its {pin}", where, "leave nothing to chance: run once to see it"
        )
    if conf.allow_control_skips and not conf.control:
        raise UsageError("there is no control that could skip", where, "say control: true")
    if conf.seed is not None and not 0 <= conf.seed < 1 << 32:
        raise UsageError("a seed is from 0 to 4294967295", where)
