"""From conf to lanes: references, overrides, where values come from."""

from pathlib import Path

import pytest

from ci_toolkit.catalogue.effective import values
from ci_toolkit.catalogue.load import Catalogue, load_catalogue
from ci_toolkit.errors import UsageError

PLATFORMS = """
schema: platforms/1
platforms:
  cpu: {device: cpu, env: {MODE: slow, API_TOKEN: hush}}
  gpu: {device: cuda, count: 1}
"""
SUITES = """
schema: suites/1
suites:
  one:
    platforms: [cpu, gpu]
    env: {MODE: fast}
    limits: {unit: 5m}
    variants: {f32: {env: {DTYPE: f32}}, f64: {env: {DTYPE: f64}}}
  two: {platforms: [cpu]}
"""


def catalogue(folder: Path, suites: str = SUITES, platforms: str = PLATFORMS, fleet: str = "") -> Catalogue:
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    (conf / "platforms.yml").write_text(platforms, encoding="utf-8")
    (conf / "suites.yml").write_text(suites, encoding="utf-8")
    if fleet:
        (conf / "fleet.yml").write_text(f"schema: fleet/1\n{fleet}", encoding="utf-8")
    return load_catalogue(conf)


def test_a_lane_for_each_platform_and_variant(tmp_path: Path) -> None:
    lanes = catalogue(tmp_path).by_id()
    assert set(lanes) == {"one-cpu-f32", "one-cpu-f64", "one-gpu-f32", "one-gpu-f64", "two-cpu"}
    assert lanes["one-cpu-f64"].env == {"MODE": "fast", "API_TOKEN": "hush", "DTYPE": "f64"}


def test_the_later_override_wins_and_tables_are_merged(tmp_path: Path) -> None:
    overrides = """
overrides:
  - {lanes: "one-*", set: {limits: {case: 5s}, env: {A: first, B: both}}}
  - {lanes: "one-gpu-*", set: {limits: {case: 9s}, env: {A: second}, args: [-v]}}
"""
    lanes = catalogue(tmp_path, SUITES + overrides).by_id()
    assert lanes["one-cpu-f32"].limits.case_s == 5
    assert lanes["one-gpu-f32"].limits.case_s == 9
    assert lanes["one-gpu-f32"].limits.unit_s == 300
    assert lanes["one-gpu-f32"].env["A"] == "second"
    assert lanes["one-gpu-f32"].env["B"] == "both"
    assert lanes["one-gpu-f32"].args == ("-v",)
    assert lanes["two-cpu"].limits.case_s is None


def test_each_value_says_where_it_came_from_and_secrets_are_hidden(tmp_path: Path) -> None:
    override = '\noverrides:\n  - {lanes: "one-*", set: {limits: {case: 5s}}}\n'
    shown = values(catalogue(tmp_path, SUITES + override).lane("one-cpu-f32"))
    assert shown["limits.unit"]["source"].endswith("suites.yml:7")
    assert shown["limits.case"]["source"].startswith("override of one-*, ")
    assert shown["env.MODE"]["source"].endswith("suites.yml:6")
    assert shown["env.DTYPE"]["source"].endswith("suites.yml:8")
    assert shown["platform.device"]["source"].endswith("platforms.yml:4")
    assert shown["marker"]["source"] == "default"
    assert shown["env.API_TOKEN"]["value"] == "***"


def test_an_override_stands_above_the_variant_and_the_variant_above_suite_and_platform(tmp_path: Path) -> None:
    override = '\noverrides:\n  - {lanes: "one-cpu-f64", set: {env: {DTYPE: f16}}}\n'
    suites = SUITES.replace("f64: {env: {DTYPE: f64}}", "f64: {env: {DTYPE: f64, MODE: odd}}") + override
    loaded = catalogue(tmp_path, suites)
    lane, other = loaded.lane("one-cpu-f64"), loaded.lane("one-gpu-f64")
    assert (lane.env["DTYPE"], lane.env["MODE"]) == ("f16", "odd")
    assert (other.env["DTYPE"], other.env["MODE"]) == ("f64", "odd")
    shown = values(lane)
    assert shown["env.DTYPE"]["source"].startswith("override of one-cpu-f64, ")
    assert shown["env.MODE"]["source"].endswith("suites.yml:8")
    assert values(other)["env.DTYPE"]["source"].endswith("suites.yml:8")


def test_lists_that_were_joined_name_all_their_places(tmp_path: Path) -> None:
    suites = """
schema: suites/1
suites:
  one:
    platforms: [cpu]
    args: [-v]
    env_allow: [B]
    variants: {f32: {args: [-x]}, f64: {}}
"""
    loaded = catalogue(tmp_path, suites, "schema: platforms/1\nplatforms:\n  cpu: {env_allow: [A]}\n")
    shown = values(loaded.lane("one-cpu-f32"))
    assert shown["args"]["value"] == ("-v", "-x")
    assert [place.rsplit("/")[-1] for place in shown["args"]["source"].split(" + ")] == ["suites.yml:6", "suites.yml:8"]
    assert shown["env_allow"]["value"] == ("A", "B")
    found = [place.rsplit("/")[-1] for place in shown["env_allow"]["source"].split(" + ")]
    assert found == ["platforms.yml:3", "suites.yml:7"]
    assert values(loaded.lane("one-cpu-f64"))["args"]["source"].endswith("suites.yml:6")


def test_names_with_dots_have_places_too(tmp_path: Path) -> None:
    suites = SUITES.replace("env: {MODE: fast}", "env: {MODE.A: fast}")
    assert values(catalogue(tmp_path, suites).lane("one-cpu-f32"))["env.MODE.A"]["source"].endswith("suites.yml:6")


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        *(
            (name, True)
            for name in ("HF_TOKEN", "SECRET", "DB_PASSWORD", "SIGNING_KEY", "KEY", "AWS_SECRET_ACCESS_KEY")
        ),
        *((name, True) for name in ("SSH_KEYS", "api_key", "APIKEY", "KEY_OF_VENDOR", "GPG_PASSPHRASE")),
        *((name, False) for name in ("KEYBOARD", "MONKEY", "OMP_NUM_THREADS", "PATH")),
    ],
)
def test_values_of_names_that_look_secret_are_hidden(tmp_path: Path, name: str, hidden: bool) -> None:
    suites = SUITES.replace("env: {MODE: fast}", f"env: {{{name}: hush}}")
    assert (values(catalogue(tmp_path, suites).lane("one-cpu-f32"))[f"env.{name}"]["value"] == "***") is hidden


def test_the_digest_is_of_the_values_not_of_the_place(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = catalogue(tmp_path / "a"), catalogue(tmp_path / "b", "# a comment\n" + SUITES)
    assert one.digest == other.digest
    changed = catalogue(tmp_path / "b", SUITES.replace("fast", "faster"))
    assert changed.digest != one.digest
    assert changed.lane("two-cpu").digest == one.lane("two-cpu").digest


def test_the_digest_of_a_lane_is_of_its_own_values(tmp_path: Path) -> None:
    one = catalogue(tmp_path)
    for text in (SUITES.replace("DTYPE: f64", "DTYPE: f16"), SUITES.replace("[cpu, gpu]", "[cpu]")):
        assert catalogue(tmp_path, text).lane("one-cpu-f32").digest == one.lane("one-cpu-f32").digest
    for text in (SUITES.replace("DTYPE: f32", "DTYPE: f16"), SUITES.replace("unit: 5m", "unit: 4m")):
        assert catalogue(tmp_path, text).lane("one-cpu-f32").digest != one.lane("one-cpu-f32").digest
    moved = '\noverrides:\n  - {lanes: "one-*", set: {limits: {unit: 300s}}}\n'
    assert catalogue(tmp_path, SUITES + moved).digest == one.digest, "the same values from another place"


@pytest.mark.parametrize(
    ("suites", "said"),
    [
        (SUITES.replace("[cpu, gpu]", "[cpu, gpo]"), r"suites.yml:5: suites.one.platforms\[1\]: .*did you mean 'gpu'"),
        (SUITES.replace("unit: 5m", "unit: 5"), r"suites.yml:7: .*must be text"),
        (SUITES.replace("unit: 5m", "unit: 5 min"), r"suites.yml:7: suites.one.limits.unit: .*is no duration"),
        (SUITES.replace("  two:", "  Two:"), r"suites.yml:9: suites.Two: 'Two-cpu' is no lane id"),
        (SUITES.replace("  two: {", "  two: {kind: pytst, "), r"suites.yml:9: .*did you mean 'pytest'"),
        (SUITES.replace("  two: {", "  two: {ratchet: ratchets/two, "), "there is no folder"),
        (SUITES.replace("  two: {", "  two: {root: {path: a, distribution: b}, "), "either a path or a distribution"),
        (SUITES.replace("  two: {", "  two: {start: thread, "), "start mode"),
        (SUITES + 'overrides: [{lanes: "thre*", set: {marker: x}}]\n', "no lane fits 'thre\\*'"),
        (SUITES + 'overrides: [{lanes: "two*", set: {markr: x}}]\n', "did you mean 'marker'"),
        (SUITES.replace("two", "one-cpu").replace("platforms: [cpu]}", "platforms: [cpu], variants: {f32: {}}}"), "id"),
    ],
)
def test_what_leads_nowhere_is_an_error_with_its_place(tmp_path: Path, suites: str, said: str) -> None:
    if said == "id":
        assert "one-cpu-cpu-f32" in catalogue(tmp_path, suites).by_id()
        return
    with pytest.raises(UsageError, match=said):
        catalogue(tmp_path, suites)


def test_two_lanes_of_one_name_are_refused(tmp_path: Path) -> None:
    text = "schema: suites/1\nsuites:\n  a: {platforms: [b-c]}\n  a-b: {platforms: [c]}\n"
    platforms = "schema: platforms/1\nplatforms: {c: {}, b-c: {}}\n"
    with pytest.raises(UsageError, match="a second lane would be called 'a-b-c'"):
        catalogue(tmp_path, text, platforms)


def test_a_switch_needs_a_lane_and_a_reason(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no lane fits"):
        catalogue(tmp_path, fleet='switched_off: [{lanes: "three-*", reason: sick, until: 2027-01-01}]\n')
    with pytest.raises(UsageError, match="the reason is empty"):
        catalogue(tmp_path, fleet='switched_off: [{lanes: "one-gpu*", reason: " ", until: 2027-01-01}]\n')
