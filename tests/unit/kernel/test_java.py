"""The JVM's text, hashes and map order, in Python."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.kernel.java import (
    address,
    compact_json,
    double,
    hash_of_bytes,
    hash_of_long,
    hash_of_text,
    in_hash_order,
    in_timeline_order,
    java_text,
    length_of_text,
    partition_for,
    wrap_int32,
    wrap_int64,
)


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
        (b"\xe2\x82\xed\xa0\x80\xed\xa0A\xed", "\ufffd\ufffd\ufffdA\ufffd"),  # Surrogates after a truncated letter.
    ],
)
def test_invalid_utf8_is_replaced_as_in_java(data: bytes, text: str) -> None:
    assert java_text(data) == text


@given(st.text())
def test_utf8_is_the_inverse_of_encoding(text: str) -> None:
    assert java_text(text.encode("utf-8", "replace")) == text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize(
    ("text", "length"), [("", 0), ("abc", 3), ("\u00e4\u20ac", 2), ("\U0001f600", 2), ("\ud800", 1)]
)
def test_the_length_of_a_text_is_that_of_its_utf16(text: str, length: int) -> None:
    assert length_of_text(text) == length


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
def test_json_survives_a_round_trip(value: object) -> None:
    assert json.loads(compact_json(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("ab", 3105),
        ("hello", 99162322),
        ("Hello World", -862545276),
        ("polygenelubricants", -(1 << 31)),
        ("AaAa", 2031744),
        ("BBBB", 2031744),
        ("\U0001f600", 1772899),
        ("\u00e9", 233),
        ("\ud83d", 0xD83D),
        ("a\udc00", 97 * 31 + 0xDC00),  # Halves of a surrogate pair count separately.
    ],
)
def test_known_values_of_the_jvm(text: str, value: int) -> None:
    assert hash_of_text(text) == value
    for cut in range(len(text) + 1):
        assert hash_of_text(text[cut:], initial=hash_of_text(text[:cut])) == value


def test_partition_of_the_least_integer_is_zero() -> None:
    """Kafka's Utils.abs: the minimum has no positive counterpart."""
    assert partition_for("polygenelubricants", 50) == 0


def test_partition_of_a_negative_hash_is_its_absolute_value() -> None:
    assert partition_for("Hello World", 50) == 862545276 % 50


@pytest.mark.parametrize(
    ("value", "found"),
    [(0, 0), (-1, 0), (1 << 32, 1), (2**63 - 1, -(2**31)), (-(2**63), -(2**31)), (4_294_967_298, 3), (-2, 1), (5, 5)],
)
def test_the_hash_of_a_long_folds_its_halves(value: int, found: int) -> None:
    assert hash_of_long(value) == found


@pytest.mark.parametrize(("data", "found"), [(b"", 1), (b"\x00", 31), (b"\xff", 30), (b"kafka", 130_437_061)])
def test_the_hash_of_bytes_uses_their_sign(data: bytes, found: int) -> None:
    assert hash_of_bytes(data) == found


@given(st.integers(), st.sampled_from([(wrap_int32, 32), (wrap_int64, 64)]))
def test_wrapping_keeps_the_low_bits_and_the_range(value: int, width: tuple[Callable[[int], int], int]) -> None:
    wrap, bits = width
    assert (wrap(value) - value) % (1 << bits) == 0
    assert -(1 << bits - 1) <= wrap(value) < 1 << bits - 1


def test_hash_order_is_that_of_buckets() -> None:
    assert in_hash_order([17, 16, 1, 33], lambda key: key) == [16, 17, 1, 33]
    # From the thirteenth key on there are 32 buckets.
    assert in_hash_order([*range(12), 32], lambda key: key) == [0, 32, *range(1, 12)]
    assert in_hash_order([16, *range(1, 12)], lambda key: key) == [16, *range(1, 12)]
    assert in_hash_order([16, *range(1, 13)], lambda key: key) == [*range(1, 13), 16]
    # A map that once held thirteen keeps its 32 buckets.
    assert in_hash_order([16, 1], lambda key: key, size_max=12) == [16, 1]
    assert in_hash_order([16, 1], lambda key: key, size_max=13) == [1, 16]
    # A negative hash: its upper half is folded into the lower without its sign.
    assert in_hash_order([0, -1], lambda key: key) == [0, -1]
    assert in_hash_order([1, -1], lambda key: key) == [-1, 1]


def test_text_is_ordered_by_its_hash() -> None:
    assert in_hash_order(["BBBB", "b", "AaAa", "a"], hash_of_text) == ["a", "b", "BBBB", "AaAa"]


def test_integers_wrap_at_their_ends() -> None:
    assert (wrap_int64(2**63), wrap_int64(-(2**63) - 1), wrap_int64(5)) == (-(2**63), 2**63 - 1, 5)
    assert (wrap_int32(2**31), wrap_int32(-(2**31) - 1), wrap_int32(5)) == (-(2**31), 2**31 - 1, 5)


def test_timeline_order_is_that_of_a_real_broker() -> None:
    """Kafka 4.3.1 returned the committed offsets of a group in these orders."""
    assert in_timeline_order(range(9), lambda key: key) == [5, 0, 2, 7, 4, 1, 6, 3, 8]
    assert in_timeline_order(["orders", "payments"], hash_of_text) == ["payments", "orders"]
    assert in_timeline_order([], hash_of_text) == []


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("127.0.0.1", "/127.0.0.1"),
        ("::1", "/0:0:0:0:0:0:0:1"),
        ("fe80::200:5eff:fe00:5301", "/fe80:0:0:0:200:5eff:fe00:5301"),
        ("::ffff:10.1.2.3", "/10.1.2.3"),
    ],
)
def test_addresses_are_written_as_inet_address_does(host: str, text: str) -> None:
    assert address(host) == text
