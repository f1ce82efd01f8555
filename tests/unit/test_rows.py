"""``rows.yml`` maps each acceptance row of what is built to tests that really are collected."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

TESTS = Path(__file__).resolve().parents[1]


def collected() -> set[str]:
    """The ids of all tests, without their parameters."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "tests"],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return {re.sub(r"\[.*", "", line) for line in done.stdout.splitlines() if "::" in line}


def test_each_row_has_tests_that_are_collected() -> None:
    document = yaml.safe_load((TESTS / "rows.yml").read_text(encoding="utf-8"))
    rows, later = document["rows"], document["later"]
    known = collected()
    missing = {test for tests in rows.values() for test in tests} - known
    assert not missing, "rows.yml names tests that are not collected"
    assert not [row for row, tests in rows.items() if not tests]
    assert not [row for row, why in later.items() if not why or row in rows]
    expected = {f"{name}/{number}" for name, spans in document["expected"].items() for number in numbers(spans)}
    assert expected == {row for row in {*rows, *later} if not row.startswith(("cases/", "faults/"))}


def numbers(spans: list[str]) -> list[int]:
    found: list[int] = []
    for span in spans:
        first, _, last = str(span).partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
