"""Where each value of a lane came from: ``default``, ``FILE:LINE``, or the override that set it."""

from ci_toolkit.catalogue.overrides import Effective
from ci_toolkit.catalogue.schema import PlatformsFile, SuitesFile
from ci_toolkit.catalogue.yaml_file import Loaded

DEFAULT = "default"


def origins(
    found: Effective,
    platform: str,
    variant: str,
    platforms: Loaded[PlatformsFile],
    suites: Loaded[SuitesFile],
) -> dict[str, str]:
    """Dotted key, as in a suite or as ``platform.KEY`` -> its origin; lists that were joined have several."""
    conf = platforms.value.platforms[platform]
    at: tuple[str, ...] = ("platforms", platform)
    of_platform = {f"platform.{name}": platforms.origin(*at, name) for name in conf.__struct_fields__}
    for table, keys in (("lease", conf.lease.__struct_fields__), ("admission", conf.admission.__struct_fields__)):
        of_platform |= {f"platform.{table}.{key}": platforms.origin(*at, table, key) for key in keys}
    env = {f"env.{name}": platforms.origin(*at, "env", name) for name in conf.env}
    suite = found.sources()
    suite["env_allow"] = _joined(of_platform["platform.env_allow"], suite["env_allow"])
    of_variant: dict[str, str] = {}
    if variant in suites.value.suites[found.name].variants:
        at = ("suites", found.name, "variants", variant)
        names = suites.value.suites[found.name].variants[variant].env.keys() - found.overriding_env().keys()
        of_variant = {f"env.{name}": suites.origin(*at, "env", name) for name in names}
        suite["args"] = _joined(suite["args"], suites.origin(*at, "args"))
    return {**of_platform, **env, **suite, **of_variant}


def _joined(*places: str) -> str:
    return " + ".join(place for place in places if place != DEFAULT) or DEFAULT
