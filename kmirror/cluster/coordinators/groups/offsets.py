"""Which offsets has a group committed, and which wait for the end of a transaction?

An offset that is committed in a transaction is pending until the producer's marker comes: COMMIT makes it the group's
offset unless a record further back in the log has been superseded meanwhile, ABORT drops it. Which of two commits holds
is decided by the offsets of their records in `__consumer_offsets`, never by the order of the markers: the log cleaner
keeps the last record of a key, and a log that was compacted has to replay to the same state (Kafka's
OffsetMetadataManager). A tombstone removes an offset with all that is pending for it.
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
"""A leader epoch or a time that a commit did not name."""
VALUE_VERSION = 4
EXPIRING_VALUE_VERSION = 1
"""Version of OffsetCommitValue that has an expiry of its own: for clients that name a retention time."""


class OffsetKey(NamedTuple):
    """One partition for which one group commits."""

    group: str
    tp: TopicPartition


class Committed(NamedTuple):
    """What was committed for an `OffsetKey`."""

    offset: int
    leader_epoch: int
    """Of the last record consumed; NOT_SET if the client did not say."""
    metadata: str
    committed_ms: int
    expires_ms: int = NOT_SET
    """When the client wants it to expire; NOT_SET if the broker's retention decides."""
    topic_id: Uuid = Uuid.ZERO
    """Of the topic for which it was committed; ZERO if the record does not say."""
    record_offset: int = NOT_SET
    """Where its record stands in the log."""

    def record(self, key: OffsetKey) -> KeyValue:
        """Return this as a record of `__consumer_offsets`."""
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
        """Return whether this may be about the topic with this id; ZERO on either side stands for any."""
        return Uuid.ZERO in (self.topic_id, topic_id) or self.topic_id == topic_id


def record_key(key: OffsetKey) -> bytes:
    """Return the key of the record of `key`."""
    return encode_key(OffsetCommitKey(group=key.group, topic=key.tp.topic, partition=key.tp.partition))


def tombstone(key: OffsetKey) -> KeyValue:
    """Return the record that removes what is committed and pending for `key`."""
    return record_key(key), None


class Offsets(Tables):
    """The offsets in one partition of `__consumer_offsets`."""

    def __init__(self) -> None:
        self._committed: Versioned[OffsetKey, Committed] = Versioned()
        self._pending: Versioned[tuple[int, OffsetKey], Committed] = Versioned()
        """By producer id and key."""
        # What follows may name more than there is, after a tombstone or a revert, but never less.
        self._of_group: dict[str, dict[OffsetKey, None]] = {}
        self._of_producer: dict[int, dict[OffsetKey, None]] = {}
        self._open: dict[str, dict[OffsetKey, dict[int, None]]] = {}
        """Group to its keys for which something is pending, to the producers."""
        self._known: Versioned[str, bool] = Versioned()
        """True by group that has ever committed."""
        super().__init__(self._committed, self._pending, self._known)

    # -- what the log says --------------------------------------------------------------------

    def replay(self, record: LoggedRecord, key: Message, value: Message | None) -> None:
        """Apply one record whose key is an OffsetCommitKey, or one of Kafka's first versions."""
        assert isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey)
        name = OffsetKey(key.group, TopicPartition(key.topic, key.partition))
        if value is None:
            self._remove(name)
            return
        assert isinstance(value, OffsetCommitValue | LegacyOffsetCommitValue)
        if not self.knows(name.group):
            self._known.put(name.group, True)
        found = _from_record(value, record.offset)
        if record.producer_id == layout.NO_PRODUCER_ID:
            self._put(name, found)
        else:
            self._pending.put((record.producer_id, name), found)
            self._of_producer.setdefault(record.producer_id, {})[name] = None
            self._open.setdefault(name.group, {}).setdefault(name, {})[record.producer_id] = None

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Apply a transaction marker: what is pending of the producer becomes committed, or is dropped."""
        for name in self._of_producer.pop(producer_id, ()):
            pending = self._pending.get((producer_id, name))
            self._close(name, producer_id)
            if pending is None:
                continue
            self._pending.put((producer_id, name), None)
            before = self._committed.get(name)
            if commit and (before is None or pending.record_offset > before.record_offset):
                self._put(name, pending)

    def forget(self, group: str) -> None:
        """Take note that the group was deleted; its offsets have tombstones of their own."""
        self._known.put(group, None)

    def _put(self, name: OffsetKey, value: Committed) -> None:
        known = self._of_group.setdefault(name.group, {})
        if self._committed.get(name) is None:
            known.pop(name, None)  # It arrives anew, which its place says.
        known[name] = None
        self._committed.put(name, value)

    def _remove(self, name: OffsetKey) -> None:
        if self._committed.get(name) is not None:
            self._committed.put(name, None)
        for producer_id in self.producers(name):
            self._pending.put((producer_id, name), None)

    def _close(self, name: OffsetKey, producer_id: int) -> None:
        of_group = self._open[name.group]
        producers = of_group[name]
        del producers[producer_id]
        if not producers:
            del of_group[name]
            if not of_group:
                del self._open[name.group]

    # -- what there is ------------------------------------------------------------------------

    def newest(self, name: OffsetKey) -> Committed | None:
        """Return what is committed for `name` as of the log end, or None; an election may still take it back."""
        return self._committed.get(name)

    def settled(self, name: OffsetKey) -> Committed | None:
        """Return what is committed for `name` below the high watermark, or None."""
        return self._committed.committed(name)

    def knows(self, group: str) -> bool:
        """Return whether the group ever committed, in the log as it was loaded or since, and was not deleted."""
        return self._known.get(group) is not None

    def producers(self, name: OffsetKey) -> list[int]:
        """Return the ids of the producers in whose open transactions something is pending for `name`."""
        asked = self._open.get(name.group, {}).get(name, ())
        return [producer_id for producer_id in asked if self._pending.get((producer_id, name)) is not None]

    def all_of(self, name: OffsetKey) -> list[Committed | None]:
        """Return what is committed for `name`, as of the log end, and all that is pending for it."""
        pending = [self._pending.get((producer_id, name)) for producer_id in self.producers(name)]
        return [self._committed.get(name), *pending]

    def is_open(self, group: str) -> bool:
        """Return whether anything is pending for the group."""
        return any(self.producers(name) for name in self._open.get(group, ()))

    def is_in_use(self, group: str) -> bool:
        """Return whether anything is committed, as of the log end, or pending for the group."""
        return self.is_open(group) or any(
            self._committed.get(name) is not None for name in self._of_group.get(group, ())
        )

    def open_keys(self, group: str) -> list[OffsetKey]:
        """Return the keys of the group for which something is pending, in Kafka's order."""
        return _in_order(name for name in self._open.get(group, ()) if self.producers(name))

    def keys(self, group: str) -> list[OffsetKey]:
        """Return the keys for which something is committed, as of the log end or below the high watermark.

        They are in the order of Kafka's maps, which shows in answers and in the log.
        """
        known = self._of_group.get(group, {})
        for name in list(known):
            if self._committed.get(name) is None and not self._committed.is_pending(name):
                del known[name]
        if not known:
            self._of_group.pop(group, None)
        return _in_order(known)

    def groups(self) -> list[str]:
        """Return the groups that committed and were not deleted, sorted."""
        return sorted(self._known.keys())

    # -- what is to be written ----------------------------------------------------------------

    def deletion(self, name: OffsetKey) -> Iterator[KeyValue]:
        """Yield the tombstone of `name` if anything is committed or pending for it."""
        if self._committed.get(name) is not None or self.producers(name):
            yield tombstone(name)

    def deletions(self, group: str) -> list[KeyValue]:
        """Return the tombstones of all that is committed or pending for the group, one for each key."""
        names = dict.fromkeys((*self.keys(group), *self.open_keys(group)))
        return [record for name in names for record in self.deletion(name)]

    def expired(
        self, group: str, now_ms: int, retention_ms: int, since_ms: int | None, is_subscribed: Callable[[str], bool]
    ) -> list[OffsetKey]:
        """Return the keys of the group whose offsets have expired.

        An offset expires at the time that its client named, else `retention_ms` after `since_ms`, which is when the
        group became empty; None stands for the time of each commit. Topics to which members are subscribed do not
        expire, nor does what a transaction is about to commit anew.
        """
        found = []
        for name in self.keys(group):
            offset = self._committed.get(name)
            if offset is None or is_subscribed(name.tp.topic) or self.producers(name):
                continue
            begin_ms = offset.committed_ms if since_ms is None else since_ms
            expires_ms = begin_ms + retention_ms if offset.expires_ms == NOT_SET else offset.expires_ms
            if now_ms >= expires_ms:
                found.append(name)
        return found

    def of_topics(self, deleted: Mapping[str, Collection[Uuid]]) -> list[OffsetKey]:
        """Return the keys under which something is committed or pending for topics that were deleted, ids by name.

        An offset that was committed for a later topic of the same name stays; one without a topic id goes.
        """
        found: dict[OffsetKey, None] = {}
        for group in self.groups():
            for name in (*self.keys(group), *self.open_keys(group)):
                topic_ids = deleted.get(name.tp.topic, ())
                values = [self._committed.get(name)]
                values += [self._pending.get((producer_id, name)) for producer_id in self.producers(name)]
                if any(value is not None and value.is_about(one) for value in values for one in topic_ids):
                    found[name] = None
        return list(found)


def _in_order(names: Iterable[OffsetKey]) -> list[OffsetKey]:
    """Return the keys of one group in the order of Kafka's maps, by topic and by partition."""
    topics: dict[str, list[OffsetKey]] = {}
    for name in names:
        topics.setdefault(name.tp.topic, []).append(name)
    return [
        name
        for topic in in_timeline_order(topics, hash_of_text)
        for name in in_timeline_order(topics[topic], lambda name: name.tp.partition)
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
