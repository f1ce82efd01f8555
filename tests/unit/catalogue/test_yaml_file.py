"""Conf that people write: each mistake gives one line with file, line and key, and nothing is changed in silence."""

import datetime
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.catalogue.schema import SuitesFile
from ci_toolkit.catalogue.yaml_file import load
from ci_toolkit.errors import UsageError
from ci_toolkit.model.documents import Authored
from ci_toolkit.model.outcome import Outcome

GOOD = "schema: suites/1\nsuites:\n  one:\n    platforms: [cpu]\n    env: {A: text}\n"


def read(folder: Path, text: str | bytes):
    path = folder / "suites.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path, SuitesFile, schema="suites/1", shown="conf/suites.yml")


def test_a_good_file_has_values_and_places(tmp_path: Path) -> None:
    loaded = read(tmp_path, GOOD)
    assert loaded.value.suites["one"].env == {"A": "text"}
    assert str(loaded.where("suites", "one", "env", "A")) == "conf/suites.yml:5: suites.one.env.A"
    assert loaded.where("suites", "one", "limits").line == 3, "what the file does not hold is placed at what holds it"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (GOOD.replace("platforms", "platfroms"), 4, "did you mean 'platforms'?"),
        (GOOD + "    kind: pytest\n    kind: pytest\n", 7, "a second time (first in line 6)"),
        (GOOD.replace("A: text", "A: 3.10"), 5, 'quote it: "3.10"'),
        (GOOD.replace("A: text", "A: on"), 5, 'quote it: "on"'),
        (GOOD.replace("A: text", "A: 012"), 5, 'quote it: "012"'),
        (GOOD.replace("A: text", "A: 2026-01-01"), 5, "a date"),
        (GOOD.replace("A: text", "A: null"), 5, "nothing"),
        (GOOD.replace("A: text", "on: text"), 5, "the key 'on' is read by YAML as true or false"),
        (GOOD.replace("A: text", "3.10: text"), 5, "the key '3.10' is read by YAML as a number"),
        (GOOD.replace("[cpu]", "cpu"), 4, "must be a list"),
        (GOOD.replace("[cpu]", "{a: b}"), 4, "must be a list, found a mapping"),
        (GOOD.replace("{A: text}", "[A]"), 5, "must be a mapping"),
        (GOOD.replace("    platforms: [cpu]\n", ""), 3, "the key 'platforms' is missing"),
        (GOOD.replace("suites/1", "suites/2"), 1, "this version reads 'suites/1'"),
        (GOOD.replace("schema: suites/1\n", ""), 1, "schema is missing"),
        (GOOD.replace("suites/1", "1"), 1, "schema is no text"),
        (GOOD.replace("A: text", "? [a] : b"), 5, "a key must be text"),
        (GOOD.replace("A: text", "<<: {a: b}"), 5, "merging (<<) is not supported"),
        (GOOD.replace("A: text", '"a\\nb": 1'), 5, "suites.one.env.a\\nb: must be text"),
        (GOOD.replace("A: text", '"\\u202eb": 1'), 5, "suites.one.env.\\u202eb: must be text"),
        (GOOD.replace("A: text", 'A: "a\\0b"'), 5, "holds a NUL character"),
        (GOOD.replace("A: text", "A: !!binary aGk="), 5, "is not supported"),
        (GOOD.replace("A: text", "A: " + "9" * 5000), 5, "a whole number (" + "9" * 60 + "); quote it"),
        (GOOD.replace("[cpu]", '"a\\nb"'), 4, "must be a list, found the text 'a\\nb'"),
        (GOOD.replace("A: text", "A: !!python/object:os.system x"), 5, "is not supported"),
        (GOOD.replace("[cpu]", "[cpu"), 5, "is not valid YAML"),
        (GOOD.replace("    env", "\tenv"), 5, "is not valid YAML"),
        (GOOD + "---\na: b\n", 6, "is not valid YAML"),
        (GOOD.encode() + b"# \xff\n", 6, "is not UTF-8"),
        ("", None, "is empty"),
        ("- a\n", 1, "must be a mapping"),
        ("a: &x [1]\nb: *x\n", 2, "aliases (*x) are not supported"),
        ("a: " + "[" * 100 + "]" * 100, 1, "nested deeper"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, text: str | bytes, line: int | None, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"conf/suites.yml:{line}: " if line else "conf/suites.yml: "), message
    assert said in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_a_bomb_is_refused_before_it_grows(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(UsageError, match="aliases"):
        read(tmp_path, "\n".join(lines))


def test_a_missing_file_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "suite.yml").write_text(GOOD, encoding="utf-8")
    with pytest.raises(UsageError, match=r"suites\.yml: there is no such file; did you mean 'suite\.yml'\?"):
        load(tmp_path / "suites.yml", SuitesFile, schema="suites/1")
    with pytest.raises(UsageError, match=r"there is no folder '.*conf' either"):
        load(tmp_path / "conf/suites.yml", SuitesFile, schema="suites/1")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _to_nothing(path: Path) -> None:
    path.symlink_to("nothing.yml")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Path.mkdir, "is not a plain file"),
        (os.mkfifo, "is not a plain file"),
        (_loop, "can not be read: .*symbolic links"),
        (_to_nothing, "it is a link to 'nothing.yml', which is not there"),
    ],
)
def test_what_is_no_file_is_said_and_never_waited_for(tmp_path: Path, make, said: str) -> None:
    path = tmp_path / "suites.yml"
    make(path)
    with pytest.raises(UsageError, match=said):
        load(path, SuitesFile, schema="suites/1")


def test_a_file_over_its_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "suites.yml"
    path.write_text(GOOD + "#" * (1 << 20), encoding="utf-8")
    assert load(path, SuitesFile, schema="suites/1").value.suites
    with pytest.raises(UsageError, match=r"suites\.yml: is larger than 1 MiB"):
        load(path, SuitesFile, schema="suites/1", limit=1 << 20)


class Scalars(Authored, frozen=True, kw_only=True):
    schema: str
    whole: int = 0
    number: float = 0.0
    day: datetime.date = datetime.date(2000, 1, 1)
    yes: bool = False
    outcome: Outcome = Outcome.PASSED
    issue: int | str | None = None
    outcomes: Outcome | tuple[Outcome, ...] = ()


def scalars(folder: Path, line: str) -> Scalars:
    path = folder / "scalars.yml"
    path.write_text(f"schema: scalars/1\n{line}\n", encoding="utf-8")
    return load(path, Scalars, schema="scalars/1", shown="scalars.yml").value


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("whole: -12", "whole", -12),
        ("number: 3", "number", 3.0),
        ("number: 0.25", "number", 0.25),
        ("number: 1e-3", "number", 0.001),
        ("day: 2026-12-01", "day", datetime.date(2026, 12, 1)),
        ("'yes': true", "yes", True),
        ("outcome: xfailed", "outcome", Outcome.XFAILED),
        ("issue: 12", "issue", 12),
        ("issue: org/repo#12", "issue", "org/repo#12"),
        ("issue: null", "issue", None),
        ("outcomes: failed", "outcomes", Outcome.FAILED),
        ("outcomes: [failed, passed]", "outcomes", (Outcome.FAILED, Outcome.PASSED)),
    ],
)
def test_what_is_meant_is_read(tmp_path: Path, line: str, name: str, value: object) -> None:
    assert getattr(scalars(tmp_path, line), name) == value


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *((f"whole: {text}", "whole: must be a whole number") for text in ("012", "0x10", "1:30", "1_0", "1.0", "'1'")),
        *((f"whole: {text}", "whole: must be a whole number") for text in ("true", "!!int ''", "!!int x", "9" * 5000)),
        *((f"number: {text}", "number: must be a number") for text in (".nan", ".inf", "-.inf", "1:30.5", "1e999")),
        *((f"number: {text}", "number: must be a number") for text in ("'1e-3'", "!!float ''", "!!float x", "x")),
        *((f"day: {text}", "day: must be a date") for text in ("'2026-12-01'", "2026-13-01", "2026-1-1")),
        *((f"day: {text}", "day: must be a date") for text in ("2026-12-01 10:00:00", "!!timestamp x", "tomorrow")),
        *((f"'yes': {text}", "yes: must be true or false") for text in ("yes", "1", "!!bool maybe")),
        ("outcome: faild", "did you mean 'failed'?"),
        ("outcome: 3", "outcome: must be one of passed, failed, "),
        ("outcomes: {a: b}", "missing or a list, found a mapping"),
        ("outcomes: [failed, 3]", "outcomes[1]: must be one of"),
        ("issue: 1.5", 'must be a whole number in plain digits or text, found a number (1.5); quote it: "1.5"'),
        ("issue: [1]", "must be a whole number in plain digits or text, found a list"),
    ],
)
def test_what_may_mean_two_things_is_refused(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        scalars(tmp_path, line)
    message = str(caught.value)
    assert message.startswith("scalars.yml:2: "), message
    assert said in message
    assert "\n" not in message
    assert len(message) < 400


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**17), 10**17) | st.dates())
def test_values_as_yaml_writes_them_come_back(tmp_path_factory: pytest.TempPathFactory, value) -> None:
    name = "day" if isinstance(value, datetime.date) else "whole" if isinstance(value, int) else "number"
    assert getattr(scalars(tmp_path_factory.getbasetemp(), yaml.safe_dump({name: value})), name) == value


@given(st.text())
def test_text_as_yaml_writes_it_comes_back_or_holds_nul(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    line = yaml.safe_dump({"issue": text}, allow_unicode=False)
    if "\0" in text:
        with pytest.raises(UsageError, match="NUL"):
            scalars(tmp_path_factory.getbasetemp(), line)
    else:
        assert scalars(tmp_path_factory.getbasetemp(), line).issue == text


@given(st.text())
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    said = ""
    try:
        read(tmp_path_factory.getbasetemp(), text.encode("utf-8", "surrogatepass"))
    except UsageError as error:
        said = str(error)
    assert said
    assert len(said.splitlines()) == 1
