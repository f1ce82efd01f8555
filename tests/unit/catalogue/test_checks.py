"""What no lane could make right is refused where it is written, before a lane is quietly left out for it."""

from pathlib import Path

import pytest

from ci_toolkit.catalogue.load import load_catalogue
from ci_toolkit.errors import UsageError

PLATFORMS = "schema: platforms/1\nplatforms:\n  cpu: {%s}\n"
SUITES = "schema: suites/1\nsuites:\n  one:\n    platforms: [cpu]\n    %s\n"


def load(folder: Path, suite: str = "", platform: str = "", more: str = ""):
    (folder / "platforms.yml").write_text(PLATFORMS % platform, encoding="utf-8")
    (folder / "suites.yml").write_text(SUITES % suite + more, encoding="utf-8")
    return load_catalogue(folder)


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        ("requires: {pyhton: '3.11'}", "requires.pyhton: there is no fact 'pyhton'; did you mean 'python'?"),
        ("requires: {numpy: '>=2'}", "there is no fact 'numpy'; known: package.NAME, python, system"),
        ("requires: {package.flag_gems: '>=1'}", "write package.flag-gems"),
        ("requires: {python: '=>3'}", "'=>3' is no version specifier"),
        ("requires: {package.numpy: '>=x'}", "'>=x' is no version specifier"),
        ("requires: {python: ' '}", "an empty requirement fits nothing"),
        ("env: {'': x}", "'' is no name of an environment variable"),
        ("env: {'A=B': x}", "'A=B' is no name of an environment variable"),
        ("env: {'A B': x}", "'A B' is no name of an environment variable"),
        ("variants: {f32: {env: {'A=B': x}}}", "variants.f32.env.A=B: 'A=B' is no name"),
        ("variants: {'': {}}", "a variant needs a name"),
        ("sample: ['']", "sample[0]: names no test file"),
        ("sample: [a.py, b.py, a.py]", "sample[2]: 'a.py' is here a second time"),
        ("root: {path: ../other}", "root.path: '../other' leads out of the repository"),
        ("root: {path: /opt}", "root.path: '/opt' leads out of the repository"),
        ("root: {path: ''}", "give either a path or a distribution"),
        ("ratchet: ../ratchets", "ratchet: '../ratchets' leads out of the conf folder"),
        ("ratchet: ratchets/none", "ratchet: there is no folder"),
        ("timeout: 40d", "timeout: '40d' is longer than 30 days"),
        ("limits: {memory: 64}", "limits.memory: must be text"),
    ],
)
def test_each_is_refused_with_its_place(tmp_path: Path, suite: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, suite)
    assert str(caught.value).startswith(f"{tmp_path}/suites.yml:5: suites.one.")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("platform", "said"),
    [
        ("count: -1", "platforms.cpu.count: can not be negative"),
        ("arch: ''", "platforms.cpu.arch: an empty architecture fits nothing"),
        ("env: {'A=B': x}", "platforms.cpu.env.A=B: 'A=B' is no name"),
    ],
)
def test_platforms_too(tmp_path: Path, platform: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, platform=platform)
    assert str(caught.value).startswith(f"{tmp_path}/platforms.yml:3: {said}")


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("{ratchet: ratchets/none}", "overrides[0].set.ratchet: there is no folder"),
        ("{sample: [a.py, a.py]}", "overrides[0].set.sample[1]: 'a.py' is here a second time"),
        ("{requires: {python: '=>3'}}", "overrides[0].set.requires.python: '=>3' is no version specifier"),
        ("{env: {'A=B': x}}", "overrides[0].set.env.A=B: 'A=B' is no name"),
        ("{timeout: 5}", "overrides[0].set.timeout: must be text"),
        ("{limits: {case: 0s}}", "overrides[0].set.limits.case: '0s' is no duration"),
        ("{platforms: [cpu]}", "overrides[0].set.platforms: unknown key"),
        ("{}", "overrides[0].set: sets nothing"),
    ],
)
def test_what_an_override_sets_is_checked_at_the_override(tmp_path: Path, patch: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, "kind: pytest", more=f'overrides:\n  - {{lanes: "*", set: {patch}}}\n')
    assert str(caught.value).startswith(f"{tmp_path}/suites.yml:7: {said}"), str(caught.value)


def test_requirements_in_the_spelling_of_the_facts_are_kept(tmp_path: Path) -> None:
    lane = load(tmp_path, "requires: {package.torch-npu: '>=2', system: linux-x86_64}").lane("one-cpu")
    assert lane.requires == {"package.torch-npu": ">=2", "system": "linux-x86_64"}


def test_a_fleet_file_of_a_name_that_nobody_reads_is_said(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text("schema: fleet/1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"fleet\.yaml: this name is not read; call it fleet\.yml"):
        load(tmp_path)


def test_a_fleet_file_that_is_a_link_to_nothing_does_not_switch_everything_on(tmp_path: Path) -> None:
    (tmp_path / "fleet.yml").symlink_to("elsewhere.yml")
    with pytest.raises(UsageError, match="which is not there"):
        load(tmp_path)
