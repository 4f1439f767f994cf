"""Values of a journal survive a round trip; invalid bytes are refused, and nothing is allocated for them."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.assembly.journal.values import DEPTH_MAX, Named, decode, encode
from kmirror.errors import ProtocolError
from kmirror.kernel.events import InboundLink, OutboundLink
from kmirror.kernel.ids import ANONYMOUS, Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.binary(min_size=16, max_size=16).map(Uuid)
)
VALUES = st.recursive(
    SCALARS,
    lambda inside: (
        st.lists(inside, max_size=4).map(tuple)
        | st.builds(Endpoint, st.text(), st.integers())
        | st.builds(TopicPartition, st.text(), st.integers())
        | st.builds(lambda name: InboundLink((name,)), inside)
        | st.builds(OutboundLink, st.builds(Endpoint, st.text(), st.integers()), st.text())
    ),
)


def kinds(value: Any) -> Any:
    """Return a value with the types of all its parts, as True == 1, and a named tuple equals a tuple."""
    return type(value), [kinds(one) for one in value] if isinstance(value, tuple) else value


@given(VALUES)
def test_a_value_survives_a_round_trip(value: Any) -> None:
    assert kinds(decode(encode(value))) == kinds(value)


@given(VALUES, st.data())
def test_a_truncated_or_extended_value_is_refused(value: Any, data: st.DataObject) -> None:
    whole = encode(value)
    for broken in (whole[: data.draw(st.integers(0, len(whole) - 1))], whole + b"N"):
        with pytest.raises(ProtocolError):
            decode(broken)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    try:
        value = decode(data)
    except ProtocolError:
        return
    assert kinds(decode(encode(value))) == kinds(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"t\xff\xff\xff\xff" + b"N" * 20,
        b"s\x00\x00\x00\x01\xff",
        b"b\xff\xff\xff\xffabc",
        b"t\x00\x00\x00\x01" * (DEPTH_MAX + 1) + b"N",
    ],
)
def test_invalid_values_are_refused_before_anything_is_allocated(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(data)


class Colour(Enum):
    RED = "red"


def test_views_are_bytes_and_anything_else_has_a_name() -> None:
    assert decode(encode(memoryview(b"abc"))) == b"abc"
    assert type(decode(encode((ANONYMOUS,)))[0]) is type(ANONYMOUS)
    found = decode(encode(("session", Colour.RED, 1.5)))
    assert found == ("session", Named("Colour", "<Colour.RED: 'red'>"), Named("float", "1.5"))
    assert encode(found) == encode(("session", Colour.RED, 1.5))
