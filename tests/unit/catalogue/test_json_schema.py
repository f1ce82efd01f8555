"""The schemas that editors get accept and refuse what the reader does."""

import datetime
from pathlib import Path

import pytest
import yaml

from ci_toolkit.catalogue.json_schema import FILES, json_schema
from ci_toolkit.catalogue.load import load_catalogue

CONF = Path(__file__).resolve().parents[3] / "conf"


def plain(text: str) -> object:
    """A YAML file as an editor's checker sees it: dates are text."""

    def undated(value: object) -> object:
        if isinstance(value, dict):
            return {name: undated(part) for name, part in value.items()}
        if isinstance(value, list):
            return [undated(part) for part in value]
        return value.isoformat() if isinstance(value, datetime.date) else value

    return undated(yaml.safe_load(text))


def valid(name: str, text: str) -> bool:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: nothing to check schemas with")
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid(plain(text))


def test_this_repositorys_conf_is_valid_to_both() -> None:
    assert load_catalogue(CONF).lanes
    for name in ("platforms", "suites"):
        assert valid(name, (CONF / f"{name}.yml").read_text(encoding="utf-8"))
    for path in (CONF / "ratchets").glob("*/*.yml"):
        assert valid("ratchet", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("suites", "schema: suites/1\nsuites: {one: {platforms: [cpu], platfroms: [cpu]}}\n"),
        ("suites", "schema: suites/1\nsuites: {one: {platforms: cpu}}\n"),
        ("suites", "schema: suites/1\nsuites: {one: {}}\n"),
        ("suites", "schema: suites/2\nsuites: {one: {platforms: [cpu]}}\n"),
        ("suites", "suites: {one: {platforms: [cpu]}}\n"),
        ("suites", "schema: suites/1\nsuites: {one: {platforms: [cpu], env: {A: 3.10}}}\n"),
        ("suites", "schema: suites/1\nsuites: {}\noverrides: [{lanes: '*', set: {kind: x}}]\n"),
        ("platforms", "schema: platforms/1\nplatforms: {cpu: {count: two}}\n"),
        ("fleet", "schema: fleet/1\nswitched_off: [{lanes: '*', reason: x}]\n"),
        ("ratchet", "schema: ratchet/1\ngroups: {g: {outcome: faild, cases: {}}}\n"),
    ],
)
def test_a_mistake_is_one_to_both(name: str, text: str) -> None:
    assert not valid(name, text)


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_object_of_a_schema_is_closed_and_described(name: str) -> None:
    schema = json_schema(name)
    for title, part in schema["$defs"].items():
        if "properties" in part:
            assert part["additionalProperties"] is False, title
            assert part["description"], title
    top = schema["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    assert top["properties"]["schema"] == {"const": f"{name}/1"}
    assert "schema" in top["required"]
