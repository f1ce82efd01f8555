"""What conf may say of a conformance suite, and the lanes that arise from it."""

from pathlib import Path

import pytest

from ci_toolkit.catalogue.load import Catalogue, load_catalogue
from ci_toolkit.errors import UsageError

PIN = "a" * 64
GOOD = f"""\
upstream: {{name: toolz, tests: [toolz/tests], digest: {PIN}}}, candidate: {{name: cytoolz}}"""


def catalogue(folder: Path, made: str = GOOD, more: str = "", root: str = "{distribution: toolz}") -> Catalogue:
    (folder / "conf").mkdir(exist_ok=True)
    (folder / "conf/platforms.yml").write_text("schema: platforms/1\nplatforms: {cpu: {}, gpu: {device: cuda}}\n")
    suite = f"kind: conformance, platforms: [cpu, gpu], root: {root}, conformance: {{{made}}}, {more}"
    (folder / "conf/suites.yml").write_text(f"schema: suites/1\nsuites: {{toolz: {{{suite}}}}}\n")
    return load_catalogue(folder / "conf")


def test_each_platform_has_one_control_beside_all_its_variants(tmp_path: Path) -> None:
    found = catalogue(tmp_path, more="variants: {f32: {}, f64: {}}")
    assert sorted(found.by_id()) == sorted(
        f"toolz-{platform}-{variant}" for platform in ("cpu", "gpu") for variant in ("f32", "f64", "control")
    )
    candidate, control = found.lane("toolz-cpu-f32"), found.lane("toolz-cpu-control")
    assert (candidate.control_lane, candidate.expectations, candidate.is_control) == ("toolz-cpu-control", "cpu", False)
    assert (control.control_lane, control.expectations, control.is_control) == ("", "cpu.control", True)


def test_shards_have_a_control_each(tmp_path: Path) -> None:
    found = catalogue(tmp_path, more="shards: 2")
    assert found.lane("toolz-cpu-2of2").control_lane == "toolz-cpu-control-2of2"
    assert "toolz-cpu-control-2of2" in found.by_id()


def test_a_suite_may_have_no_control(tmp_path: Path) -> None:
    found = catalogue(tmp_path, f"{GOOD}, control: false")
    assert sorted(found.by_id()) == ["toolz-cpu", "toolz-gpu"]
    assert found.lane("toolz-cpu").control_lane == ""


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (GOOD.replace(PIN, "abc"), "not pinned by its digest"),
        (GOOD.replace(f"digest: {PIN}", f"commit: {'a' * 40}"), "has no commit"),
        (GOOD.replace("[toolz/tests]", "[]"), "tests are not named"),
        (GOOD.replace("name: cytoolz", "name: toolz.fast"), "are one package"),
        (GOOD.replace("name: cytoolz", "name: cy-toolz"), "can not be imported"),
        (f"{GOOD}, alias: some", "'some'"),
        (f"{GOOD}, seed: -1", "a seed is from 0"),
        (f"{GOOD}, control: false, allow_control_skips: true", "no control that could skip"),
    ],
)
def test_what_no_run_could_make_right(tmp_path: Path, made: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        catalogue(tmp_path, made)
    assert "suites.toolz.conformance" in str(caught.value)


def test_a_checkout_is_pinned_by_its_commit(tmp_path: Path) -> None:
    commit = GOOD.replace(f"digest: {PIN}", f"commit: {'a' * 40}")
    assert catalogue(tmp_path, commit, root="{path: third_party/toolz}")
    with pytest.raises(UsageError, match="has no digest"):
        catalogue(tmp_path, root="{path: third_party/toolz}")


def test_the_controls_name_is_taken_and_the_kind_goes_with_its_conf(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the lane of the upstream itself"):
        catalogue(tmp_path, more="variants: {control: {}}")
    (tmp_path / "conf/suites.yml").write_text("schema: suites/1\nsuites: {x: {kind: conformance, platforms: [cpu]}}\n")
    with pytest.raises(UsageError, match="goes with `kind: conformance`"):
        load_catalogue(tmp_path / "conf")
