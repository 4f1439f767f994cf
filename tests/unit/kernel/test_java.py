"""What would a JVM write?"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.kernel.java import compact_json, double, in_hash_order, java_text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\xc3\xa9", "aé"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xed\xa0\x80!", "\ufffd!"),  # A surrogate is one fault for Java, three for Python.
        (b"\xed\xa0", "\ufffd"),
        (b"\xed\xa0A", "\ufffdA"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xf0\x9f\x98A", "\ufffdA"),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        (b"\xe2\x82\xed\xa0\x80\xed\xa0A\xed", "\ufffd\ufffd\ufffdA\ufffd"),  # Surrogates behind a cut letter.
    ],
)
def test_bytes_that_are_not_utf8_become_what_java_makes_of_them(data: bytes, text: str) -> None:
    assert java_text(data) == text


@given(st.text())
def test_utf8_is_the_inverse_of_encoding(text: str) -> None:
    assert java_text(text.encode("utf-8", "replace")) == text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0"), (1.5, "1.5"), (1e7, "1.0E7"), (1048576.25, "1048576.25"), (1.5e-5, "1.5E-5"), (-1e21, "-1.0E21"),
     (0.001, "0.001"), (123456789.5, "1.234567895E8")],
)  # fmt: skip
def test_doubles(value: float, text: str) -> None:
    assert double(value) == text


def test_json_is_jacksons() -> None:
    assert compact_json({"a": [1, True, None, 2.0], "ü": 'x"\\\n\x1f\u2028'}) == (
        '{"a":[1,true,null,2.0],"ü":"x\\"\\\\\\n\\u001F\u2028"}'
    )
    assert compact_json("\\u00ab") == '"\\\\u00ab"'
    assert compact_json("\x00\b\t\n\f\r\x0e\x7f/\ud800") == '"\\u0000\\b\\t\\n\\f\\r\\u000E\x7f/\ud800"'


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_json_is_read_back_as_what_it_was(value: object) -> None:
    assert json.loads(compact_json(value)) == value


def test_hash_order_is_that_of_buckets() -> None:
    assert in_hash_order([17, 16, 1, 33], lambda key: key) == [16, 17, 1, 33]
    # From the thirteenth key on there are 32 buckets.
    assert in_hash_order([*range(12), 32], lambda key: key) == [0, 32, *range(1, 12)]
    assert in_hash_order([16, *range(1, 12)], lambda key: key) == [16, *range(1, 12)]
    assert in_hash_order([16, *range(1, 13)], lambda key: key) == [*range(1, 13), 16]
