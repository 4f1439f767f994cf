"""Properties of every message, with any content."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import FetchRequest, Message, Policy, Uuid, careful
from kmirror.protocol.frames import FrameReader, add_length
from kmirror.protocol.gen.fetch_request import FetchTopic
from kmirror.protocol.registry import by_name, names
from kmirror.testing.strategies import any_message, messages, versioned

ALL = sorted(names())


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=settings().max_examples // 5)
@given(data=st.data())
def test_there_and_back(name: str, data: st.DataObject) -> None:
    cls = by_name(name)
    message, version = data.draw(versioned(cls))
    raw = message.encode(version)
    found, end = cls.decode_prefix(raw, version)
    assert (found, end) == (message, len(raw))
    assert found.encode(version) == raw
    assert careful.decode(cls, raw, version) == (message, end)
    assert b"".join(careful.encode(message, version)) == raw


@given(any_message(unknown_tags=False))
def test_json_there_and_back(pair: tuple[Message, int]) -> None:
    message, version = pair
    text = json.dumps(message.to_json(version))
    assert type(message).from_json(json.loads(text), version) == message


@given(any_message(), st.binary(min_size=1, max_size=8), st.integers(0, 5))
def test_trailing_and_leading_bytes_change_nothing(pair: tuple[Message, int], more: bytes, before: int) -> None:
    message, version = pair
    raw = message.encode(version)
    assert type(message).decode(raw + more, version) == message
    assert type(message).decode(memoryview(raw + more), version) == message
    found = type(message).decode_prefix(bytes(before) + raw + more, version, before)
    assert found == (message, before + len(raw))


@given(any_message())
def test_every_strict_prefix_is_refused(pair: tuple[Message, int]) -> None:
    message, version = pair
    raw = message.encode(version)
    for end in range(len(raw)):
        for policy in Policy:
            with pytest.raises(ProtocolError) as caught:
                type(message).decode(raw[:end], version, policy=policy)
            assert caught.value.position is not None
            assert 0 <= caught.value.position <= end


@given(any_message())
def test_lenient_agrees_with_strict_where_nothing_is_wrong(pair: tuple[Message, int]) -> None:
    message, version = pair
    assert type(message).decode(message.encode(version), version, policy=Policy.LENIENT) == message


@given(any_message(), st.data())
def test_any_bytes_are_read_or_refused(pair: tuple[Message, int], data: st.DataObject) -> None:
    message, version = pair
    raw = bytearray(message.encode(version))
    for _ in range(data.draw(st.integers(1, 4))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        found, end = type(message).decode_prefix(raw, version)
    except ProtocolError as error:
        assert error.position is not None
        assert 0 <= error.position <= len(raw)
        return
    assert end <= len(raw)
    # A decoded message can be encoded, unless its unknown tags are out of order.
    try:
        again = found.encode(version)
    except LocalProtocolError as error:
        assert "unknown_tags" in str(error)
        return
    assert type(message).decode(again, version) == found


@given(any_message(), st.integers(-3, 30))
def test_another_version_carries_the_message_or_names_the_lost_field(pair: tuple[Message, int], version: int) -> None:
    message, _ = pair
    try:
        raw = message.encode(version)
    except LocalProtocolError as error:
        assert str(error).startswith(("field ", f"{message.NAME} has no version"))
    else:
        assert type(message).decode_prefix(raw, version)[1] == len(raw)


@given(st.lists(st.binary(max_size=40), max_size=5), st.data())
@example([b"", b"abc"], None)
def test_frames_do_not_depend_on_the_pieces_of_the_stream(sent: list[bytes], data: Any) -> None:
    stream = b"".join(add_length(frame) for frame in sent)
    reader, found, position = FrameReader(), [], 0
    while position < len(stream):
        step = 1 if data is None else data.draw(st.integers(1, len(stream) - position))
        found += reader.feed(stream[position : position + step])
        position += step
    assert found == sent


@given(st.from_type(FetchRequest), st.from_type(FetchTopic), st.from_type(Uuid))
def test_strategies_are_found_by_type(request: FetchRequest, topic: FetchTopic, uuid: Uuid) -> None:
    assert FetchRequest.decode(request.encode(19), 19) == request
    assert FetchRequest(topics=[topic]).encode(19)
    assert Uuid.from_str(str(uuid)) == uuid


@given(messages(FetchRequest, 4))
def test_strategies_stay_within_the_version(request: FetchRequest) -> None:
    assert FetchRequest.decode(request.encode(4), 4) == request
