"""A suite's conf with the overrides for one lane applied, and where each value came from."""

from dataclasses import dataclass

import msgspec

from ci_toolkit.catalogue.schema import LimitsPatch, SuiteConf, SuitePatch, SuitesFile
from ci_toolkit.catalogue.yaml_file import Loaded
from ci_toolkit.errors import Where
from ci_toolkit.model.ids import matches

Key = tuple[str | int, ...]


@dataclass(frozen=True)
class Effective:
    """A lane's suite after overrides. ``overridden`` maps a key to the override (its index) that set it last."""

    name: str
    suite: SuiteConf
    overridden: dict[tuple[str, ...], int]
    suites: Loaded[SuitesFile]

    def where(self, *key: str) -> Where:
        """The place of the value that stands."""
        for part in _prefixes(key):
            if part in self.overridden:
                return self.suites.where("overrides", self.overridden[part], "set", *key)
        return self.suites.where("suites", self.name, *key)

    def sources(self) -> dict[str, str]:
        """Dotted key -> ``default``, ``FILE:LINE``, or ``override of GLOB, FILE:LINE``."""
        found: dict[str, str] = {}
        for key in _leaves(msgspec.to_builtins(self.suite)):
            where = self.where(*key)
            owner = next((self.overridden[part] for part in _prefixes(key) if part in self.overridden), None)
            written = where.key.endswith(".".join(key))
            place = f"{where.file}:{where.line}"
            if owner is not None:
                found[".".join(key)] = f"override of {self.suites.value.overrides[owner].lanes}, {place}"
            else:
                found[".".join(key)] = place if written else "default"
        return found


def effective(lane: str, name: str, suites: Loaded[SuitesFile]) -> Effective:
    """The conf of suite ``name`` in ``lane``: later overrides win, tables are merged, the rest is replaced.

    Raises UsageError for an override that sets what a suite has not, or sets it to a wrong type.
    """
    overridden: dict[tuple[str, ...], int] = {}
    suite = suites.value.suites[name]
    for index, override in enumerate(suites.value.overrides):
        if matches(override.lanes, lane):
            suite, keys = _patched(suite, override.set)
            overridden.update(dict.fromkeys(keys, index))
    return Effective(name, suite, overridden, suites)


def _patched(suite: SuiteConf, patch: SuitePatch) -> tuple[SuiteConf, list[tuple[str, ...]]]:
    values: dict[str, object] = {}
    keys: list[tuple[str, ...]] = []
    for name in patch.__struct_fields__:
        new = getattr(patch, name)
        if new is None:
            continue
        if isinstance(new, LimitsPatch):
            given = {part: value for part, value in msgspec.structs.asdict(new).items() if value is not None}
            values[name] = msgspec.structs.replace(suite.limits, **given)
            keys += [(name, part) for part in given]
        elif isinstance(new, dict):
            values[name] = {**getattr(suite, name), **new}
            keys += [(name, part) for part in new]
        else:
            values[name] = new
            keys.append((name,))
    return msgspec.structs.replace(suite, **values), keys


def _prefixes(key: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [key[:end] for end in range(len(key), 0, -1)]


def _leaves(value: object, key: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if isinstance(value, dict) and value:
        return [leaf for name, item in value.items() for leaf in _leaves(item, (*key, str(name)))]
    return [key]
