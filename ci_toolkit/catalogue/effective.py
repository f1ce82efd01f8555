"""A lane's effective values in a flat form, for people. Secrets are not shown."""

from collections.abc import Mapping
from dataclasses import asdict

import msgspec

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.model.secrets import redacted

_OWN = ("lane", "platform", "sources", "base", "conf", "digest", "env", "limits", "requires")

_NESTED = {
    "lease_folder": "lease.folder",
    "broker": "lease.broker",
    "min_free_bytes": "admission.min_free",
    "foreign": "admission.foreign",
    "wait_s": "admission.wait",
}
"""Fields of a platform by the keys that conf gives them."""


def values(conf: LaneConf) -> dict[str, dict[str, object]]:
    """Dotted key -> its value and its ``source`` (``default``, ``FILE:LINE``, or the override that set it)."""
    found: dict[str, object] = {
        f"platform.{_NESTED.get(name, name)}": value for name, value in asdict(conf.platform).items() if name != "name"
    }
    found |= {"kind": conf.lane.kind, "timeout": conf.lane.timeout_s}
    found["advisory"] = conf.lane.advisory and f"until {conf.lane.advisory.until}: {conf.lane.advisory.reason}"
    found |= {name: value for name, value in vars(conf).items() if name not in _OWN}
    found["flaky"] = "pass" if found.pop("flaky_passes") else "fail"
    found["root.path"] = found.pop("root_path")
    found["root.distribution"] = found.pop("root_distribution")
    found |= _nested("env", redacted(conf.env))
    found |= _nested("requires", conf.requires)
    limits = msgspec.structs.asdict(conf.limits)
    for key, name in {"unit": "unit_s", "case": "case_s", "output": "output_bytes", "memory": "memory_bytes"}.items():
        found[f"limits.{key}"] = limits[name]
    return {
        name: {"value": value, "source": conf.sources.get(name, "default")} for name, value in sorted(found.items())
    }


def _nested(name: str, table: Mapping[str, str]) -> dict[str, object]:
    return {f"{name}.{key}": value for key, value in table.items()}
