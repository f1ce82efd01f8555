"""What no lane could make right: names that lead nowhere, paths that lead out, values that can not be met."""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from ci_toolkit.catalogue.conformance import CONTROL, check_conformance
from ci_toolkit.catalogue.overrides import Effective
from ci_toolkit.catalogue.schema import SuiteConf, SuitesFile
from ci_toolkit.catalogue.yaml_file import Loaded, dangling
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.model.facts import fits

KINDS = ("pytest", "operators", "conformance", "scenes", "benchmarks")
STARTS = ("spawn", "fork")
FLAKY = ("fail", "pass")
MOST_SHARDS = 256
FACTS = ("python", "system", "package.NAME")
"""What ``requires`` may name: the facts that a subject's interpreter is asked for."""
_VARIABLE = re.compile(r"[^\s=\x00-\x1f\x7f]+")
_FACT = re.compile(r"python|system|package\.(?P<package>.+)")


def check_suite(name: str, suite: SuiteConf, suites: Loaded[SuitesFile], platforms: Collection[str]) -> None:
    """Raises UsageError for what a suite's own keys say wrong, whatever its lanes."""

    def where(*key: str | int) -> Where:
        return suites.where("suites", name, *key)

    if suite.kind not in KINDS:
        raise dangling(where("kind"), "kind of suite", suite.kind, KINDS)
    if suite.start not in STARTS:
        raise dangling(where("start"), "start mode", suite.start, STARTS)
    if not suite.platforms:
        raise UsageError("names no platform", where("platforms"))
    for index, platform in enumerate(suite.platforms):
        if platform not in platforms:
            raise dangling(where("platforms", index), "platform", platform, platforms)
        if platform in suite.platforms[:index]:
            raise UsageError(f"{platform!r} is here a second time", where("platforms", index))
    if bool(suite.root.path) == bool(suite.root.distribution):
        raise UsageError("give either a path or a distribution", where("root"))
    _check_inside(suite.root.path, "the repository", where("root", "path"))
    shards = suite.shards if isinstance(suite.shards, dict) else {"": suite.shards}
    for platform, of in shards.items():
        place = where("shards", platform) if platform else where("shards")
        if platform and platform not in suite.platforms:
            raise dangling(place, "platform of the suite", platform, suite.platforms)
        if not 1 <= of <= MOST_SHARDS:
            raise UsageError(f"can be 1 to {MOST_SHARDS}", place)
    if (suite.conformance is not None) != (suite.kind == "conformance"):
        raise UsageError("goes with `kind: conformance`, and that with it", where("conformance"))
    if suite.conformance is not None:
        if CONTROL in suite.variants:
            raise UsageError(f"{CONTROL!r} is the lane of the upstream itself", where("variants", CONTROL))
        distribution = bool(suite.root.distribution)
        check_conformance(suite.conformance, distribution=distribution, where=where("conformance"))
    for variant, conf in suite.variants.items():
        if not variant:
            raise UsageError("a variant needs a name", where("variants", variant))
        check_env(conf.env, lambda key, variant=variant: where("variants", variant, "env", key))  # type: ignore[misc]


def check_effective(found: Effective, conf_folder: Path) -> None:
    """Raises UsageError for what the values of a lane say wrong, at the suite or the override that set them."""
    suite = found.suite
    check_env(suite.env, lambda name: found.where("env", name))
    for name, wanted in suite.requires.items():
        _check_requirement(name, wanted, found.where("requires", name))
    for index, unit in enumerate(suite.sample):
        if not unit.strip():
            raise UsageError("names no test file", found.where("sample", index))
        if unit in suite.sample[:index]:
            raise UsageError(f"{unit!r} is here a second time", found.where("sample", index))
    if suite.width < 1:
        raise UsageError("a worker needs one device at least", found.where("width"))
    if suite.budget < 1:
        raise UsageError("a lane may lose one worker at least", found.where("budget"))
    if suite.confirm < 0:
        raise UsageError("can not be negative", found.where("confirm"))
    if suite.flaky not in FLAKY:
        raise dangling(found.where("flaky"), "judgement", suite.flaky, FLAKY)
    if suite.ratchet:
        where = found.where("ratchet")
        _check_inside(suite.ratchet, "the conf folder", where)
        if not (conf_folder / suite.ratchet).is_dir():
            raise UsageError(f"there is no folder {conf_folder / suite.ratchet}", where)


def check_env(env: Mapping[str, str], where: Callable[[str], Where]) -> None:
    """Raises UsageError for a name that no environment can hold."""
    for name in env:
        if not _VARIABLE.fullmatch(name):
            raise UsageError(f"{name!r} is no name of an environment variable", where(name))


def _check_requirement(name: str, wanted: str, where: Where) -> None:
    match = _FACT.fullmatch(name)
    if not match:
        raise dangling(where, "fact", name, FACTS)
    package = match["package"]
    if package and package != canonicalize_name(package):
        raise UsageError(
            f"{package!r} is not how the fact is called", where, f"write package.{canonicalize_name(package)}"
        )
    if not wanted.strip():
        raise UsageError("an empty requirement fits nothing", where)
    try:
        fits(wanted, "0")
    except ValueError as error:
        raise UsageError(str(error), where) from error


def _check_inside(path: str, what: str, where: Where) -> None:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise UsageError(f"{path!r} leads out of {what}", where, "write a path relative to it")
