"""The straight-line forms of the hot messages equal the plain ones."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.hot_table import HOT
from codegen.versions import Versions
from kmirror.protocol import ProtocolError, UnknownTag, careful, wire
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.metadata_response import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kmirror.protocol.registry import by_name
from kmirror.testing.strategies import messages

PAIRS = [(name, version) for name, text in HOT.items() for version in Versions.parse(text)]


def plain_bytes(message: Any, version: int) -> bytes:
    chunks: list[Any] = []
    message._write(chunks.append, version)
    return b"".join(chunks)


def hot_bytes(message: Any, version: int) -> bytes:
    chunks: list[Any] = []
    message.WRITERS[version](message, chunks, version)
    return b"".join(chunks)


def repeat_structs(message: Any, times: int) -> Any:
    """Return the message with longer arrays of structs, so that neighbours have equal inner lengths."""
    for field in message.FIELDS:
        value = getattr(message, field.attribute)
        if field.type == "struct" and field.is_array and value:
            setattr(message, field.attribute, [repeat_structs(item, times) for item in value] * times)
    return message


def test_every_hot_version_has_both_functions() -> None:
    for name, version in PAIRS:
        assert {version} <= by_name(name).READERS.keys() & by_name(name).WRITERS.keys()


@pytest.mark.parametrize(("name", "version"), PAIRS)
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_both_forms_are_equal(name: str, version: int, data: st.DataObject) -> None:
    message = repeat_structs(data.draw(messages(by_name(name), version)), data.draw(st.integers(1, 4)))
    raw = plain_bytes(message, version)
    assert hot_bytes(message, version) == raw
    plain, end = type(message)._read(raw, 0, version)
    assert (plain, end) == (message, len(raw))
    for lazy in (False, True):
        assert message.READERS[version](raw, 0, version, lazy) == (message, len(raw))
        assert type(message).decode(memoryview(raw), version, lazy=lazy) == message


@pytest.mark.parametrize(("name", "version"), PAIRS)
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_the_hot_form_decodes_like_the_careful_one(name: str, version: int, data: st.DataObject) -> None:
    message = repeat_structs(data.draw(messages(by_name(name), version)), 2)
    raw = bytearray(message.encode(version))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFF]))
    broken = bytes(raw)
    try:
        expected = careful.decode(type(message), broken, version)
    except ProtocolError:
        expected = None
    try:
        found = message.READERS[version](broken, 0, version, data.draw(st.booleans()))
    except wire.READ_ERRORS:
        return  # Then the careful reader decides.
    if found[1] <= len(broken):
        assert found == expected


def metadata(lengths: list[tuple[int, int, int]]) -> MetadataResponse:
    draw = random.Random(5)
    partitions = [
        MetadataResponsePartition(
            partition_index=i,
            leader_id=draw.randrange(9),
            replica_nodes=[draw.randrange(9) for _ in range(a)],
            isr_nodes=[draw.randrange(9) for _ in range(b)],
            offline_replicas=[draw.randrange(9) for _ in range(c)],
        )
        for i, (a, b, c) in enumerate(lengths)
    ]
    return MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=partitions)])


LENGTHS = [
    [],
    [(3, 3, 0)] * 5,
    [(3, 3, 0)] * 5 + [(3, 2, 0)],
    [(0, 0, 0)] * 4,
    [(126, 1, 0)] * 3,
    [(127, 1, 0)] * 3,  # Its length takes two bytes.
    [(1, 127, 300)] * 2,
    [(31, 32, 33)] * 2,
    [(3, 2, 1), (2, 3, 1)],  # The same width, other lengths.
]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_arrays_of_one_shape_and_of_many(lengths: list[tuple[int, int, int]]) -> None:
    message = metadata(lengths)
    raw = plain_bytes(message, 12)
    assert hot_bytes(message, 12) == raw
    assert MetadataResponse.decode(raw, 12) == message
    lazy = MetadataResponse.decode(raw, 12, lazy=True)
    assert lazy == message
    assert lazy.encode(12) == raw
    assert type(lazy.topics[0]) is MetadataResponseTopic


def test_a_tag_in_one_element_costs_the_others_nothing() -> None:
    message = metadata([(3, 3, 0)] * 5)
    message.topics[0].partitions[2].unknown_tags = [UnknownTag(4, b"x")]
    raw = plain_bytes(message, 12)
    assert hot_bytes(message, 12) == raw
    assert MetadataResponse.decode(raw, 12) == message
    request = FetchRequest(topics=[FetchTopic(partitions=[FetchPartition(partition=i) for i in range(4)])])
    request.topics[0].partitions[1].mirror_leader_epoch = 5
    raw = plain_bytes(request, 19)
    assert hot_bytes(request, 19) == raw
    assert FetchRequest.decode(raw, 19) == request


def test_a_late_array_may_be_set_before_it_is_read() -> None:
    message = metadata([(3, 3, 0)] * 5)
    lazy = MetadataResponse.decode(message.encode(12), 12, lazy=True)
    lazy.topics[0].partitions = []
    assert lazy.topics[0] == MetadataResponseTopic(name="t")


def test_shapes_that_are_kept_are_bounded() -> None:
    shape = wire.Shape("i", "i*", "i*")
    for a in range(1, 40):
        for b in range(1, 40):
            assert shape.rows(a, b) is not None
            shape.pack(a, b)
    assert len(shape.known_rows) <= shape.CACHE_MAX
    assert len(shape.known_packs) <= shape.CACHE_MAX
    assert shape.rows(0, 1) is None
    assert shape.rows(1, 128) is None
