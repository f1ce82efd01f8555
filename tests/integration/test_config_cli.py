"""``ci-toolkit config``: values with their places, schemas, and one clear line for whatever is wrong in conf."""

import json
import os
import re

import pytest

SUITES = """\
schema: suites/1
suites:
  small:
    platforms: [cpu]
    root: {path: tests}
    env: {MODE: fast}
"""
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


def test_show_says_each_value_and_where_it_came_from(project) -> None:
    project.write("conf/suites.yml", SUITES + 'overrides:\n  - {lanes: "small-*", set: {limits: {case: 5s}}}\n')
    ran = project.toolkit("config", "show", "small*")
    assert ran.returncode == 0, ran.stderr
    rows = [re.split(r" {2,}", line.strip()) for line in ran.stdout.splitlines()]
    assert ["small-cpu"] in rows
    assert ["env.MODE", "fast", "conf/suites.yml:6"] in rows
    assert ["limits.case", "5.0", "override of small-*, conf/suites.yml:8"] in rows
    assert ["platform.device", "cpu", "conf/platforms.yml:3"] in rows
    assert ["kind", "pytest", "default"] in rows


def test_show_as_json_has_the_same(project) -> None:
    project.write("conf/suites.yml", SUITES)
    ran = project.toolkit("config", "show", "--json")
    assert ran.returncode == 0, ran.stderr
    lane = json.loads(ran.stdout)["small-cpu"]
    assert lane["env.MODE"] == {"value": "fast", "source": "conf/suites.yml:6"}
    assert lane["timeout"] == {"value": 3600.0, "source": "default"}


def test_secret_values_are_on_no_surface(project) -> None:
    project.write("conf/suites.yml", SUITES.replace("MODE: fast", "HF_TOKEN: hush-hush, SIGNING_KEY: hush-hush"))
    project.write("tests/test_a.py", "def test_a(): pass\n")
    for command in (("config", "show"), ("config", "show", "--json"), ("plan",), ("plan", "--json"), ("ci",)):
        ran = project.toolkit(*command)
        assert ran.returncode == 0, ran.stderr
        assert "hush-hush" not in ran.stdout + ran.stderr
    written = [path for path in (project.folder / "out").rglob("*") if path.is_file()]
    assert any(path.name == "plan.json" for path in written)
    assert [path for path in written if b"hush-hush" in path.read_bytes()] == []


def test_a_glob_that_fits_no_lane_is_exit_5_with_the_nearest(project) -> None:
    ran = project.toolkit("config", "show", "smal-cpu")
    assert (ran.returncode, ran.stdout) == (5, "")
    assert ran.stderr == "ci-toolkit: error: no lane fits 'smal-cpu'; did you mean 'small-cpu'?\n"


@pytest.mark.parametrize("name", ["platforms", "suites", "fleet", "ratchet"])
def test_schemas_are_printed(project, name: str) -> None:
    ran = project.toolkit("config", "schema", name)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["$schema"].startswith("https://json-schema.org/")


def test_a_schema_that_is_none_is_wrong_usage(project) -> None:
    ran = project.toolkit("config", "schema", "suite")
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("platforms", "platfroms", "4: suites.small.platfroms", "unknown key; did you mean 'platforms'?"),
        (
            "    root: {path: tests}",
            "    platforms: [cpu]",
            "5: suites.small.platforms",
            "the key is here a second time (first in line 4); keep one of them",
        ),
        (
            "fast",
            "3.10",
            "6: suites.small.env.MODE",
            'must be text, YAML reads it as a number (3.10); quote it: "3.10"',
        ),
        (
            "fast",
            "NO",
            "6: suites.small.env.MODE",
            'must be text, YAML reads it as true or false (NO); quote it: "NO"',
        ),
        (
            "MODE",
            "on",
            "6: suites.small.env",
            "the key 'on' is read by YAML as true or false (on); quote it: \"on\"",
        ),
        (
            "MODE: fast",
            '"\\n::error::x": 1',
            "6: suites.small.env.\\n::error::x",
            'must be text, YAML reads it as a whole number (1); quote it: "1"',
        ),
        (SUITES, BOMB, "2", "aliases (*a0) are not supported; write the value out"),
        (SUITES, "x: " + "[" * 60 + "]" * 60, "1", "is nested deeper than 40 levels"),
        ("[cpu]", "[cqu]", "4: suites.small.platforms[0]", "there is no platform 'cqu'; did you mean 'cpu'?"),
        ("suites/1", "suites/9", "1: schema", "schema is 'suites/9'; this version reads 'suites/1'"),
        ("[cpu]", "[cpu", "5", "is not valid YAML: "),
        ("    root", "\troot", "5", "is not valid YAML: "),
        (SUITES, "[" * 100_000, "1", "is n"),
    ],
)
def test_bad_conf_is_one_line_with_its_place_and_exit_2(project, old: str, new: str, place: str, said: str) -> None:
    project.write("conf/suites.yml", SUITES.replace(old, new, 1))
    for command in (("config", "show"), ("plan",), ("ci",)):
        ran = project.toolkit(*command, GITHUB_ACTIONS="true")
        assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
        assert ran.stderr.startswith(f"ci-toolkit: error: conf/suites.yml:{place}: {said}"), ran.stderr
        assert ran.stderr.count("\n") == 1
    assert not (project.folder / "out").exists()


def _without(name):
    return lambda conf: (conf / name).unlink()


def _renamed(conf) -> None:
    (conf / "suites.yml").rename(conf / "suite.yml")


def _pipe(conf) -> None:
    (conf / "suites.yml").unlink()
    os.mkfifo(conf / "suites.yml")


def _huge(conf) -> None:
    with (conf / "suites.yml").open("a", encoding="utf-8") as file:
        file.write("#" * (6 << 20))


def _utf16(conf) -> None:
    (conf / "suites.yml").write_text(SUITES, encoding="utf-16")


@pytest.mark.parametrize(
    ("harm", "line"),
    [
        (_without("platforms.yml"), "conf/platforms.yml: there is no such file"),
        (_renamed, "conf/suites.yml: there is no such file; did you mean 'suite.yml'?"),
        (_pipe, "conf/suites.yml: is not a plain file"),
        (_huge, "conf/suites.yml: is larger than 5 MiB"),
        (_utf16, "conf/suites.yml:1: is not UTF-8 at byte 0"),
    ],
)
def test_a_file_that_can_not_be_read_is_one_line(project, harm, line: str) -> None:
    harm(project.folder / "conf")
    ran = project.toolkit("config", "show")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"ci-toolkit: error: {line}\n"


def test_a_conf_folder_that_is_not_there_is_one_line(project) -> None:
    ran = project.toolkit("config", "show", "--conf", "cnof")
    assert ran.returncode == 2
    assert ran.stderr == "ci-toolkit: error: cnof: there is no such conf folder; name one with --conf\n"
