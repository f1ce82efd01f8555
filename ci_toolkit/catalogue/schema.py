"""What conf may say: ``platforms.yml``, ``suites.yml`` and ``fleet.yml`` as strict structs.

Durations are numbers with a unit (``90s``, ``10m``, ``1h``), sizes too (``64MiB``, ``1GB``); they are held as text here
and resolved once by the loader into ``Suite`` and ``Platform`` (seconds, bytes).
"""

from datetime import date

from ci_toolkit.catalogue.conformance import ConformanceConf
from ci_toolkit.model.documents import Authored


class LeaseConf(Authored, frozen=True, kw_only=True):
    """Where devices are leased: a folder of this host that all its users share (empty is the system's own), or a site's
    ``broker`` command.
    """

    folder: str = ""
    broker: tuple[str, ...] = ()


class AdmissionConf(Authored, frozen=True, kw_only=True):
    """When a leased device is used: the least free memory, what processes of others mean, and how long to wait.

    ``foreign`` is ``allow``, ``wait`` or ``refuse``.
    """

    min_free: str = ""
    foreign: str = "wait"
    wait: str = "10m"


class ContainerConf(Authored, frozen=True, kw_only=True):
    """The container that the jobs of a platform run in, in the words of a workflow."""

    image: str
    options: str = ""
    volumes: tuple[str, ...] = ()


class PlatformConf(Authored, frozen=True, kw_only=True):
    """A kind of accelerator. ``env`` is set in workers; ``env_allow`` are names (globs) passed from the host's own.

    ``build`` names the build of ``builds.yml`` that its lanes test.

    ``boards`` is how many runners there are: a plan for a fleet never has more jobs for it than that. 0 is no limit.
    """

    device: str = "cpu"
    arch: str = "*"
    count: int = 0
    python: str = ""
    flags: tuple[str, ...] = ()
    runs_on: tuple[str, ...] = ()
    env: dict[str, str] = {}
    env_allow: tuple[str, ...] = ()
    lease: LeaseConf = LeaseConf()
    admission: AdmissionConf = AdmissionConf()
    boards: int = 0
    build: str = ""
    container: ContainerConf | None = None


class RootConf(Authored, frozen=True, kw_only=True):
    """The folder that case ids are relative to: a path in the repository, or the folder that holds a distribution.

    Exactly one of the two is given. ``distribution`` is looked up in the subject's interpreter.
    """

    path: str = ""
    distribution: str = ""


class LimitsConf(Authored, frozen=True, kw_only=True):
    """Bounds on one worker."""

    unit: str = "10m"
    case: str = ""
    output: str = "64MiB"
    memory: str = ""


class AdvisoryConf(Authored, frozen=True, kw_only=True):
    """Why lanes do not block yet, and the day until which they do not."""

    until: date
    reason: str


class SuiteConf(Authored, frozen=True, kw_only=True):
    """What to run. One lane arises for each platform and variant.

    ``paths`` are files, folders, globs or node ids relative to the root; ``exclude`` are globs of files. ``marker`` and
    ``keyword`` are pytest's ``-m`` and ``-k``. ``sample`` are the files of the fast tier, all of them when empty.
    ``requires`` are facts (``python``, ``system``, ``package.NAME``) with the values or specifiers a machine must have;
    a lane is left out where it has them not. ``start`` is ``spawn`` (a fresh interpreter for each worker) or ``fork``
    (from a server that has imported ``preload`` and the runner). ``width`` is how many devices each worker is given, on
    platforms that have some. ``shards`` is how many lanes share the files of each of its lanes, or that for single
    platforms. ``budget`` is how many workers a lane may lose before
    no more is started; ``confirm`` is how often a new failure is run again, and ``flaky`` (``fail`` or ``pass``) how it
    is judged when it passes then. ``env`` and ``args`` of a variant are added to the suite's. An ``advisory``
    suite is shown and does not block. ``conformance`` is for suites of that kind, and only for them.
    """

    kind: str = "pytest"
    platforms: tuple[str, ...]
    root: RootConf = RootConf(path=".")
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sample: tuple[str, ...] = ()
    marker: str = ""
    keyword: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    env_allow: tuple[str, ...] = ()
    requires: dict[str, str] = {}
    subject: tuple[str, ...] = ()
    variants: dict[str, "VariantConf"] = {}
    limits: LimitsConf = LimitsConf()
    timeout: str = "1h"
    start: str = "spawn"
    preload: tuple[str, ...] = ()
    width: int = 1
    shards: int | dict[str, int] = 1
    budget: int = 10
    confirm: int = 0
    flaky: str = "fail"
    advisory: AdvisoryConf | None = None
    ratchet: str = ""
    owner: str = ""
    conformance: ConformanceConf | None = None


class VariantConf(Authored, frozen=True, kw_only=True):
    """Options that make another lane of the same suite and platform."""

    env: dict[str, str] = {}
    args: tuple[str, ...] = ()


class LimitsPatch(Authored, frozen=True, kw_only=True):
    """What an override may say of limits."""

    unit: str | None = None
    case: str | None = None
    output: str | None = None
    memory: str | None = None


class SuitePatch(Authored, frozen=True, kw_only=True):
    """What an override may set: each key as in a suite."""

    exclude: tuple[str, ...] | None = None
    sample: tuple[str, ...] | None = None
    marker: str | None = None
    keyword: str | None = None
    args: tuple[str, ...] | None = None
    env: dict[str, str] | None = None
    env_allow: tuple[str, ...] | None = None
    requires: dict[str, str] | None = None
    budget: int | None = None
    confirm: int | None = None
    flaky: str | None = None
    limits: LimitsPatch | None = None
    timeout: str | None = None
    advisory: AdvisoryConf | None = None
    ratchet: str | None = None
    owner: str | None = None


class OverrideConf(Authored, frozen=True, kw_only=True):
    """Values for the lanes that fit a glob; later overrides win. Tables are merged, the rest is replaced."""

    lanes: str
    why: str = ""
    set: SuitePatch


class PlatformsFile(Authored, frozen=True, kw_only=True):
    """``conf/platforms.yml``."""

    schema: str
    platforms: dict[str, PlatformConf]


class SuitesFile(Authored, frozen=True, kw_only=True):
    """``conf/suites.yml``."""

    schema: str
    suites: dict[str, SuiteConf]
    overrides: tuple[OverrideConf, ...] = ()


class SwitchConf(Authored, frozen=True, kw_only=True):
    """Lanes that are switched off, why, and until when."""

    lanes: str
    reason: str
    until: date
    issue: int | str | None = None


class FleetFile(Authored, frozen=True, kw_only=True):
    """``conf/fleet.yml``."""

    schema: str
    switched_off: tuple[SwitchConf, ...] = ()
