"""A suite's conf with the overrides for one lane applied, and where each value came from."""

from dataclasses import dataclass

import msgspec

from ci_toolkit.catalogue.schema import LimitsPatch, SuiteConf, SuitePatch, SuitesFile
from ci_toolkit.catalogue.yaml_file import Loaded
from ci_toolkit.catalogue.yaml_nodes import Key
from ci_toolkit.errors import Where
from ci_toolkit.model.ids import matches


@dataclass(frozen=True)
class Effective:
    """A lane's suite after overrides. ``overridden`` maps a key to the override (its index) that set it last."""

    name: str
    suite: SuiteConf
    overridden: dict[Key, int]
    suites: Loaded[SuitesFile]

    def where(self, *key: str | int) -> Where:
        """The place of the value that stands."""
        for part in _prefixes(key):
            if part in self.overridden:
                return self.suites.where("overrides", self.overridden[part], "set", *key)
        return self.suites.where("suites", self.name, *key)

    def overriding_env(self) -> dict[str, str]:
        """The variables that overrides set."""
        return {name: value for name, value in self.suite.env.items() if ("env", name) in self.overridden}

    def sources(self) -> dict[str, str]:
        """Dotted key -> ``default``, ``FILE:LINE``, or ``override of GLOB, FILE:LINE``."""
        found: dict[str, str] = {}
        for key in _leaves(msgspec.to_builtins(self.suite)):
            owner = next((self.overridden[part] for part in _prefixes(key) if part in self.overridden), None)
            if owner is None:
                origin = self.suites.origin("suites", self.name, *key)
            else:
                glob = self.suites.value.overrides[owner].lanes
                origin = f"override of {glob}, {self.suites.origin('overrides', owner, 'set', *key)}"
            found[".".join(key)] = origin
        return found


def effective(lane: str, name: str, suites: Loaded[SuitesFile]) -> Effective:
    """The conf of suite ``name`` in ``lane``: later overrides win, tables are merged, the rest is replaced."""
    overridden: dict[Key, int] = {}
    suite = suites.value.suites[name]
    for index, override in enumerate(suites.value.overrides):
        if matches(override.lanes, lane):
            suite, keys = _patched(suite, override.set)
            overridden.update(dict.fromkeys(keys, index))
    return Effective(name, suite, overridden, suites)


def _patched(suite: SuiteConf, patch: SuitePatch) -> tuple[SuiteConf, list[Key]]:
    values: dict[str, object] = {}
    keys: list[Key] = []
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


def _prefixes(key: Key) -> list[Key]:
    return [key[:end] for end in range(len(key), 0, -1)]


def _leaves(value: object, key: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if isinstance(value, dict) and value:
        return [leaf for name, item in value.items() for leaf in _leaves(item, (*key, str(name)))]
    return [key]
