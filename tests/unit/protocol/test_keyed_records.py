"""Messages stored in logs, with their prefixes there."""

from __future__ import annotations

import pytest

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import FetchRequest, Uuid
from kmirror.protocol import keyed_records as records
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.gen.offset_commit_value import OffsetCommitValue
from kmirror.protocol.gen.topic_record import TopicRecord


def test_metadata_records() -> None:
    topic = TopicRecord(name="t", topic_id=Uuid.from_ints(0, 1))
    framed = records.encode_metadata_record(topic, 0)
    assert framed[:3] == b"\x01\x02\x00"
    assert records.decode_metadata_record(framed) == (topic, 0)


def test_coordinator_records() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=1)
    value = OffsetCommitValue(offset=5, metadata="", commit_timestamp=9)
    framed_key, framed_value = records.encode_key(key), records.encode_value(value, 3)
    assert framed_key[:2] == b"\0\1"
    assert framed_value[:2] == b"\0\3"
    assert records.decode_record(records.CONSUMER_OFFSETS, framed_key, framed_value) == (key, value, 3)
    assert records.decode_record(records.CONSUMER_OFFSETS, framed_key, None) == (key, None, None)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "frame_version"),
        (b"\x01", "record_type"),
        (b"\x01\x02", "version"),
        (b"\x02\x02\x00", "frame version 2"),
        (b"\x01\x63\x00", "no metadata record has the type 99"),
        (b"\x01\x02\x09", "TopicRecord has no version 9"),
        (b"\x01\x02\x00\x02", "field name"),
    ],
)
def test_malformed_metadata_records(data: bytes, text: str) -> None:
    with pytest.raises(ProtocolError, match=text):
        records.decode_metadata_record(data)


def test_malformed_coordinator_records() -> None:
    with pytest.raises(ProtocolError, match="2 bytes wanted, 1 left"):
        records.decode_key(records.CONSUMER_OFFSETS, b"\0")
    with pytest.raises(ProtocolError, match="__consumer_offsets has no record type 99"):
        records.decode_key(records.CONSUMER_OFFSETS, b"\0\x63")
    key = OffsetCommitKey(group="g", topic="t", partition=1)
    with pytest.raises(ProtocolError, match="version"):
        records.decode_value(records.CONSUMER_OFFSETS, key, b"")
    with pytest.raises(ProtocolError, match="OffsetCommitValue has no version 99"):
        records.decode_value(records.CONSUMER_OFFSETS, key, b"\0\x63")
    with pytest.raises(LocalProtocolError, match="my-topic holds no coordinator records"):
        records.decode_key("my-topic", b"\0\1")


def test_other_messages_are_not_framed_as_records() -> None:
    for encode in (
        lambda m: records.encode_metadata_record(m, 0),
        records.encode_key,
        lambda m: records.encode_value(m, 0),
    ):
        with pytest.raises(LocalProtocolError, match="FetchRequest is no"):
            encode(FetchRequest())


def test_every_internal_topic_has_keys_with_values() -> None:
    tables = records.COORDINATOR_RECORDS
    assert {topic: len(table) for topic, table in tables.items()} == {
        "__consumer_offsets": 22,
        "__transaction_state": 1,
        "__share_group_state": 2,
        "__mirror_state": 2,
    }
