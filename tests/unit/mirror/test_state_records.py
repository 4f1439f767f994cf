"""`__mirror_state`: keys for compaction, and the KIP's own dump byte for byte (D8, D9)."""

from __future__ import annotations

import pytest

from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.state_records import (
    NEVER_MIRRORED,
    NO_STATE,
    MirrorShard,
    PartitionState,
    StateKey,
    epoch_record,
    mirror_partition,
    state_partition,
    state_record,
)
from kmirror.mirror.states import MirrorState
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData

TOPIC_ID = Uuid.from_ints(1, 2)
KEYS = [StateKey("m", TOPIC_ID, partition) for partition in range(4)] + [StateKey("n", TOPIC_ID, 0)]


def compact(records: list[KeyValue]) -> list[KeyValue]:
    """Return the last record of every key, in order, as the log cleaner would keep them."""
    last = {key: number for number, (key, _) in enumerate(records)}
    return [record for number, record in enumerate(records) if last[record[0]] == number]


def loaded(records: list[KeyValue]) -> dict[StateKey, PartitionState]:
    shard = MirrorShard()
    for key, value in records:
        shard.replay(LoggedRecord(key, value))
    shard.mark_appended(len(records))
    shard.commit(len(records))
    return shard.all_committed()


def history() -> list[KeyValue]:
    records: list[KeyValue] = []
    for leader_epoch, state in enumerate((MirrorState.PREPARING, MirrorState.MIRRORING, MirrorState.STOPPING)):
        for key in KEYS:
            records.append(state_record(key, "orders", state, leader_epoch))
    for number, key in enumerate(KEYS):
        records.append(epoch_record(key, "orders", number + 3))
    return records


@pytest.mark.decision("D8")
def test_compaction_keeps_every_partition() -> None:
    whole = history()
    kept = compact(whole)
    assert len(kept) == 2 * len(KEYS)
    assert loaded(kept) == loaded(whole)
    assert loaded(kept) == {
        key: PartitionState("orders", MirrorState.STOPPING, 2, number + 3) for number, key in enumerate(KEYS)
    }


def literal_key(record_type: int, mirror: str) -> bytes:
    """Return a key in the KIP's layout: the mirror's name alone."""
    name = mirror.encode()
    return record_type.to_bytes(2, "big") + len(name).to_bytes(2, "big") + name


def literal_value(topic: str, partition: int, state: int) -> bytes:
    """Return a state in the KIP's layout, version 0, flexible."""
    name = topic.encode()
    compact = (len(name) + 1).to_bytes(1, "big") + name
    return bytes(2) + compact + partition.to_bytes(4, "big") + state.to_bytes(1, "big") + b"\x00"


@pytest.mark.decision("D8")
@pytest.mark.kip("1279", "__mirror_state")
def test_the_literal_key_keeps_one_partition_of_a_mirror() -> None:
    """With the KIP's key compaction removes all partitions of a mirror but one (D8)."""
    records: list[KeyValue] = [
        (literal_key(2, "my-mirror"), literal_value("my-topic", partition, 1)) for partition in range(50)
    ]
    assert len(compact(records)) == 1


@pytest.mark.kip("1279", "__mirror_state dump")
def test_the_literal_layout_has_the_sizes_of_the_kips_dump() -> None:
    key, value = literal_key(2, "my-mirror"), literal_value("my-topic", 0, 0)
    assert len(key) == 13
    assert len(value) == 17
    assert len(build_batch([RecordData(key=key, value=value)], timestamp_ms=1)) == 98


@pytest.mark.decision("D9")
def test_the_value_is_the_literal_one_with_the_leader_epoch_behind_it() -> None:
    key, value = state_record(StateKey("my-mirror", TOPIC_ID, 0), "my-topic", MirrorState.PREPARING, -1)
    assert value == literal_value("my-topic", 0, 0), "without a leader epoch the KIP's bytes"
    assert key[:13] == literal_key(2, "my-mirror"), "the KIP's key comes first"
    assert key[13:] == TOPIC_ID + bytes(4)
    _, fenced = state_record(StateKey("my-mirror", TOPIC_ID, 0), "my-topic", MirrorState.PREPARING, 7)
    assert fenced is not None and value is not None
    assert fenced[: len(value) - 1] == value[:-1]


@pytest.mark.decision("D8")
def test_tombstones_forget_a_partition() -> None:
    records = history()
    state, epoch = state_record(KEYS[0], "", MirrorState.PREPARING, 0)[0], epoch_record(KEYS[0], "", 0)[0]
    assert KEYS[0] in loaded([*records, (state, None)]), "the epoch is still there"
    assert KEYS[0] not in loaded([*records, (state, None), (epoch, None)])
    assert len(loaded([*records, (state, None), (epoch, None)])) == len(KEYS) - 1


@pytest.mark.decision("D23")
def test_an_epoch_that_was_settled_as_never_mirrored_is_not_an_unsettled_one() -> None:
    found = loaded([epoch_record(KEYS[0], "orders", NEVER_MIRRORED)])
    assert found[KEYS[0]].last_mirrored_epoch == NEVER_MIRRORED != NO_STATE.last_mirrored_epoch


@pytest.mark.decision("D8")
def test_where_a_state_lives() -> None:
    """abs(javaHash("mirror:topicId:partition")) % n, computed by hand with the formula of Java's String.hashCode."""
    key = StateKey("m", TOPIC_ID, 3)
    text = f"m:{TOPIC_ID}:3"
    value = 0
    for character in text:
        value = (31 * value + ord(character)) % (1 << 32)
    value -= (value >> 31) << 32
    assert state_partition(key, 50) == abs(value) % 50
    assert mirror_partition("m", 50) == ord("m") % 50
