"""Machine documents that two readers would take for different ones, and values that JSON can not hold."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import EvidenceError
from ci_toolkit.formats.documents import decode_document, encode, encode_row, read_rows
from ci_toolkit.formats.failures import FailureTable
from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import Cause, Outcome, Stage
from ci_toolkit.model.plan import Plan
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.text import encodable

PLAN = Plan(provenance=Provenance(toolkit="0"), conf_digest="d", lanes=())
DEEP = b"[" * 100_000 + b"]" * 100_000
TEXT = st.text(st.characters(codec=None), max_size=20)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"event":"local"', b'"event":"local","event":"push"', "names the key 'event' twice"),
        (b'"toolkit":"0"', b'"toolkit":"0","dirty":true,"dirty":false', "names the key 'dirty' twice"),
        (b'"event":"local"', b'"new":' + DEEP, "nested too deep"),
        (b'"schema":"plan/1",', b"", "missing required field `schema`"),
        (b'"min_reader":1', b'"min_reader":NaN', "malformed"),
        (b'"local"', b'"\xff"', "UTF-8"),
    ],
)
def test_a_document_that_readers_take_for_different_ones(old: bytes, new: bytes, said: str) -> None:
    raw = encode(PLAN)
    assert old in raw
    with pytest.raises(EvidenceError, match=said) as caught:
        decode_document(raw.replace(old, new), Plan, "plan.json")
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


def test_rows_that_are_nested_without_end(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id":"a","outcome":"passed","stage":"call","cause":"infra","new":' + DEEP + b"}\n")
    with pytest.raises(EvidenceError, match=r"rows\.jsonl:1: is nested too deep"):
        list(read_rows(path, Case))
    table = FailureTable(path)
    for look in (table.signatures, lambda: table[0], lambda: list(table)):
        with pytest.raises(EvidenceError, match=r"rows\.jsonl:1: "):
            look()


def test_keys_that_escape_to_the_same_are_refused() -> None:
    with pytest.raises(ValueError, match="the same once surrogates are escaped"):
        encode({"\ud800": 1, "\\ud800": 2})


@given(TEXT, TEXT, st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_row_has_one_form_whatever_its_text_holds(identity: str, reason: str, seconds: float | None) -> None:
    """A surrogate takes the slow way of encoding: its fields stand in the same order there."""
    case = Case(id=identity, outcome=Outcome.PASSED, reason=reason, seconds=seconds)
    raw = encode_row(case)
    assert raw == encode_row(msgspec.structs.replace(case, id=encodable(identity), reason=encodable(reason)))
    assert raw.count(b"\n") == 1
    keys = list(json.loads(raw))
    assert keys == [field for field in Case.__struct_fields__ if field in keys]


@given(TEXT)
def test_text_that_looks_like_a_null_keeps_its_form(text: str) -> None:
    for around in ("[{}null]", ":null,{}", '"null"{}'):
        failure = Failure(stage=Stage.CALL, cause=Cause.INFRA, message=around.format(text))
        raw = encode(failure)
        assert msgspec.json.decode(raw, type=Failure).message == encodable(failure.message)
        assert raw.index(b'"stage"') < raw.index(b'"cause"') < raw.index(b'"message"')
