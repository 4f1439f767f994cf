"""Control batches: their bytes, and their values when read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.protocol import MirrorPidResetRecord
from kmirror.protocol.wire import UnknownTag
from kmirror.records import Batch, ControlType, RecordData, build_batch
from kmirror.records.control import (
    control_batch,
    control_key,
    end_txn_marker,
    mirror_pid_reset,
    parse_control,
)


@pytest.mark.parametrize("commit", [True, False])
def test_an_end_marker_names_its_producer(commit: bool) -> None:
    data = end_txn_marker(
        base_offset=7,
        leader_epoch=3,
        timestamp_ms=1_700_000_000_000,
        producer_id=4001,
        producer_epoch=2,
        commit=commit,
        coordinator_epoch=9,
    )
    batch = Batch(data)
    batch.verify_crc()
    assert (batch.base_offset, batch.partition_leader_epoch, batch.producer_id) == (7, 3, 4001)
    assert (batch.producer_epoch, batch.base_sequence, batch.record_count) == (2, -1, 1)
    assert batch.is_control and batch.is_transactional
    assert len(data) == 78  # Like every marker of Kafka.
    control = batch.control()
    assert control is not None
    assert control.type is (ControlType.COMMIT if commit else ControlType.ABORT)
    assert control.coordinator_epoch == 9


@pytest.mark.decision("D15")
@pytest.mark.parametrize("cluster_id", ["", "MkU3OEVBNTcwNTJENDM2Qk", "x" * 300])
def test_a_pid_reset_names_the_source_cluster_and_no_producer(cluster_id: str) -> None:
    data = mirror_pid_reset(base_offset=1, leader_epoch=2, timestamp_ms=3, source_cluster_id=cluster_id)
    batch = Batch(data)
    batch.verify_crc()
    assert batch.is_control and not batch.is_transactional and not batch.has_producer_id
    control = batch.control()
    assert control is not None
    assert control.type is ControlType.MIRROR_PID_RESET
    assert control.source_cluster_id == cluster_id


@pytest.mark.kip("1279", "MIRROR_PID_RESET")
def test_the_bytes_of_a_pid_reset_record() -> None:
    data = mirror_pid_reset(base_offset=0, leader_epoch=0, timestamp_ms=0, source_cluster_id="abc")
    (record,) = Batch(data).records()
    assert record.key == bytes.fromhex("00000007")
    assert record.value == bytes.fromhex("0000 04 616263 00")


@given(st.text(max_size=300).filter(lambda text: text.isprintable()))
def test_a_pid_reset_is_the_generated_record(cluster_id: str) -> None:
    """It is read and written by hand here, because a log is opened without the classes of messages."""
    (record,) = Batch(
        mirror_pid_reset(base_offset=0, leader_epoch=0, timestamp_ms=0, source_cluster_id=cluster_id)
    ).records()
    assert record.value == MirrorPidResetRecord(source_cluster_id=cluster_id).encode(0)
    tagged = MirrorPidResetRecord(source_cluster_id=cluster_id, unknown_tags=[UnknownTag(3, b"later")]).encode(0)
    assert parse_control(control_key(ControlType.MIRROR_PID_RESET), tagged).source_cluster_id == cluster_id


def test_tagged_fields_of_a_later_pid_reset_are_skipped() -> None:
    value = bytes.fromhex("0000 04 616263 02 00 01 ff 05 02 aabb")
    assert parse_control(control_key(ControlType.MIRROR_PID_RESET), value).source_cluster_id == "abc"


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (None, None, "key"),
        (b"\x00\x00\x00", b"", "key"),
        (b"\xff\xff\x00\x00", b"\x00\x00\x00\x00\x00\x00", "version -1"),
        (b"\x00\x00\x00\x00", None, "end marker"),
        (b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00", "end marker"),
        (b"\x00\x00\x00\x01", b"\xff\xfe\x00\x00\x00\x00", "version -2"),
        (b"\x00\x00\x00\x07", None, "no value"),
        (b"\x00\x00\x00\x07", b"\xff\xff\x01\x00", "version -1"),
        (b"\x00\x00\x00\x07", b"\x00\x00", "incomplete"),
        (b"\x00\x00\x00\x07", b"\x00\x00\x00\x00", "cluster id"),
        (b"\x00\x00\x00\x07", b"\x00\x00\x09abc\x00", "cluster id of 8 bytes"),
        (b"\x00\x00\x00\x07", b"\x00\x00\x02\xff\x00", "UTF-8"),
        (b"\x00\x00\x00\x07", b"\x00\x00\x02a", "incomplete"),
        (b"\x00\x00\x00\x07", b"\x00\x00\x02a\x01\x00\x05a", "tagged field"),
    ],
)
def test_a_truncated_control_record_is_refused(key: bytes | None, value: bytes | None, reason: str) -> None:
    with pytest.raises(CorruptBatch, match=reason):
        parse_control(key, value)


def test_an_unknown_type_is_returned_as_its_number() -> None:
    control = parse_control(b"\x00\x00\x00\x63", b"abc")
    assert (control.type, control.type_id, control.value) == (None, 99, b"abc")


@pytest.mark.parametrize("kind", [kind for kind in ControlType if 2 <= kind <= 6])
def test_the_kraft_ones_keep_their_value_as_bytes(kind: ControlType) -> None:
    batch = Batch(control_batch(kind, b"value", base_offset=0, leader_epoch=1, timestamp_ms=2))
    control = batch.control()
    assert control is not None
    assert (control.type, control.value) == (kind, b"value")


def test_a_fault_in_a_control_batch_names_the_batch() -> None:
    data = build_batch([RecordData(b"\x00", b"")], base_offset=55, is_control=True)
    with pytest.raises(CorruptBatch) as caught:
        Batch(b"12345" + data, 5).control()
    assert (caught.value.position, caught.value.offset) == (5, 55)


def test_data_and_emptied_batches_hold_no_control_record() -> None:
    assert Batch(build_batch([RecordData(b"\x00\x00\x00\x01", b"")])).control() is None
    assert Batch(build_batch([], last_offset_delta=0, is_control=True)).control() is None
