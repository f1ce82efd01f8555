"""JSON schemas of the files that people write, made from the structs that read them."""

from typing import Any

import msgspec

from ci_toolkit.catalogue.builds import BuildsFile
from ci_toolkit.catalogue.schema import FleetFile, PlatformsFile, SuitesFile
from ci_toolkit.catalogue.selection_schema import SelectionFile
from ci_toolkit.model.ratchet import RATCHET_SCHEMA, Ratchet

FILES: dict[str, tuple[type, str]] = {
    "platforms": (PlatformsFile, "platforms/1"),
    "suites": (SuitesFile, "suites/1"),
    "fleet": (FleetFile, "fleet/1"),
    "builds": (BuildsFile, "builds/1"),
    "selection": (SelectionFile, "selection/1"),
    "ratchet": (Ratchet, RATCHET_SCHEMA),
}


def json_schema(name: str) -> dict[str, Any]:
    """The schema of one of FILES; unknown keys are refused by it as they are by the reader."""
    kind, version = FILES[name]
    made = msgspec.json.schema(kind)
    top = made["$defs"][kind.__name__]
    top["properties"]["schema"] = {"const": version}
    top["required"] = sorted({*top.get("required", []), "schema"})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
