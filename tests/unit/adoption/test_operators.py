"""Inventories of operators, and the tests that are theirs."""

import pytest

from ci_toolkit.adoption.operators import Inventory, files_of, read_inventory
from ci_toolkit.adoption.scenes import is_scene
from ci_toolkit.errors import UsageError


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ops:\n  - {id: add, stages: [{beta: '1.0'}]}\n  - id: _mul\n", ("add", "mul")),
        ("operators: [add, mul, add]\n", ("add", "mul")),
        ("version: 2\nops:\n  - {name: add}\n", None),
        ("ops: {add: 1}\n", None),
        ("  ops: [add]\n", None),
        ("other: [add]\n", None),
        ("", None),
    ],
)
def test_what_is_an_inventory(tmp_path, text, ids) -> None:
    (tmp_path / "ops.yaml").write_text(text)
    found = read_inventory(tmp_path, "ops.yaml")
    assert found == (Inventory("ops.yaml", ids) if ids else None)


def test_a_malformed_one_has_its_line_and_other_files_are_not_parsed(tmp_path) -> None:
    (tmp_path / "ops.yaml").write_text("ops:\n  - {{ template }\n")
    (tmp_path / "chart.yaml").write_text("{{ template }\n")
    assert read_inventory(tmp_path, "chart.yaml") is None
    with pytest.raises(UsageError, match=r"^ops.yaml:\d: is not valid YAML"):
        read_inventory(tmp_path, "ops.yaml")


def test_files_that_name_an_operator_and_their_neighbours() -> None:
    texts = {
        "a/test_add.py": "",
        "a/test_sum_dim_accuracy.py": "",
        "a/test_special.py": "def test(): pass",
        "b/test_ops.py": "@pytest.mark.add\ndef test_add(): pass",
        "b/test_x.py": "mark.added",
        "b/test_y.py": "",
        "c/test_dim.py": "",
    }
    assert files_of(["add", "sum_dim"], texts, texts) == {
        "a/test_add.py", "a/test_sum_dim_accuracy.py", "a/test_special.py", "b/test_ops.py",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("file", "text", "answer"),
    [
        ("tests/st/a/test_x.py", "", True),
        ("st/test_x.py", "", True),
        ("tests/test_st.py", "", False),
        ("tests/test_x.py", "@scene_test(level=2)\nclass TestX: ...", True),
        ("tests/test_x.py", "@frame.work.scene_test\nclass TestX: ...", True),
        ("tests/test_x.py", "# a text of @scene_test\n@scene_tests", False),
    ],
)
def test_scenes(file, text, answer) -> None:
    assert is_scene(file, text) is answer
