"""Documents: canonical, strict about what JSON has not, lenient about what is only new."""

import json
import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import EvidenceError
from ci_toolkit.formats.documents import decode_document, encode, encode_row, read_rows, write_atomically, write_rows
from ci_toolkit.model.case import Case
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.provenance import Provenance

PLAN = Plan(provenance=Provenance(toolkit="0"), conf_digest="d", lanes=())
TEXT = st.text(st.characters(codec=None))


def test_a_document_is_read_back() -> None:
    assert decode_document(encode(PLAN), Plan, "plan.json") == PLAN


@given(st.dictionaries(TEXT, st.one_of(TEXT, st.integers(-(2**60), 2**60), st.none(), st.floats())))
def test_it_is_canonical_strict_json_or_refused(value: dict) -> None:
    if any(isinstance(item, float) and not math.isfinite(item) for item in value.values()):
        with pytest.raises(ValueError, match="can not be written"):
            encode(value)
        return
    raw = encode(value)
    raw.decode("utf-8")
    json.loads(raw, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert encode(dict(reversed(list(value.items())))) == raw


def test_a_number_that_is_none_is_refused_wherever_it_stands() -> None:
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="absent"):
            encode_row(Case(id="null", outcome=Outcome.PASSED, seconds=number))
        with pytest.raises(ValueError, match="absent"):
            encode({"a": [{"b": (1.0, number)}]})


def test_text_that_says_null_is_only_text() -> None:
    case = Case(id="null", outcome=Outcome.PASSED, reason="null")
    assert msgspec.json.decode(encode_row(case), type=Case) == case


def test_what_is_new_is_ignored_and_what_could_turn_red_is_not() -> None:
    document = msgspec.to_builtins(PLAN)
    assert decode_document(encode({**document, "shiny": 1}), Plan, "p") == PLAN
    for change, said in (
        ({"min_reader": 2}, "needs reader 2"),
        ({"schema": "plan/2"}, "schema is 'plan/2'"),
        ({"schema": "report/1"}, "schema is 'report/1'"),
        ({"lanes": 3}, r"\$\.lanes"),
        ({"lanes": [{"id": 3}]}, r"\$\.lanes\[0\]"),
    ):
        with pytest.raises(EvidenceError, match=said) as caught:
            decode_document(encode({**document, **change}), Plan, "p")
        assert caught.value.exit_code == 3
        assert str(caught.value).startswith("p: ")


@given(st.integers(0, 10**6), st.binary(max_size=40))
def test_any_cut_or_other_bytes_are_refused(at: int, other: bytes) -> None:
    raw = encode(PLAN)
    for data in (raw[: at % len(raw)], other):
        with pytest.raises(EvidenceError):
            decode_document(data, Plan, "p")


def test_rows_that_are_cut_or_wrong_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    cases = [Case(id=str(number), outcome=Outcome.PASSED) for number in range(3)]
    write_rows(path, cases)
    assert list(read_rows(path, Case)) == cases
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(EvidenceError, match=r"cases\.jsonl:3: the last row is cut short"):
        list(read_rows(path, Case))
    path.write_bytes(b'{"id":"a","outcome":"passed"}\n{"id":"a","outcome":"green"}\n')
    with pytest.raises(EvidenceError, match=r"cases\.jsonl:2: "):
        list(read_rows(path, Case))


def test_a_failed_write_leaves_the_file_as_it_was_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "verdict.json"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "no bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
