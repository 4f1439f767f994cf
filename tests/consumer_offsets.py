"""Log of committed offsets that a test writes record by record, and the state that results from it."""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.cluster.coordinators.groups.offsets import NOT_SET, Committed, OffsetKey, Offsets, tombstone
from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.keyed_records import decode_record
from kmirror.spec.topics import GROUP_TOPIC

KEY = OffsetKey("g", TopicPartition("orders", 0))
TOPIC_ID = Uuid.from_ints(3, 4)


def committed(
    offset: int, *, committed_ms: int = 0, expires_ms: int = NOT_SET, topic_id: Uuid = Uuid.ZERO
) -> Committed:
    return Committed(offset, NOT_SET, "", committed_ms, expires_ms, topic_id)


class Marker(tuple[int, bool]):
    """(producer id, whether the transaction commits)"""


Entry = LoggedRecord | Marker


def apply(offsets: Offsets, entry: Entry) -> None:
    if isinstance(entry, Marker):
        offsets.end_transaction(entry[0], commit=entry[1])
    else:
        name, data, _ = decode_record(GROUP_TOPIC, entry.key, entry.value)
        offsets.replay(entry, name, data)


def loaded(entries: Iterable[tuple[int, Entry]]) -> Offsets:
    """Return the state that a new coordinator loads from a log of (offset, entry)."""
    offsets = Offsets()
    for at, entry in entries:
        apply(offsets, entry)
        offsets.mark_appended(at + 1)
        offsets.commit(at + 1)
    return offsets


class LogOfOffsets:
    """Entries appended by a coordinator, and its state."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.offsets = Offsets()

    def commit(
        self,
        offset: int,
        *,
        producer_id: int = NOT_SET,
        key: OffsetKey = KEY,
        committed_ms: int = 0,
        expires_ms: int = NOT_SET,
        topic_id: Uuid = Uuid.ZERO,
    ) -> None:
        value = committed(offset, committed_ms=committed_ms, expires_ms=expires_ms, topic_id=topic_id)
        self._append(self.draft(value, producer_id=producer_id, key=key))

    def delete(self, key: OffsetKey = KEY) -> None:
        self._append(self.draft(None, key=key))

    def marker(self, producer_id: int, *, commit: bool) -> None:
        entry = Marker((producer_id, commit))
        apply(self.offsets, entry)
        self._append(entry)

    def draft(self, value: Committed | None, *, producer_id: int = NOT_SET, key: OffsetKey = KEY) -> LoggedRecord:
        """Apply a record that is not in the log yet."""
        name, data = tombstone(key) if value is None else value.record(key)
        record = LoggedRecord(name, data, len(self.entries), producer_id)
        apply(self.offsets, record)
        return record

    def _append(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.offsets.mark_appended(len(self.entries))

    @property
    def value(self) -> int | None:
        """Offset of KEY at the log end."""
        found = self.offsets.latest(KEY)
        return None if found is None else found.offset

    @property
    def committed(self) -> int | None:
        """Offset of KEY below the high watermark."""
        found = self.offsets.committed(KEY)
        return None if found is None else found.offset
