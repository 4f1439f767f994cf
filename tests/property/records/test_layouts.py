"""The declarative layouts are a second reader of every format; the fast path agrees, or both refuse."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import construct
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.kernel.java import wrap_int64
from kmirror.log.epochs import encode_checkpoint
from kmirror.log.index import OffsetIndex
from kmirror.logdir.dissect import layouts as layouts
from kmirror.logdir.dissect.core import VARINT, VARLONG, plain_value
from kmirror.records import Batch, Compression, RecordData, build_batch
from kmirror.records.legacy import LegacyBatch, build_message
from kmirror.records.varint import encode_varint, read_varint, read_varlong
from kmirror.testing.strategies.batches import CONTENTS, TIMESTAMPS_MS, record_batches
from tests.property.records.test_batch import seal

INT64 = st.integers(min_value=-(2**63), max_value=2**63 - 1)

HEADER_FIELDS = [
    "base_offset",
    "batch_length",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "record_count",
]


def records_of(payload: bytes, count: int) -> list[dict[str, Any]]:
    """Return the layout's records, or raise `ConstructError`."""
    if count < 0:
        raise construct.RangeError("a negative count")
    stream = io.BytesIO(payload)
    found = [plain_value(layouts.RECORD.parse_stream(stream))["fields"] for _ in range(count)]
    if stream.read(1):
        raise construct.TerminatedError("bytes are left")
    return found


def as_fields(batch: Batch) -> list[dict[str, Any]]:
    """Return the records of the fast path, in the layout's terms."""
    return [
        {
            "key": record.key,
            "value": record.value,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "headers": record.headers,
        }
        for record in batch.records()
    ]


def in_their_terms(fields: dict[str, Any], batch: Batch) -> dict[str, Any]:
    is_appended = batch.timestamp_type == 1
    own_time = wrap_int64(batch.base_timestamp + fields["timestamp_delta"])
    return {
        "key": fields["key"],
        "value": fields["value"],
        "offset": batch.base_offset + fields["offset_delta"],
        "timestamp": batch.max_timestamp if is_appended else own_time,
        "headers": [(one["name"].decode("utf-8", "replace"), one["value"]) for one in fields["headers"]],
    }


@given(data=record_batches())
def test_a_batch_is_read_and_written_alike(data: bytes) -> None:
    batch = Batch(data)
    parsed = plain_value(layouts.BATCH.parse(data))
    assert {name: parsed[name] for name in HEADER_FIELDS} == {name: getattr(batch, name) for name in HEADER_FIELDS}
    assert parsed["payload"] == data[61:]
    assert layouts.BATCH.build(parsed) == data
    payload = batch.payload()
    fields = records_of(payload, batch.record_count)
    assert [in_their_terms(one, batch) for one in fields] == as_fields(batch)
    stream = io.BytesIO(payload)
    again = b"".join(layouts.RECORD.build(layouts.RECORD.parse_stream(stream)) for _ in fields)
    assert again == payload


@given(body=st.binary(max_size=60), count=st.integers(min_value=-2, max_value=300))
@example(body=b"\x0e\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f", count=1)
@example(body=b"\x14\x00\x00\x00\xfe\xff\xff\xff\x0f\x01\x00", count=1)
@example(body=b"\x0d\x00\x00\x00\x01\x01\x00\x00", count=1)
@example(body=b"\x0c\x00\x00\x00\x01\x01\x00", count=1)
@example(body=b"\x0e\x00\x00\x00\x01\x01\x00\x00", count=1)
@example(body=b"\x1a\x00\x00\x00\x01\x01\x00" + b"\x0c\x00\x00\x00\x01\x01\x00", count=2)
@example(body=b"\x1c\x00\x80\x80\x80\x80\x80\x00\x00\x01\x01\x00\x00\x00\x00", count=1)
@example(body=b"\x14\x00\x00\x00\x01\x01\x02\x01\x00\x00\x00", count=1)
def test_records_are_accepted_by_both_or_by_neither(body: bytes, count: int) -> None:
    batch = seal(body, count)
    try:
        fields = records_of(batch.payload(), count)
        # A layout cannot express that a null name is invalid.
        if any(one["name"] is None for record in fields for one in record["headers"]):
            raise construct.ValidationError("null name")
    except construct.ConstructError:
        with pytest.raises(CorruptBatch):
            list(batch.records())
    else:
        assert [in_their_terms(one, batch) for one in fields] == as_fields(batch)


@given(value=INT64)
def test_numbers_are_written_and_read_alike(value: int) -> None:
    data = encode_varint(value)
    assert VARLONG.build(value) == data
    assert VARLONG.parse(data) == read_varlong(data, 0)[0] == value


@given(data=st.binary(max_size=12))
def test_any_bytes_are_the_same_number_to_both(data: bytes) -> None:
    for layout, read in ((VARINT, read_varint), (VARLONG, read_varlong)):
        try:
            expected = layout.parse(data)
        except construct.ConstructError:
            with pytest.raises((CorruptBatch, IndexError)):
                read(data, 0)
        else:
            assert read(data, 0)[0] == expected


@given(
    magic=st.sampled_from([0, 1]),
    key=CONTENTS,
    value=CONTENTS,
    offset=st.integers(0, 2**62),
    stamp=TIMESTAMPS_MS,
    attributes=st.sampled_from([0, 8]),
)
def test_a_message_is_read_and_written_alike(
    magic: int, key: bytes | None, value: bytes | None, offset: int, stamp: int, attributes: int
) -> None:
    data = build_message(RecordData(key, value, (), stamp), magic=magic, offset=offset, attributes=attributes)
    layout = layouts.MESSAGE_V1 if magic else layouts.MESSAGE_V0
    parsed = plain_value(layout.parse(data))
    batch = LegacyBatch(data)
    (message,) = batch.messages()
    assert (parsed["offset"], parsed["crc"], parsed["magic"]) == (offset, batch.crc, magic)
    assert (parsed["key"], parsed["value"]) == (message.key, message.value) == (key, value)
    assert parsed.get("timestamp", -1) == message.timestamp
    assert layout.build(parsed) == data


@given(data=st.binary(min_size=61, max_size=100))
def test_any_header_bytes_are_the_same_fields_to_both(data: bytes) -> None:
    sound = data[:8] + (len(data) - 12).to_bytes(4, "big") + data[12:16] + b"\x02" + data[17:]
    batch = Batch(sound)
    parsed = plain_value(layouts.BATCH.parse(sound))
    assert {name: parsed[name] for name in HEADER_FIELDS} == {name: getattr(batch, name) for name in HEADER_FIELDS}


def test_a_compressed_batch_has_its_payload_whole() -> None:
    data = build_batch([RecordData(b"k", b"v" * 100)] * 3, compression=Compression.ZSTD)
    parsed = plain_value(layouts.BATCH.parse(data))
    assert layouts.batch_attributes(parsed["attributes"]) == "zstd, create time"
    assert len(parsed["payload"]) == len(data) - 61


@given(entries=st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1)), max_size=6))
def test_a_leader_epoch_checkpoint_is_read_and_written_alike(entries: list[tuple[int, int]]) -> None:
    data = encode_checkpoint(entries)
    parsed = plain_value(layouts.LEADER_EPOCH_CHECKPOINT.parse(data))
    assert parsed["version"] == 0
    assert [(one["epoch"], one["start_offset"]) for one in parsed["entries"]] == entries
    assert layouts.LEADER_EPOCH_CHECKPOINT.build(parsed) == data


@given(steps=st.lists(st.tuples(st.integers(1, 2**20), st.integers(1, 2**20)), min_size=1, max_size=6))
def test_an_offset_index_is_read_and_written_alike(steps: list[tuple[int, int]]) -> None:
    index = OffsetIndex(1000)
    rows: list[tuple[int, int]] = []
    offset, position = 1000, 0
    for offset_step, position_step in steps:
        offset, position = offset + offset_step, position + position_step
        index.append(offset, position)
        rows.append((offset - 1000, position))
    data = index.encode()
    parsed = [plain_value(layouts.INDEX_ENTRY.parse(data[at : at + 8])) for at in range(0, len(data), 8)]
    assert [(one["relative_offset"], one["position"]) for one in parsed] == rows


@given(stamp=st.datetimes().map(lambda moment: int((moment - datetime(1970, 1, 1)) / timedelta(milliseconds=1))))
@example(stamp=0)
@example(stamp=951_782_400_000)  # 2000-02-29.
@example(stamp=4_107_542_400_000)  # 2100-03-01.
@example(stamp=253_402_300_799_999)
@example(stamp=-62_135_596_800_000)
def test_a_time_is_written_as_the_standard_library_does(stamp: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=stamp)
    text = moment.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "Z")
    assert layouts.time_of(stamp) == (text if stamp != -1 else "no timestamp")


@given(stamp=INT64)
def test_any_number_is_some_time(stamp: int) -> None:
    assert layouts.time_of(stamp)
