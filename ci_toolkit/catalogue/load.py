"""Reads a repository's conf folder into the lanes that it defines."""

import datetime
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from ci_toolkit.catalogue.builds import BuildSpec, check_build, load_builds
from ci_toolkit.catalogue.checks import check_effective, check_env, check_suite
from ci_toolkit.catalogue.conformance import CONTROL
from ci_toolkit.catalogue.lanes import LaneConf, Platform
from ci_toolkit.catalogue.origins import origins
from ci_toolkit.catalogue.overrides import Effective, effective
from ci_toolkit.catalogue.quantities import seconds, size
from ci_toolkit.catalogue.schema import (
    FleetFile,
    PlatformConf,
    PlatformsFile,
    SuiteConf,
    SuitePatch,
    SuitesFile,
    VariantConf,
)
from ci_toolkit.catalogue.selection import Rules, load_rules
from ci_toolkit.catalogue.yaml_file import Loaded, dangling, load
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.model.ids import is_lane_id, lane_id, matches
from ci_toolkit.model.plan import Advisory, Container, ExpectedDevice, Lane
from ci_toolkit.model.request import Limits

T = TypeVar("T")
Q = TypeVar("Q", int, float)
MAX_CONF_BYTES = 5 << 20
FOREIGN = ("allow", "wait", "refuse")
PLACES = ("base", "conf", "digest", "sources")
"""The fields of a lane that say where it was read, not what it does."""


@dataclass(frozen=True)
class Switch:
    """Lanes that are switched off until a day, and where conf says so."""

    lanes: str
    reason: str
    until: datetime.date
    where: Where


@dataclass(frozen=True)
class Catalogue:
    """All of a repository's conf. ``folder`` is the conf folder, ``digest`` covers every lane and rule."""

    folder: str
    lanes: tuple[LaneConf, ...]
    switches: tuple[Switch, ...]
    digest: str
    rules: Rules = field(default_factory=Rules)
    builds: Mapping[str, BuildSpec] = field(default_factory=dict)

    def lane(self, name: str) -> LaneConf:
        """The conf of one lane, the first shard for an id without one. Raises UsageError for one that is not there."""
        lanes = {conf.lane.unsharded: conf for conf in reversed(self.lanes)} | self.by_id()
        if name not in lanes:
            raise dangling(Where(self.folder), "lane", name, lanes)
        return lanes[name]

    def by_id(self) -> dict[str, LaneConf]:
        """Lane id -> its conf."""
        return {conf.lane.id: conf for conf in self.lanes}


def load_catalogue(folder: Path) -> Catalogue:
    """Reads ``platforms.yml``, ``suites.yml`` and, where they are there, ``fleet.yml``, ``builds.yml`` and the rules.

    Raises UsageError with file, line and key for what is not valid, and for names that lead nowhere.
    """
    if not folder.is_dir():
        raise UsageError("there is no such conf folder", Where(str(folder)), "name one with --conf")
    platforms = _file(folder, "platforms", PlatformsFile)
    suites = _file(folder, "suites", SuitesFile)
    builds = load_builds(folder)
    for name, platform_conf in platforms.value.platforms.items():
        _check_platform(name, platform_conf, platforms)
        check_build(platform_conf.build, builds, platforms.where("platforms", name, "build"))
    lanes: dict[str, LaneConf] = {}
    for name, suite in suites.value.suites.items():
        check_suite(name, suite, suites, platforms.value.platforms)
        for platform in suite.platforms:
            for variant, shard in itertools.product(_variants(suite), _shards(suite, platform)):
                conf = _lane(folder, name, platform, variant, shard, suites, platforms)
                if conf.lane.id in lanes:
                    raise UsageError(f"a second lane would be called {conf.lane.id!r}", suites.where("suites", name))
                lanes[conf.lane.id] = conf
    for index, override in enumerate(suites.value.overrides):
        if not any(matches(override.lanes, lane) for lane in lanes):
            raise UsageError(f"no lane fits {override.lanes!r}", suites.where("overrides", index, "lanes"))
        if override.set == SuitePatch():
            raise UsageError("sets nothing", suites.where("overrides", index, "set"))
    ordered = tuple(lanes.values())
    rules = load_rules(folder, suites.value.suites, lanes)
    return Catalogue(
        folder=str(folder),
        lanes=ordered,
        switches=_switches(folder, lanes),
        digest=digest_of({"lanes": {conf.lane.id: conf.digest for conf in ordered}, "rules": rules, "builds": builds}),
        rules=rules,
        builds=builds,
    )


def _file(folder: Path, name: str, kind: type[T]) -> Loaded[T]:
    return load(folder / f"{name}.yml", kind, schema=f"{name}/1", limit=MAX_CONF_BYTES)


def _check_platform(name: str, conf: PlatformConf, platforms: Loaded[PlatformsFile]) -> None:
    if conf.count < 0:
        raise UsageError("can not be negative", platforms.where("platforms", name, "count"))
    if conf.boards < 0:
        raise UsageError("can not be negative", platforms.where("platforms", name, "boards"))
    if not conf.arch:
        raise UsageError("an empty architecture fits nothing", platforms.where("platforms", name, "arch"), 'write "*"')
    check_env(conf.env, lambda key: platforms.where("platforms", name, "env", key))
    if conf.lease.folder and conf.lease.broker:
        raise UsageError("give either a folder or a broker", platforms.where("platforms", name, "lease"))
    if conf.admission.foreign not in FOREIGN:
        raise dangling(
            platforms.where("platforms", name, "admission", "foreign"), "rule", conf.admission.foreign, FOREIGN
        )


def _lane(
    folder: Path,
    suite_name: str,
    platform_name: str,
    variant_name: str,
    shard: tuple[int, int] | None,
    suites: Loaded[SuitesFile],
    platforms: Loaded[PlatformsFile],
) -> LaneConf:
    identity = lane_id(suite_name, platform_name, variant_name, shard)
    place = suites.where("suites", suite_name)
    if not is_lane_id(identity):
        raise UsageError(f"{identity!r} is no lane id", place, "use only a-z, 0-9, '_', '.' and '-' in names")
    found = effective(identity, suite_name, suites)
    check_effective(found, folder)
    suite = found.suite
    platform = platforms.value.platforms[platform_name]
    variant = suite.variants.get(variant_name, VariantConf())
    lane = Lane(
        id=identity,
        suite=suite_name,
        kind=suite.kind,
        platform=platform_name,
        variant=variant_name,
        shard=shard,
        runs_on=platform.runs_on,
        timeout_s=_quantity(seconds, suite.timeout, found.where("timeout")),
        device=ExpectedDevice(module=platform.device, count=platform.count, arch=platform.arch),
        build=platform.build,
        advisory=_advisory(found),
    )
    # An override is for this very lane: it stands above what the lane's variant says.
    env = {**platform.env, **suite.env, **variant.env, **found.overriding_env()}
    conf = LaneConf(
        lane=lane,
        platform=_platform(platform_name, platform, platforms),
        base=str(folder.resolve().parent),
        conf=str(folder.resolve()),
        root_path=suite.root.path,
        root_distribution=suite.root.distribution,
        paths=suite.paths,
        exclude=suite.exclude,
        sample=suite.sample,
        marker=suite.marker,
        keyword=suite.keyword,
        args=(*suite.args, *variant.args),
        env=env,
        env_allow=(*platform.env_allow, *suite.env_allow),
        requires=suite.requires,
        subject=suite.subject,
        limits=_limits(found),
        start=suite.start,
        preload=suite.preload,
        width=suite.width,
        budget=suite.budget,
        confirm=suite.confirm,
        flaky_passes=suite.flaky == "pass",
        ratchet=suite.ratchet,
        owner=suite.owner,
        conformance=suite.conformance,
        digest="",
        sources=origins(found, platform_name, variant_name, platforms, suites),
    )
    return replace(conf, digest=_digest(conf))


def _variants(suite: SuiteConf) -> list[str]:
    control = [CONTROL] if suite.conformance is not None and suite.conformance.control else []
    return [*(suite.variants or [""]), *control]


def _shards(suite: SuiteConf, platform: str) -> Sequence[tuple[int, int] | None]:
    """The shards of each lane of a platform; (None,) where it is not split."""
    of = suite.shards if isinstance(suite.shards, int) else suite.shards.get(platform, 1)
    return (None,) if of == 1 else tuple((number, of) for number in range(1, of + 1))


def _digest(conf: LaneConf) -> str:
    """The digest of a lane's values, whatever the place of the repository and of each value in its files."""
    return digest_of({name: value for name, value in vars(conf).items() if name not in PLACES})


def _platform(name: str, conf: PlatformConf, platforms: Loaded[PlatformsFile]) -> Platform:
    admission = conf.admission

    def where(*key: str) -> Where:
        return platforms.where("platforms", name, *key)

    return Platform(
        name=name,
        device=conf.device,
        arch=conf.arch,
        count=conf.count,
        python=conf.python,
        flags=conf.flags,
        runs_on=conf.runs_on,
        lease_folder=conf.lease.folder,
        broker=conf.lease.broker,
        min_free_bytes=_quantity(size, admission.min_free, where("admission", "min_free")) if admission.min_free else 0,
        foreign=admission.foreign,
        wait_s=_quantity(seconds, admission.wait, where("admission", "wait")),
        boards=conf.boards,
        build=conf.build,
        container=Container(**msgspec.structs.asdict(conf.container)) if conf.container else None,
    )


def _advisory(found: Effective) -> Advisory | None:
    conf = found.suite.advisory
    if conf is None:
        return None
    if not conf.reason.strip():
        raise UsageError("the reason is empty", found.where("advisory"))
    return Advisory(until=conf.until, reason=conf.reason)


def _limits(found: Effective) -> Limits:
    limits = found.suite.limits
    where = found.where
    return Limits(
        unit_s=_quantity(seconds, limits.unit, where("limits", "unit")),
        case_s=_quantity(seconds, limits.case, where("limits", "case")) if limits.case else None,
        output_bytes=_quantity(size, limits.output, where("limits", "output")),
        memory_bytes=_quantity(size, limits.memory, where("limits", "memory")) if limits.memory else None,
    )


def _quantity(read: Callable[[str], Q], text: str, where: Where) -> Q:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(str(error), where) from error


def _switches(folder: Path, lanes: Mapping[str, LaneConf]) -> tuple[Switch, ...]:
    path = folder / "fleet.yml"
    misnamed = path.with_suffix(".yaml")
    if misnamed.exists():
        raise UsageError("this name is not read", Where(str(misnamed)), "call it fleet.yml")
    if not path.exists() and not path.is_symlink():
        return ()
    fleet = _file(folder, "fleet", FleetFile)
    switches = []
    for index, switch in enumerate(fleet.value.switched_off):
        where = fleet.where("switched_off", index)
        if not any(matches(switch.lanes, lane) for lane in lanes):
            raise UsageError(f"no lane fits {switch.lanes!r}", fleet.where("switched_off", index, "lanes"))
        if not switch.reason.strip():
            raise UsageError("the reason is empty", fleet.where("switched_off", index, "reason"))
        switches.append(Switch(switch.lanes, switch.reason, switch.until, where))
    return tuple(switches)
