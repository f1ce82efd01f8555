"""Reads ``conf/selection.yml`` into rules, with the defaults that hold where it says nothing."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from ci_toolkit.catalogue.selection_schema import EventConf, LabelConf, PathConf, SelectionFile, TierConf
from ci_toolkit.catalogue.yaml_file import Loaded, dangling, load
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.model.ids import matches
from ci_toolkit.model.path_template import compiled, names

SELECTION = "selection.yml"
MAX_BYTES = 5 << 20
NON_CODE = ("**/*.md", "**/*.rst", "docs/**", "LICENSE*", "NOTICE*", ".gitignore", ".gitattributes")
CI_FILES = (".github/**", "**/action.yml", "**/action.yaml")
"""Files of which a change runs all: what decides what runs is never judged by what it decides."""
TIERS = {"pr": TierConf(), "nightly": TierConf(full=True), "release": TierConf(full=True)}
EVENTS = {
    "pull_request": EventConf(tier="pr", changes=True, empty="pass"),
    "merge_group": EventConf(tier="pr"),
    "push": EventConf(tier="pr"),
    "schedule": EventConf(tier="nightly"),
    "workflow_dispatch": EventConf(tier="nightly"),
    "issue_comment": EventConf(tier="pr", changes=True, empty="pass"),
    "local": EventConf(tier="pr"),
}
EMPTY = ("pass", "fail")


@dataclass(frozen=True)
class Rules:
    """The rules of selection, resolved. ``conf`` is the conf folder, relative to the repository, with a last slash."""

    conf: str = "conf/"
    non_code: tuple[str, ...] = NON_CODE
    ci: tuple[str, ...] = CI_FILES
    paths: tuple[PathConf, ...] = ()
    fallback: tuple[str, ...] = ("*",)
    tiers: dict[str, TierConf] = field(default_factory=lambda: dict(TIERS))
    events: dict[str, EventConf] = field(default_factory=lambda: dict(EVENTS))
    labels: dict[str, LabelConf] = field(default_factory=dict)


def load_rules(folder: Path, suites: Collection[str], lanes: Collection[str]) -> Rules:
    """The rules in ``folder/selection.yml``, the defaults where there is none.

    Keys that the file gives replace the default lists and are added to the default tables. Raises UsageError with the
    line of a name that leads nowhere or a template that is none.
    """
    conf = f"{folder.name}/"
    path = folder / SELECTION
    misnamed = path.with_suffix(".yaml")
    if misnamed.exists():
        raise UsageError("this name is not read", Where(str(misnamed)), f"call it {SELECTION}")
    if not path.exists() and not path.is_symlink():
        return Rules(conf)
    loaded = load(path, SelectionFile, schema="selection/1", limit=MAX_BYTES)
    found = loaded.value
    rules = Rules(
        conf,
        found.non_code or NON_CODE,
        (*CI_FILES, *found.ci),
        found.paths,
        found.fallback,
        TIERS | found.tiers,
        EVENTS | found.events,
        found.labels,
    )
    _check(rules, loaded, suites, lanes)
    return rules


def _check(rules: Rules, file: Loaded[SelectionFile], suites: Collection[str], lanes: Collection[str]) -> None:
    for key in ("non_code", "ci"):
        for index, template in enumerate(getattr(file.value, key)):
            _template(template, file.where(key, index))
    for index, row in enumerate(rules.paths):
        _template(row.path, file.where("paths", index, "path"))
        if not row.suites:
            raise UsageError("names no suite", file.where("paths", index, "suites"))
        for at, glob in enumerate(row.suites):
            if not any(matches(glob, suite) for suite in suites):
                raise dangling(file.where("paths", index, "suites", at), "suite", glob, suites)
        for at, unit in enumerate(row.units):
            where = file.where("paths", index, "units", at)
            _template(unit, where)
            for name in sorted(names(unit) - names(row.path)):
                raise UsageError(f"{{{name}}} is not in the path {row.path!r}", where)
    globs: list[tuple[tuple[str | int, ...], str]] = [
        (("fallback", index), glob) for index, glob in enumerate(file.value.fallback)
    ]
    for name, tier in file.value.tiers.items():
        globs += [(("tiers", name, "lanes", index), glob) for index, glob in enumerate(tier.lanes)]
    for name, label in file.value.labels.items():
        globs += [(("labels", name, "lanes", index), glob) for index, glob in enumerate(label.lanes)]
    for place, glob in globs:
        if not any(matches(glob, lane) for lane in lanes):
            raise dangling(file.where(*place), "lane", glob, lanes)
    for name, event in file.value.events.items():
        if event.tier not in rules.tiers:
            raise dangling(file.where("events", name, "tier"), "tier", event.tier, rules.tiers)
        if event.empty not in EMPTY:
            raise dangling(file.where("events", name, "empty"), "policy", event.empty, EMPTY)
    for name, label in file.value.labels.items():
        if label.tier and label.tier not in rules.tiers:
            raise dangling(file.where("labels", name, "tier"), "tier", label.tier, rules.tiers)
        if not label.tier and not label.lanes:
            raise UsageError("asks for nothing", file.where("labels", name), "give a tier or lanes")


def _template(template: str, where: Where) -> None:
    try:
        compiled(template)
    except ValueError as error:
        raise UsageError(str(error), where) from error
