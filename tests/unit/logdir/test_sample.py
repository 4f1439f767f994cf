"""The embedded sample contains all kinds of data that a mirror must copy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.load import LogDirs, PartitionFiles, read_sample
from kmirror.records import Batch, Compression, ControlType, iter_batches
from tests.unit.logdir.folders import SAMPLE

SIZE_MAX = 1_000_000
# Kafka's own values for `txn`, where they are below the log end.
LAST_STABLE_OFFSETS = {0: 74, 2: 50}


@pytest.fixture(scope="module")
def found() -> LogDirs:
    return read_sample()


def batches(files: PartitionFiles) -> Iterator[Batch]:
    for data in files.segments.values():
        yield from iter_batches(data, check_crc=True)


def at(found: LogDirs, topic: str, partition: int = 0) -> PartitionFiles:
    return found.partitions[TopicPartition(topic, partition)]


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < SIZE_MAX


def test_nothing_in_it_is_left_out(found: LogDirs) -> None:
    assert found.skipped == []
    assert len(found.partitions) == 24
    assert found.cluster_id == "rSn0mYh3S8iTg1p7bQzXwA"
    assert all(found.topic_id(topic) for topic in found.topics)


def test_every_codec_is_in_it(found: LogDirs) -> None:
    for partition in range(4):
        assert {batch.compression for batch in batches(at(found, "codecs", partition))} == set(Compression)


def test_frames_of_other_clients_are_in_it(found: LogDirs) -> None:
    assert {batch.compression for batch in batches(at(found, "clients"))} == set(Compression)


def test_both_timestamp_types_are_in_it(found: LogDirs) -> None:
    assert {batch.timestamp_type for batch in batches(at(found, "logappend"))} == {1}
    assert {batch.timestamp_type for batch in batches(at(found, "codecs"))} == {0}


def test_compacted_gaps_are_in_it_between_batches_and_inside_them(found: LogDirs) -> None:
    walked = list(batches(at(found, "compacted")))
    assert any(before.next_offset < after.base_offset for before, after in pairwise(walked))
    assert any(0 < batch.record_count <= batch.last_offset_delta for batch in walked)
    assert any(batch.record_count == 0 for batch in walked)
    assert any(batch.delete_horizon_ms is not None for batch in walked)


def test_a_log_start_inside_a_segment_and_one_at_the_log_end_are_in_it(found: LogDirs) -> None:
    middle = at(found, "retention", 1)
    assert min(middle.segments) < middle.log_start_offset < middle.log_end_offset
    first = next(batch for batch in batches(middle) if batch.next_offset > middle.log_start_offset)
    assert first.base_offset <= middle.log_start_offset
    assert min(at(found, "retention", 0).segments) > 0
    emptied = at(found, "emptied")
    assert emptied.log_start_offset == emptied.log_end_offset > 0


def test_several_leader_epochs_are_in_it(found: LogDirs) -> None:
    files = at(found, "epochs")
    epochs = [batch.partition_leader_epoch for batch in batches(files)]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) == 7
    assert files.files["leader-epoch-checkpoint"].startswith(b"0\n7\n")


def test_an_empty_log_is_in_it(found: LogDirs) -> None:
    files = at(found, "never-written")
    assert (files.segments, files.log_start_offset, files.log_end_offset) == ({0: b""}, 0, 0)


def test_idempotent_producers_are_in_it_and_a_sequence_that_wraps(found: LogDirs) -> None:
    walked = [batch for number in (0, 1) for batch in batches(at(found, "idem", number))]
    assert len({batch.producer_id for batch in walked if batch.has_producer_id}) > 1
    assert not any(batch.is_transactional for batch in walked)
    assert any(batch.last_sequence < batch.base_sequence for batch in walked)


def test_committed_aborted_and_open_transactions_are_in_it(found: LogDirs) -> None:
    left_open = {}
    for partition in range(3):
        open_since: dict[int, int] = {}
        ended = []
        for batch in batches(at(found, "txn", partition)):
            control = batch.control()
            if control is not None:
                ended.append((control.type, open_since.pop(batch.producer_id, None) is not None))
            elif batch.is_transactional:
                open_since.setdefault(batch.producer_id, batch.base_offset)
        assert (ControlType.COMMIT, True) in ended
        assert (ControlType.ABORT, True) in ended
        if open_since:
            left_open[partition] = min(open_since.values())
    assert left_open == LAST_STABLE_OFFSETS


def test_logs_of_several_segments_are_in_it(found: LogDirs) -> None:
    assert max(len(files.segments) for files in found.partitions.values()) >= 4
