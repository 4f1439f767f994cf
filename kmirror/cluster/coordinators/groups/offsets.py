"""Committed offsets of groups, and those pending until the end of a transaction.

An offset that is committed in a transaction is pending until the producer's marker arrives. COMMIT makes it the group's
offset unless a later record has replaced it; ABORT drops it. The record with the higher offset in `__consumer_offsets`
wins, regardless of the order of the markers: the log cleaner keeps the last record of a key, and a compacted log must
replay to the same state (Kafka's OffsetMetadataManager). A tombstone removes an offset and all pending offsets of its
key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import LoggedRecord, Tables, Versioned
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import hash_of_text, in_timeline_order
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.legacy_offset_commit_key import LegacyOffsetCommitKey
from kmirror.protocol.gen.legacy_offset_commit_value import LegacyOffsetCommitValue
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.gen.offset_commit_value import OffsetCommitValue
from kmirror.protocol.keyed_records import encode_key, encode_value
from kmirror.protocol.message import Message
from kmirror.records import layout

NOT_SET = -1
"""A leader epoch or a time that a commit did not specify."""
VALUE_VERSION = 4
EXPIRING_VALUE_VERSION = 1
"""OffsetCommitValue version with an expiry field, for clients that specify a retention time."""


class OffsetKey(NamedTuple):
    """One partition for which one group commits offsets."""

    group: str
    tp: TopicPartition


class Committed(NamedTuple):
    """A committed offset of an `OffsetKey`."""

    offset: int
    leader_epoch: int
    """Leader epoch of the last consumed record; NOT_SET if the client did not send it."""
    metadata: str
    committed_ms: int
    expires_ms: int = NOT_SET
    """Expiry time requested by the client; NOT_SET if the broker's retention applies."""
    topic_id: Uuid = Uuid.ZERO
    """Id of the topic; ZERO if the record has none."""
    record_offset: int = NOT_SET
    """Offset of the record in the log."""

    def record(self, key: OffsetKey) -> KeyValue:
        """Return this offset as a record of `__consumer_offsets`."""
        value = OffsetCommitValue(
            offset=self.offset,
            leader_epoch=self.leader_epoch,
            metadata=self.metadata,
            commit_timestamp=self.committed_ms,
            expire_timestamp=self.expires_ms,
            topic_id=self.topic_id,
        )
        version = VALUE_VERSION if self.expires_ms == NOT_SET else EXPIRING_VALUE_VERSION
        return record_key(key), encode_value(value, version)

    def is_about(self, topic_id: Uuid) -> bool:
        """Return whether this may be an offset of the topic with this id; ZERO on either side matches any id."""
        return Uuid.ZERO in (self.topic_id, topic_id) or self.topic_id == topic_id


def record_key(key: OffsetKey) -> bytes:
    """Return the record key of `key`."""
    return encode_key(OffsetCommitKey(group=key.group, topic=key.tp.topic, partition=key.tp.partition))


def tombstone(key: OffsetKey) -> KeyValue:
    """Return the record that removes all committed and pending offsets of `key`."""
    return record_key(key), None


class Offsets(Tables):
    """The offsets in one partition of `__consumer_offsets`."""

    def __init__(self) -> None:
        self._committed: Versioned[OffsetKey, Committed] = Versioned()
        self._pending: Versioned[tuple[int, OffsetKey], Committed] = Versioned()
        """By producer id and key."""
        # The following indexes may contain too many keys, after a tombstone or a revert, but never too few.
        self._of_group: dict[str, dict[OffsetKey, None]] = {}
        self._of_producer: dict[int, dict[OffsetKey, None]] = {}
        self._open: dict[str, dict[OffsetKey, dict[int, None]]] = {}
        """Group -> its keys with pending offsets -> the producers."""
        self._groups: Versioned[str, bool] = Versioned()
        """True for each group that has ever committed."""
        super().__init__(self._committed, self._pending, self._groups)

    # -- replay -------------------------------------------------------------------------------

    def replay(self, record: LoggedRecord, key: Message, value: Message | None) -> None:
        """Apply one record with an OffsetCommitKey, or with the key of Kafka's first versions."""
        assert isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey)
        offset_key = OffsetKey(key.group, TopicPartition(key.topic, key.partition))
        if value is None:
            self._remove(offset_key)
            return
        assert isinstance(value, OffsetCommitValue | LegacyOffsetCommitValue)
        if not self.has_committed(offset_key.group):
            self._groups.put(offset_key.group, True)
        found = _from_record(value, record.offset)
        if record.producer_id == layout.NO_PRODUCER_ID:
            self._put(offset_key, found)
        else:
            self._pending.put((record.producer_id, offset_key), found)
            self._of_producer.setdefault(record.producer_id, {})[offset_key] = None
            self._open.setdefault(offset_key.group, {}).setdefault(offset_key, {})[record.producer_id] = None

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Apply a transaction marker: commit or drop the pending offsets of the producer."""
        for key in self._of_producer.pop(producer_id, ()):
            pending = self._pending.get((producer_id, key))
            self._close(key, producer_id)
            if pending is None:
                continue
            self._pending.put((producer_id, key), None)
            before = self._committed.get(key)
            if commit and (before is None or pending.record_offset > before.record_offset):
                self._put(key, pending)

    def forget(self, group: str) -> None:
        """Record that the group was deleted; its offsets have their own tombstones."""
        self._groups.put(group, None)

    def _put(self, key: OffsetKey, value: Committed) -> None:
        known = self._of_group.setdefault(key.group, {})
        if self._committed.get(key) is None:
            known.pop(key, None)  # An offset that is added again moves to the end.
        known[key] = None
        self._committed.put(key, value)

    def _remove(self, key: OffsetKey) -> None:
        if self._committed.get(key) is not None:
            self._committed.put(key, None)
        for producer_id in self.producers(key):
            self._pending.put((producer_id, key), None)

    def _close(self, key: OffsetKey, producer_id: int) -> None:
        of_group = self._open[key.group]
        producers = of_group[key]
        del producers[producer_id]
        if not producers:
            del of_group[key]
            if not of_group:
                del self._open[key.group]

    # -- lookup -------------------------------------------------------------------------------

    def latest(self, key: OffsetKey) -> Committed | None:
        """Return the committed offset of `key` at the log end, or None; an election may still revert it."""
        return self._committed.get(key)

    def committed(self, key: OffsetKey) -> Committed | None:
        """Return the committed offset of `key` at the high watermark, or None."""
        return self._committed.committed(key)

    def has_committed(self, group: str) -> bool:
        """Return whether the group has ever committed, before or since the log was loaded, and was not deleted."""
        return self._groups.get(group) is not None

    def producers(self, key: OffsetKey) -> list[int]:
        """Return the ids of the producers whose open transactions have pending offsets for `key`."""
        producer_ids = self._open.get(key.group, {}).get(key, ())
        return [producer_id for producer_id in producer_ids if self._pending.get((producer_id, key)) is not None]

    def all_of(self, key: OffsetKey) -> list[Committed | None]:
        """Return the committed offset of `key` at the log end, and all its pending offsets."""
        pending = [self._pending.get((producer_id, key)) for producer_id in self.producers(key)]
        return [self._committed.get(key), *pending]

    def has_pending(self, group: str) -> bool:
        """Return whether the group has pending offsets."""
        return any(self.producers(key) for key in self._open.get(group, ()))

    def has_offsets(self, group: str) -> bool:
        """Return whether the group has committed offsets, at the log end, or pending ones."""
        return self.has_pending(group) or any(
            self._committed.get(key) is not None for key in self._of_group.get(group, ())
        )

    def pending_keys(self, group: str) -> list[OffsetKey]:
        """Return the group's keys with pending offsets, in the order of Kafka's maps."""
        return _in_order(key for key in self._open.get(group, ()) if self.producers(key))

    def keys(self, group: str) -> list[OffsetKey]:
        """Return the group's keys with committed offsets, at the log end or at the high watermark.

        They are in the order of Kafka's maps, which is visible in responses and in the log.
        """
        known = self._of_group.get(group, {})
        for key in list(known):
            if self._committed.get(key) is None and not self._committed.is_pending(key):
                del known[key]
        if not known:
            self._of_group.pop(group, None)
        return _in_order(known)

    def groups(self) -> list[str]:
        """Return the groups that have committed and were not deleted, sorted."""
        return sorted(self._groups.keys())

    # -- records to write ---------------------------------------------------------------------

    def deletion(self, key: OffsetKey) -> Iterator[KeyValue]:
        """Yield the tombstone of `key` if it has a committed or pending offset."""
        if self._committed.get(key) is not None or self.producers(key):
            yield tombstone(key)

    def deletions(self, group: str) -> list[KeyValue]:
        """Return the tombstones of all committed and pending offsets of the group, one for each key."""
        keys = dict.fromkeys((*self.keys(group), *self.pending_keys(group)))
        return [record for key in keys for record in self.deletion(key)]

    def expired_keys(
        self, group: str, now_ms: int, retention_ms: int, since_ms: int | None, is_subscribed: Callable[[str], bool]
    ) -> list[OffsetKey]:
        """Return the group's keys whose offsets have expired.

        An offset expires at the time that its client requested, else `retention_ms` after `since_ms`, the time when the
        group became empty; if that is None, after the time of the commit. Offsets of topics with subscribed members do
        not expire, nor do those with a pending commit.
        """
        found = []
        for key in self.keys(group):
            offset = self._committed.get(key)
            if offset is None or is_subscribed(key.tp.topic) or self.producers(key):
                continue
            begin_ms = offset.committed_ms if since_ms is None else since_ms
            expires_ms = begin_ms + retention_ms if offset.expires_ms == NOT_SET else offset.expires_ms
            if now_ms >= expires_ms:
                found.append(key)
        return found

    def keys_of_topics(self, deleted: Mapping[str, Collection[Uuid]]) -> list[OffsetKey]:
        """Return the keys with committed or pending offsets of deleted topics; `deleted` maps names to topic ids.

        An offset committed for a later topic of the same name is kept; one without a topic id is not.
        """
        found: dict[OffsetKey, None] = {}
        for group in self.groups():
            for key in (*self.keys(group), *self.pending_keys(group)):
                topic_ids = deleted.get(key.tp.topic, ())
                values = [self._committed.get(key)]
                values += [self._pending.get((producer_id, key)) for producer_id in self.producers(key)]
                if any(value is not None and value.is_about(one) for value in values for one in topic_ids):
                    found[key] = None
        return list(found)


def _in_order(keys: Iterable[OffsetKey]) -> list[OffsetKey]:
    """Return the keys of one group in the order of Kafka's maps, by topic and by partition."""
    topics: dict[str, list[OffsetKey]] = {}
    for key in keys:
        topics.setdefault(key.tp.topic, []).append(key)
    return [
        key
        for topic in in_timeline_order(topics, hash_of_text)
        for key in in_timeline_order(topics[topic], lambda key: key.tp.partition)
    ]


def _from_record(value: OffsetCommitValue | LegacyOffsetCommitValue, record_offset: int) -> Committed:
    if isinstance(value, LegacyOffsetCommitValue):
        return Committed(value.offset, NOT_SET, value.metadata, value.commit_timestamp, record_offset=record_offset)
    return Committed(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
        value.topic_id,
        record_offset,
    )
