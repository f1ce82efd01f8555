"""``conf/selection.yml``: what is wrong is told with its line."""

from pathlib import Path

import pytest

from ci_toolkit.catalogue.selection import EVENTS, NON_CODE, TIERS, load_rules
from ci_toolkit.errors import UsageError

SUITES, LANES = {"ops"}, {"ops-cpu"}


def load(folder: Path, text: str):
    folder.joinpath("selection.yml").write_text(f"schema: selection/1\n{text}\n", encoding="utf-8")
    return load_rules(folder, SUITES, LANES)


def test_without_the_file_the_defaults_hold(tmp_path: Path) -> None:
    rules = load_rules(tmp_path, SUITES, LANES)
    assert (rules.tiers, rules.events, rules.non_code, rules.fallback) == (TIERS, EVENTS, NON_CODE, ("*",))


def test_tables_are_added_to_the_defaults(tmp_path: Path) -> None:
    rules = load(tmp_path, "tiers: {week: {full: true}}\nevents: {push: {tier: week}}")
    assert rules.tiers.keys() == {"pr", "nightly", "release", "week"}
    assert rules.events["push"].tier == "week"
    assert rules.events["schedule"] == EVENTS["schedule"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("paths: [{path: /a, suites: [ops]}]", "paths[0].path: '/a' is no path relative to the repository"),
        ("paths: [{path: 'a/{x', suites: [ops]}]", "paths[0].path: 'a/{x' has a brace without its other half"),
        ("paths: [{path: a, suites: [op]}]", "paths[0].suites[0]: there is no suite 'op'; did you mean 'ops'?"),
        ("paths: [{path: a, suites: []}]", "paths[0].suites: names no suite"),
        ("paths: [{path: a, suites: [ops], units: ['{x}.py']}]", "paths[0].units[0]: {x} is not in the path 'a'"),
        ("fallback: [gpu*]", "fallback[0]: there is no lane 'gpu*'"),
        ("tiers: {pr: {lanes: [ops-gpu]}}", "tiers.pr.lanes[0]: there is no lane 'ops-gpu'; did you mean 'ops-cpu'?"),
        ("events: {push: {tier: week}}", "events.push.tier: there is no tier 'week'"),
        ("events: {push: {tier: pr, empty: maybe}}", "events.push.empty: there is no policy 'maybe'"),
        ("labels: {x: {}}", "labels.x: asks for nothing; give a tier or lanes"),
        ("labels: {x: {tier: week}}", "labels.x.tier: there is no tier 'week'"),
        ("noncode: [a]", "noncode: unknown key; did you mean 'non_code'?"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/selection.yml:2: {said}")


def test_a_file_of_another_name_is_not_silently_ignored(tmp_path: Path) -> None:
    tmp_path.joinpath("selection.yaml").write_text("schema: selection/1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"this name is not read; call it selection\.yml"):
        load_rules(tmp_path, SUITES, LANES)
