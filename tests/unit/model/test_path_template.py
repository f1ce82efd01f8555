"""Templates of paths: what fits, and what is no template."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.model.path_template import compiled, filled, fitted, fixed_start


@pytest.mark.parametrize(
    ("template", "path", "values"),
    [
        ("src/ops/{op}.py", "src/ops/add.py", {"op": "add"}),
        ("src/ops/{op}.py", "src/ops/deep/add.py", None),
        ("src/{op}/{op}.py", "src/add/add.py", {"op": "add"}),
        ("src/{op}/{op}.py", "src/add/mul.py", None),
        ("**/*.md", "README.md", {}),
        ("**/*.md", "docs/a/b.md", {}),
        ("**/*.md", "docs/a/b.mdx", None),
        ("docs/**", "docs/a/b", {}),
        ("docs/**", "docs2/a", None),
        ("src/*.py", "src/a/b.py", None),
        ("a.b", "axb", None),
        ("a[1].py", "a[1].py", {}),
    ],
)
def test_what_fits(template: str, path: str, values: dict[str, str] | None) -> None:
    assert fitted(template, path) == values


@pytest.mark.parametrize(
    "template", ["", "/src/a", "a/../b", "src\\a", "{}", "{Op}", "{a b}", "src/{op", "src/op}", "{a}{"]
)
def test_what_is_no_template(template: str) -> None:
    with pytest.raises(ValueError, match=r"template|relative|name|brace"):
        compiled(template)


@given(st.from_regex(r"[a-z_0-9]{1,8}", fullmatch=True), st.from_regex(r"[a-z_0-9]{1,8}", fullmatch=True))
def test_what_was_filled_fits_again(one: str, two: str) -> None:
    template = "src/{a}/x_{b}.py"
    assert fitted(template, filled(template, {"a": one, "b": two})) == {"a": one, "b": two}


@pytest.mark.parametrize(
    ("template", "start"), [("src/{op}.py", "src/"), ("src/*/x", "src/"), ("**/x", ""), ("src/x.py", "src/x.py")]
)
def test_what_all_that_fits_begins_with(template: str, start: str) -> None:
    assert fixed_start(template) == start
