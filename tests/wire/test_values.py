"""Values out of foreign documents: what `load` lets through, and what each getter takes."""

from __future__ import annotations

import contextlib
import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.errors import DecodeError
from tallylight.wire import values
from tests.strategies import texts
from tests.tables import each

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.slow
@given(_JSON)
def test_what_is_read_is_harmless(document: Any) -> None:
    """Whatever JSON says, every number that comes out of it can be calculated with; the rest is as it was."""
    found = values.load(json.dumps(document))

    assert _mild(document) == found
    repr(found)


def _mild(value: Any) -> Any:
    if isinstance(value, dict):
        return {_mild(key): _mild(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mild(inner) for inner in value]
    if isinstance(value, str):
        # JSON writes a surrogate as an escape, and two that make a pair are one character when they are read.
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return None if isinstance(value, int) and len(str(value)) > values.MAX_DIGITS else value


#: What one value costs in a lenient reading, and the document in a strict one.
ODD = {
    '{"a":NaN,"b":1}': {"a": None, "b": 1},
    '{"a":[-Infinity],"b":1}': {"a": [None], "b": 1},
    '{"a":1e999,"b":1}': {"a": None, "b": 1},
    '{"a":%s.5,"b":1}' % ("9" * 500): {"a": None, "b": 1},
    '{"a":%s,"b":1}' % ("9" * 41): {"a": None, "b": 1},
    '{"a":-%s,"b":1}' % ("9" * 5000): {"a": None, "b": 1},
    '{"a":1,"a":2,"b":1}': {"a": 2, "b": 1},
}


@each("text", ODD, ids=[text[:20] for text in ODD])
def test_one_value_or_the_document(text: str) -> None:
    """A value that is none costs itself; where it is asked for, it costs the document."""
    assert values.load(text) == ODD[text]
    with pytest.raises(DecodeError) as caught:
        values.load(text, strict=True)
    assert caught.value.reason == "malformed"


def test_depth() -> None:
    """A document may have so many levels and no more, in lists, objects and both, at any depth of our own stack."""
    for opening, inner, closing, levels in (("[", "", "]", 1), ('{"a":', "1", "}", 1), ('[{"a":', "1", "}]", 2)):
        most = values.MAX_DOCUMENT_DEPTH // levels
        assert values.load(opening * most + inner + closing * most)
        for depth in (most + 1, 900, 990, 5000, 100_000):
            for strict in (False, True):
                with pytest.raises(DecodeError):
                    values.load(opening * depth + inner + closing * depth, strict=strict)


NO_JSON = [b"", b"\xff", b"\xed\xa0\x80", b"{", b"{}{}", b"\0", b"{'a':1}", "{}".encode("utf-16")]


@each("data", NO_JSON)
def test_no_json(data: bytes) -> None:
    """What is no JSON in UTF-8 is one kind of error, with a reason in words."""
    with pytest.raises(DecodeError) as caught:
        values.load(data)
    assert caught.value.detail.startswith("is not JSON")


def test_a_byte_order_mark_is_passed_over() -> None:
    """Editors put one in front."""
    assert values.load(b"\xef\xbb\xbf{}") == {}


@given(texts(), st.integers(0, 80))
def test_a_text_can_be_encoded(value: str, most: int) -> None:
    """A text is cut, has no NUL and can be encoded; the same again changes nothing. One that is sound is as it was."""
    found = values.text(value, most)

    found.encode("utf-8")
    assert len(found) <= most and "\0" not in found and values.text(found, most) == found
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return
    assert found == value[:most].replace("\0", "\ufffd")


OTHER: list[object] = [None, True, 5, 1.5, [], {}, b"x", ["x"]]


def test_what_is_no_text_is_none() -> None:
    """Other types give nothing; what is exact is given as it is, or not at all."""
    assert [values.text(value, 9) for value in OTHER] == [""] * len(OTHER)
    assert [values.exact(value, 9) for value in OTHER] == [None] * len(OTHER)
    assert [values.exact(value, 2) for value in ("ab", "abc", "\0", "\ud800", "\udcff", "")] == [
        "ab", None, None, None, "\udcff", "",
    ]  # fmt: skip


def test_numbers() -> None:
    """A number is in its range, of its type, and no truth value."""
    integers = [values.integer(value, 0, 9) for value in (0, 9, -1, 10, True, 1.0, "1", None, 10**400)]
    assert integers == [0, 9, None, None, None, None, None, None, None]
    numbers = [values.number(value, 0, 9) for value in (0, 9.0, -1, math.nan, math.inf, True, "1", None, 10**400)]
    assert numbers == [0, 9, None, None, None, None, None, None, None]
    time.localtime(values.LATEST)


@each("shape", ['["%s"]', "[%s]", '{"a":"%s"}', "[%s 1 ]", '["\\u0041%s"]'])
def test_reading_takes_linear_time(shape: str) -> None:
    """Eight times as much takes about eight times as long."""
    filling = "x" if '"' in shape else " "

    def took(size: int) -> float:
        text = shape % (filling * size)
        best = math.inf
        for _ in range(5):
            begin = time.process_time()
            with contextlib.suppress(DecodeError):
                values.text(values.load(text), size)
            best = min(best, time.process_time() - begin)
        return best

    assert took(800_000) < 40 * max(took(100_000), 1e-4)
