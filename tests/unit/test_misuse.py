"""Wrong arguments raise errors immediately, with a clear text: records, batches, messages, log configs, ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmirror import Batch, Compression, LocalProtocolError, RecordData, UsageError
from kmirror.errors import KmirrorError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol import ApiVersionsRequest, CreateTopicsRequest, FetchRequest, Policy
from kmirror.records import BatchBuilder, build_batch, iter_batches, set_base_offset_and_epoch

LONG_MAX = (1 << 63) - 1
ONE = build_batch([RecordData(value=b"x" * 100)])


def build(**fields: Any) -> Callable[[], object]:
    return lambda: build_batch([RecordData(value=b"fine"), RecordData(**fields)])


def batch(**options: Any) -> Callable[[], object]:
    return lambda: build_batch([RecordData(value=b"x")], **options)


def append(**fields: Any) -> Callable[[], object]:
    return lambda: BatchBuilder().append(**fields)


def put_numbers(*numbers: int, buffer: Any = None, position: int = 0) -> Callable[[], object]:
    given = bytearray(ONE) if buffer is None else buffer
    return lambda: set_base_offset_and_epoch(given, *numbers, position=position)


def leader_append(data: Any) -> object:
    log = PartitionLog.open(TopicPartition("t", 0), MemoryStore(), LogConfig(), now_ms=0)
    return log.append_as_leader(data, leader_epoch=0, now_ms=0)


ANY: Any = None
ROWS: dict[str, tuple[Callable[[], object], str]] = {
    # records of a batch: index, actual and expected value
    "text for a value": (build(value="x"), r"record 1: the value must be bytes or None, not 'x'; \.encode\(\)"),
    "text for a key": (build(key="k"), r"record 1: the key must be bytes or None, not 'k'; \.encode\(\)"),
    "a number for a value": (build(value=5), "record 1: the value must be bytes or None, not 5"),
    "a list for a value": (build(value=[]), r"the value must be bytes or None, not \[\]"),
    "text for a header's value": (build(headers=[("h", "v")]), "value of header 'h' must be bytes or None, not 'v'"),
    "bytes for a header's name": (build(headers=[(b"h", b"v")]), "name of a header must be a string.*not b'h'"),
    "half a letter in a header's name": (build(headers=[("\ud800", b"")]), "can be encoded as UTF-8"),
    "a mapping of headers": (build(headers={"ab": b"v"}), r"list of \(name, value\), not \{.*\.items\(\)"),
    "text for headers": (build(headers="ab"), r"headers must be a list of \(name, value\), not 'ab'"),
    "a header of three": (build(headers=[("a", b"", b"")]), r"a header must be \(name, value\), not \('a'"),
    "text for a timestamp": (build(timestamp="5"), "timestamp must be an integer of milliseconds or None, not '5'"),
    "half a millisecond": (build(timestamp=5.5), "timestamp must be an integer of milliseconds or None, not 5.5"),
    "text for an offset": (build(offset="5"), "offset must be an integer or None, not '5'"),
    "values for records": (lambda: build_batch(ANY or [b"x"]), r"record 0: expected a RecordData, not b'x'; RecordDa"),
    "five bytes for a record": (lambda: build_batch(ANY or [b"12345"]), "record 0: expected a RecordData"),
    "one record for a list": (
        lambda: build_batch(ANY or RecordData(value=b"x")),
        "records must be a list of RecordData",
    ),
    "a generator of records": (
        lambda: build_batch(ANY or (r for r in [RecordData()])),
        "records must be a list of Rec",
    ),
    "no records": (lambda: build_batch([]), "a batch without records needs last_offset_delta"),
    # the numbers of a batch
    "text for a base offset": (batch(base_offset="0"), "base offset '0'"),
    "a base offset below 0": (batch(base_offset=-1), "base offset -1"),
    "text for a delta": (batch(last_offset_delta="9"), "is not an integer"),
    "text for a default timestamp": (batch(timestamp_ms="9"), "is not an integer"),
    "a codec by its name": (batch(compression="gzip"), r"no codec has the number 'gzip'; there are Compression\.NONE"),
    "text for a level": (batch(compression=Compression.GZIP, level="9"), "GZIP level is 1 to 9, not '9'"),
    "a third timestamp type": (batch(timestamp_type=9), r"CREATE_TIME \(0\) or LOG_APPEND_TIME \(1\), not 9"),
    "text for a producer id": (batch(producer_id="1"), "producer id 1.*not an integer"),
    # a builder
    "a builder, text for a value": (append(value="x"), "the value must be bytes or None, not 'x'"),
    "a builder, a number for a key": (append(key=1), "the key must be bytes or None, not 1"),
    "a builder, a mapping of headers": (append(headers={"h": b""}), r"headers must be a list of \(name, value\)"),
    "a builder, text for its size": (
        lambda: BatchBuilder(size_max=ANY or "5"),
        "size_max must be an integer from 0 on",
    ),
    "a builder of less than nothing": (
        lambda: BatchBuilder(size_max=-1),
        "size_max must be an integer from 0 on, not -1",
    ),
    # batches in a buffer
    "text for a batch": (lambda: Batch(ANY or "abc"), "a batch is read from bytes, not from 'abc'"),
    "nothing for a batch": (lambda: Batch(ANY), "a batch is read from bytes, not from None"),
    "a batch before the buffer": (lambda: Batch(ONE, -70), "before its buffer, at position -70"),
    "batches before the buffer": (lambda: list(iter_batches(ONE, position=-70)), "at position -70"),
    "text for batches": (lambda: list(iter_batches(ANY or "abc")), "a batch is read from bytes"),
    "an offset into bytes": (put_numbers(1, 1, buffer=ONE), "base offset 1 and leader epoch 1 into bytes"),
    "an offset into too little": (
        put_numbers(1, 1, buffer=bytearray(3)),
        "no batch header is at position 0 of 3 bytes",
    ),
    "an offset behind the end": (put_numbers(1, 1, position=500), "no batch header is at position 500"),
    "an offset too large": (put_numbers(1 << 70, 1), "cannot write base offset"),
    "an epoch too large": (put_numbers(1, 1 << 40), "cannot write base offset 1 and leader epoch 1099511627776"),
    # messages
    "text for a version": (lambda: FetchRequest().encode(ANY or "17"), "a version must be an integer, not '17'"),
    "no version": (lambda: FetchRequest().encode(ANY), "a version must be an integer, not None"),
    "no version of a small message": (lambda: ApiVersionsRequest().encode(ANY), "a version must be an integer"),
    "text for a version to read": (lambda: FetchRequest.decode(b"", ANY or "17"), "a version must be an integer"),
    "text for a message": (lambda: FetchRequest.decode(ANY or "00", 17), "from bytes, not from '00'; bytes.fromhex"),
    "nothing for a message": (lambda: FetchRequest.decode(ANY, 17), "a message is read from bytes, not from None"),
    "text for a strange message": (
        lambda: CreateTopicsRequest.decode(ANY or "00", 5, policy=Policy.LENIENT),
        "a message is read from bytes, not from '00'",
    ),
    "text for a uuid": (lambda: Uuid(ANY or "abc"), "made of 16 bytes, not of 'abc'; Uuid.from_str"),
    "sixteen letters for a uuid": (lambda: Uuid(ANY or "x" * 16), "made of 16 bytes, not of 'xxx"),
    "a number for a uuid": (lambda: Uuid(ANY or 16), "made of 16 bytes, not of 16"),
    # logs
    "a segment of no size": (lambda: LogConfig(segment_bytes=0), "segment_bytes must be an integer from 1 on, not 0"),
    "text for a segment's size": (lambda: LogConfig(segment_bytes=ANY or "5"), "segment_bytes must be an integer"),
    "an index interval below 0": (lambda: LogConfig(index_interval_bytes=-1), "index_interval_bytes must be an int"),
    "a codec's name": (lambda: LogConfig(compression_type=ANY or "gzip"), r"one of Compression\.NONE, .*not 'gzip'"),
    "text for a log's batch": (lambda: leader_append("abc"), "a batch is read from bytes, not from 'abc'"),
}


@pytest.mark.parametrize("row", ROWS)
def test_misuse_raises_an_error(row: str) -> None:
    misuse, told = ROWS[row]
    with pytest.raises(UsageError, match=told):
        misuse()


def test_a_value_that_cannot_be_encoded_is_a_usage_error() -> None:
    # One `except UsageError` catches all wrong arguments of a caller, and no external errors.
    assert issubclass(LocalProtocolError, UsageError)
    assert [kind for kind in UsageError.__mro__ if issubclass(kind, KmirrorError)] == [UsageError, KmirrorError]


def test_a_builder_continues_after_a_refused_record() -> None:
    builder = BatchBuilder(timestamp_ms=7)
    with pytest.raises(UsageError):
        builder.append(value=ANY or 5, timestamp=1)
    builder.append(value=b"x")
    (record,) = Batch(builder.build()).records()
    assert (record.timestamp, record.value) == (7, b"x")


def test_a_bytearray_that_is_too_short_does_not_grow() -> None:
    short = bytearray(3)
    with pytest.raises(UsageError):
        set_base_offset_and_epoch(short, 1, 1)
    assert short == bytes(3)
