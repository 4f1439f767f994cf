"""Batches of Kafka decode to the records of a Kafka consumer, and are encoded back byte for byte."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch
from kmirror.records import Batch, Compression, TimestampType, build_batch, iter_batches
from kmirror.records.legacy import AnyBatch, LegacyBatch, build_message_set, iter_any_batches
from kmirror.records.record import RecordData, decode_records
from tests.golden.records.recorded import (
    SAMPLE,
    WHOLE,
    Partition,
    as_consumed,
    every_log,
    partitions,
    read_committed,
    read_uncommitted,
)

ROOTS = [pytest.param(SAMPLE, id="sample"), pytest.param(WHOLE, id="whole")]


def batches_of(partition: Partition) -> list[AnyBatch]:
    return [
        batch for segment in partition.segments() for batch in iter_any_batches(segment.read_bytes(), check_crc=True)
    ]


def sound_batches(path: Path) -> list[Batch]:
    """Return the format 2 batches of a file up to the first invalid one."""
    found: list[Batch] = []
    try:
        found.extend(iter_batches(path.read_bytes(), check_crc=True))
    except CorruptBatch:
        pass
    return found


@pytest.mark.parametrize("root", ROOTS)
def test_records_equal_those_of_a_kafka_consumer(root: Path) -> None:
    compared = 0
    for partition in partitions(root):
        batches = batches_of(partition)
        start = partition.offsets()["earliest"]["offset"]
        ours = [as_consumed(record) for record in read_uncommitted(batches, start)]
        theirs = partition.consumed() or []
        if partition.name.startswith("__"):
            # The broker continued to write these after the consumer had stopped.
            ours = list(islice(ours, len(theirs)))
        assert ours == theirs, str(partition)
        compared += len(theirs)
    assert compared > 500


@pytest.mark.parametrize("root", ROOTS)
def test_read_committed_leaves_out_aborted_and_open_transactions(root: Path) -> None:
    compared = 0
    for partition in partitions(root):
        theirs = partition.consumed(".committed.jsonl")
        if theirs is None:
            continue
        offsets = partition.offsets()
        ours = read_committed(batches_of(partition), offsets["earliest"]["offset"], offsets["lso"])
        assert [as_consumed(record) for record in ours] == theirs, str(partition)
        compared += len(theirs)
    assert compared > 20


@pytest.mark.parametrize("root", ROOTS)
def test_a_header_packed_again_is_the_same_bytes(root: Path) -> None:
    checked = 0
    for path in every_log(root):
        for batch in sound_batches(path):
            assert batch.header == batch.view[:61]
            checked += 1
    assert checked > 100


def rebuilt(batch: Batch, *, level: int | None = None) -> bytes:
    # With log append time the records keep the producer's deltas, which no reader sees.
    context = batch.context()._replace(log_append_time=None)
    records = [
        RecordData(record.key, record.value, record.headers, record.timestamp, record.offset)
        for record in decode_records(batch.payload(), batch.record_count, context)
    ]
    append_time = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    return build_batch(
        records,
        base_offset=batch.base_offset,
        partition_leader_epoch=batch.partition_leader_epoch,
        compression=batch.compression,
        level=level,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        is_control=batch.is_control,
        timestamp_type=batch.timestamp_type,
        timestamp_ms=batch.max_timestamp if append_time else -1,
        last_offset_delta=batch.last_offset_delta,
        base_timestamp=batch.base_timestamp,
        max_timestamp=batch.max_timestamp,
        delete_horizon_ms=batch.delete_horizon_ms,
    )


@pytest.mark.parametrize("root", ROOTS)
def test_an_uncompressed_batch_is_rebuilt_byte_for_byte(root: Path) -> None:
    checked = 0
    for path in every_log(root):
        for batch in sound_batches(path):
            if batch.compression is Compression.NONE:
                assert rebuilt(batch) == batch.view, f"{path} {batch}"
                checked += 1
    assert checked > 100


@pytest.mark.parametrize("root", ROOTS)
def test_a_compressed_batch_is_rebuilt_with_the_same_records(root: Path) -> None:
    seen: dict[Compression, int] = {}
    for path in every_log(root):
        for batch in sound_batches(path):
            codec = batch.compression
            if codec is Compression.NONE:
                continue
            again = Batch(rebuilt(batch))
            again.verify_crc()
            assert again.compression is codec
            assert again.payload() == batch.payload()
            assert list(again.records()) == list(batch.records())
            seen[codec] = seen.get(codec, 0) + 1
    assert set(seen) == set(Compression) - {Compression.NONE}


def test_the_jvm_producers_own_bytes_come_out_of_our_compressors() -> None:
    """Most of a Java producer's compressed batches are reproduced; which ones depends on library versions."""
    levels = {
        Compression.GZIP: [None, 1, 9],
        Compression.SNAPPY: [None],
        Compression.LZ4: [None, 1, 12],
        Compression.ZSTD: [None, -5, 19],
    }
    same: dict[Compression, int] = dict.fromkeys(levels, 0)
    for path in sorted((SAMPLE / "kraft-4.3" / "data" / "codecs-0").glob("*.log")):
        for batch in sound_batches(path):
            codec = batch.compression
            if codec is not Compression.NONE:
                same[codec] += any(rebuilt(batch, level=level) == batch.view for level in levels[codec])
    assert all(same.values()), same


@pytest.mark.decision("D21")
@pytest.mark.parametrize("root", ROOTS)
def test_message_sets_before_format_2_are_rebuilt_byte_for_byte(root: Path) -> None:
    checked: dict[tuple[int, Compression], int] = {}
    for partition in partitions(root):
        for batch in batches_of(partition):
            if not isinstance(batch, LegacyBatch):
                continue
            messages = list(batch.messages())
            assert all(message.is_valid for message in messages)
            assert messages[-1].offset == batch.last_offset
            assert batch.base_offset == messages[0].offset
            codec = batch.compression
            # Inside a wrapper, format 1 counts from 0 and a compacted set has gaps: only complete sets are reproduced.
            if codec is not Compression.NONE and messages[-1].offset - messages[0].offset >= len(messages):
                continue
            again = build_message_set(
                [RecordData(message.key, message.value, (), message.timestamp) for message in messages],
                magic=batch.magic,
                base_offset=batch.base_offset,
                compression=codec,
                timestamp_type=batch.timestamp_type,
                timestamp_ms=batch.timestamp,
            )
            if codec is Compression.NONE:
                assert again == batch.view
            else:
                assert LegacyBatch(again).last_offset == batch.last_offset
                assert list(LegacyBatch(again).records()) == list(batch.records())
            checked[batch.magic, codec] = checked.get((batch.magic, codec), 0) + 1
    assert set(checked) == {(magic, codec) for magic in (0, 1) for codec in Compression if codec < Compression.ZSTD}
