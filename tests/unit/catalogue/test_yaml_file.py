"""Conf that people write: each mistake gives one line with file, line and key, and nothing is changed in silence."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.catalogue.quantities import seconds, size
from ci_toolkit.catalogue.schema import SuitesFile
from ci_toolkit.catalogue.yaml_file import load
from ci_toolkit.errors import UsageError

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


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.yml: can not be read"):
        load(tmp_path / "nowhere.yml", SuitesFile, schema="suites/1")


@given(st.text())
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    said = ""
    try:
        read(tmp_path_factory.getbasetemp(), text.encode("utf-8", "surrogatepass"))
    except UsageError as error:
        said = str(error)
    assert said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(("text", "value"), [("90s", 90), ("1.5m", 90), ("2h", 7200), ("250ms", 0.25)])
def test_durations(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["90", "", "s", "-1s", "0s", "1 week", "1e3s", "NaNs"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        seconds(text)


def test_sizes() -> None:
    assert size("64MiB") == 64 << 20
    assert size("1GB") == 10**9
    with pytest.raises(ValueError, match="is no size"):
        size("64")
