"""Committed and pending offsets, and the effect of markers; each test is a history."""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.offsets import Committed, OffsetKey, Offsets, tombstone
from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.legacy_offset_commit_key import LegacyOffsetCommitKey
from kmirror.protocol.gen.legacy_offset_commit_value import LegacyOffsetCommitValue
from kmirror.protocol.keyed_records import decode_record, encode_key, encode_value
from kmirror.spec.topics import GROUP_TOPIC
from tests.consumer_offsets import KEY, TOPIC_ID, LogOfOffsets, committed


def test_a_commit_is_the_newest_immediately_and_settled_below_the_high_watermark() -> None:
    log = LogOfOffsets()
    log.commit(10)
    assert (log.value, log.committed) == (10, None)
    log.offsets.commit(1)
    assert (log.value, log.committed) == (10, 10)


def test_a_transactional_commit_is_pending_until_its_marker() -> None:
    log = LogOfOffsets()
    log.commit(10)
    log.commit(20, producer_id=7)
    assert (log.value, log.offsets.producers(KEY), log.offsets.has_pending("g")) == (10, [7], True)
    log.marker(7, commit=True)
    assert (log.value, log.offsets.producers(KEY), log.offsets.has_pending("g")) == (20, [], False)


def test_an_abort_drops_pending_offsets_and_nothing_else() -> None:
    log = LogOfOffsets()
    log.commit(10)
    log.commit(20, producer_id=7)
    log.marker(7, commit=False)
    assert (log.value, log.offsets.producers(KEY)) == (10, [])


def test_a_plain_commit_behind_a_pending_one_stays_when_the_transaction_commits() -> None:
    log = LogOfOffsets()
    log.commit(20, producer_id=7)
    log.commit(10)
    log.marker(7, commit=True)
    assert log.value == 10


def test_the_later_record_of_two_transactions_counts() -> None:
    for first, second in ((7, 8), (8, 7)):
        log = LogOfOffsets()
        log.commit(20, producer_id=7)
        log.commit(30, producer_id=8)
        log.marker(first, commit=True)
        assert log.offsets.producers(KEY) == [second]
        log.marker(second, commit=True)
        assert log.value == 30


def test_a_second_transaction_that_aborts_does_not_change_the_first_one() -> None:
    log = LogOfOffsets()
    log.commit(20, producer_id=7)
    log.commit(30, producer_id=8)
    log.marker(8, commit=False)
    assert (log.value, log.offsets.producers(KEY)) == (None, [7])
    log.marker(7, commit=True)
    assert log.value == 20


def test_a_second_marker_changes_nothing() -> None:
    log = LogOfOffsets()
    log.commit(20, producer_id=7)
    log.marker(7, commit=True)
    log.commit(21)
    log.marker(7, commit=True)
    log.marker(7, commit=False)
    assert log.value == 21
    log.commit(22, producer_id=7)
    assert (log.value, log.offsets.producers(KEY)) == (21, [7])


def test_a_tombstone_also_removes_pending_offsets() -> None:
    log = LogOfOffsets()
    log.commit(10)
    log.commit(20, producer_id=7)
    log.delete()
    assert (log.value, log.offsets.producers(KEY), log.offsets.has_pending("g")) == (None, [], False)
    log.marker(7, commit=True)
    assert log.value is None


def test_pending_offsets_after_a_tombstone_are_committed() -> None:
    log = LogOfOffsets()
    log.commit(20, producer_id=7)
    log.delete()
    log.commit(30, producer_id=7)
    log.marker(7, commit=True)
    assert log.value == 30


def test_the_last_commit_of_a_transaction_counts() -> None:
    log = LogOfOffsets()
    log.commit(20, producer_id=7)
    log.commit(15, producer_id=7)
    log.marker(7, commit=True)
    assert log.value == 15


def test_rejected_offsets_are_removed_from_all_indexes() -> None:
    log = LogOfOffsets()
    log.commit(10)
    log.draft(committed(20), producer_id=7)
    log.draft(committed(11))
    log.offsets.revert()
    assert (log.value, log.offsets.producers(KEY), log.offsets.has_pending("g")) == (10, [], False)
    log.draft(None)
    assert log.value is None and log.offsets.keys("g") == [KEY]
    log.offsets.revert()
    assert (log.value, log.offsets.keys("g")) == (10, [KEY])
    log.marker(7, commit=True)
    assert log.value == 10


def test_a_group_is_known_up_to_the_end_of_the_log() -> None:
    log = LogOfOffsets()
    log.draft(committed(20))
    assert log.offsets.has_committed("g")
    log.offsets.revert()
    assert not log.offsets.has_committed("g") and log.offsets.groups() == []
    log.commit(20)
    log.offsets.forget("g")
    log.offsets.revert()
    assert log.offsets.has_committed("g"), "its tombstone was refused"


def test_a_deleted_offset_is_listed_until_that_is_committed_and_then_forgotten() -> None:
    log = LogOfOffsets()
    log.commit(10)
    log.offsets.commit(1)
    log.delete()
    assert (log.value, log.committed, log.offsets.keys("g")) == (None, 10, [KEY])
    log.offsets.commit(2)
    assert (log.committed, log.offsets.keys("g"), log.offsets.groups()) == (None, [], ["g"])
    log.offsets.forget("g")
    assert (log.offsets.groups(), log.offsets.has_committed("g")) == ([], False)


def test_deletions_of_a_group_name_each_key_once() -> None:
    log = LogOfOffsets()
    other = OffsetKey("g", TopicPartition("other", 3))
    log.commit(10)
    log.commit(20, producer_id=7)
    log.commit(1, producer_id=7, key=other)
    log.commit(1, key=OffsetKey("h", KEY.tp))
    assert log.offsets.deletions("g") == [tombstone(KEY), tombstone(other)]
    assert list(log.offsets.deletion(OffsetKey("g", TopicPartition("none", 0)))) == []


# -- expiry ---------------------------------------------------------------------------------------


def expired(log: LogOfOffsets, now_ms: int, *, since_ms: int | None = None, subscribed: str = "") -> bool:
    found = log.offsets.expired_keys("g", now_ms, 1000, since_ms, lambda topic: topic == subscribed)
    assert found in ([], [KEY])
    return bool(found)


def test_an_offset_expires_by_its_commit_time_or_since_the_group_is_empty() -> None:
    log = LogOfOffsets()
    log.commit(10, committed_ms=500)
    assert [expired(log, now) for now in (1499, 1500)] == [False, True]
    assert [expired(log, now, since_ms=800) for now in (1799, 1800)] == [False, True]


def test_a_retention_named_by_the_client_takes_precedence() -> None:
    log = LogOfOffsets()
    log.commit(10, committed_ms=500, expires_ms=700)
    assert [expired(log, now, since_ms=5000) for now in (699, 700)] == [False, True]


def test_subscribed_topics_and_open_transactions_keep_an_offset() -> None:
    log = LogOfOffsets()
    log.commit(10, committed_ms=0)
    assert not expired(log, 9000, subscribed=KEY.tp.topic)
    log.commit(11, producer_id=7, committed_ms=0)
    assert not expired(log, 9000)
    log.marker(7, commit=False)
    assert expired(log, 9000)


# -- deleted topics -------------------------------------------------------------------------------


def test_offsets_of_a_deleted_topic_are_removed_but_not_its_successors() -> None:
    log = LogOfOffsets()
    log.commit(10, topic_id=TOPIC_ID)
    assert log.offsets.keys_of_topics({KEY.tp.topic: [TOPIC_ID]}) == [KEY]
    assert log.offsets.keys_of_topics({"other": [TOPIC_ID]}) == []
    assert log.offsets.keys_of_topics({KEY.tp.topic: [Uuid.from_ints(9, 9)]}) == []


def test_pending_offsets_of_a_deleted_topic_are_removed_too() -> None:
    log = LogOfOffsets()
    log.commit(10, producer_id=7)  # A record of a transaction never contains the topic's id.
    assert log.offsets.keys_of_topics({KEY.tp.topic: [TOPIC_ID]}) == [KEY]


# -- records --------------------------------------------------------------------------------------


def test_records_are_written_in_the_versions_of_a_real_broker() -> None:
    plain = Committed(10, 3, "note", 500, topic_id=TOPIC_ID).record(KEY)
    assert plain[1] is not None and decode_record(GROUP_TOPIC, *plain).version == 4
    expiring = decode_record(GROUP_TOPIC, *Committed(10, 3, "note", 500, expires_ms=700).record(KEY))
    assert expiring.version == 1
    log = LogOfOffsets()
    log.commit(10, committed_ms=500, expires_ms=700)
    assert log.offsets.latest(KEY) == Committed(10, -1, "", 500, 700, Uuid.ZERO, 0)


def test_the_first_record_format_is_understood() -> None:
    offsets = Offsets()
    key = encode_key(LegacyOffsetCommitKey(group="g", topic=KEY.tp.topic, partition=KEY.tp.partition))
    value = encode_value(LegacyOffsetCommitValue(offset=10, metadata="m", commit_timestamp=500), 0)
    name, data, _ = decode_record(GROUP_TOPIC, key, value)
    offsets.replay(LoggedRecord(key, value, 4), name, data)
    assert offsets.latest(KEY) == Committed(10, -1, "m", 500, record_offset=4)
    offsets.replay(LoggedRecord(key, None, 5), name, None)
    assert offsets.latest(KEY) is None
