"""What `__consumer_offsets` holds: the metadata of groups and their offsets, and the shard that keeps both.

A record's key says what it is: GroupMetadataKey is a group, OffsetCommitKey one offset of a group. Keys of other types
(the consumer, share and streams groups of newer protocols) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.cluster.coordinators.groups.offsets import Offsets
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import LoggedRecord, ShardState, Versioned
from kmirror.protocol.gen.group_metadata_key import GroupMetadataKey
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.legacy_offset_commit_key import LegacyOffsetCommitKey
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.keyed_records import decode_record, encode_key, encode_value, record_type
from kmirror.spec.topics import GROUP_TOPIC

METADATA_VERSION = 3
"""Version in which Kafka 4.3.1 writes GroupMetadataValue."""
KNOWN_KEYS = (LegacyOffsetCommitKey.API_KEY, OffsetCommitKey.API_KEY, GroupMetadataKey.API_KEY)


def metadata_record(group_id: str, value: GroupMetadataValue | None) -> KeyValue:
    """Return the record that persists a group's metadata, or its tombstone."""
    key = encode_key(GroupMetadataKey(group=group_id))
    return key, None if value is None else encode_value(value, METADATA_VERSION)


class GroupShard(ShardState):
    """All groups of one partition of `__consumer_offsets`: metadata by group id, and the offsets beside them."""

    def __init__(self) -> None:
        self.offsets = Offsets()
        self.groups: Versioned[str, GroupMetadataValue] = Versioned()
        super().__init__(self.groups, self.offsets)

    def replay(self, record: LoggedRecord) -> None:
        """Apply one record of `__consumer_offsets`."""
        if record_type(record.key) not in KNOWN_KEYS:
            return
        name, data, _ = decode_record(GROUP_TOPIC, record.key, record.value)
        if not isinstance(name, GroupMetadataKey):
            self.offsets.replay(record, name, data)
            return
        assert data is None or isinstance(data, GroupMetadataValue)
        self.groups.put(name.group, data)
        if data is None:
            self.offsets.forget(name.group)

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        self.offsets.end_transaction(producer_id, commit=commit)

    def group_ids(self) -> Iterable[str]:
        """Return the ids of all groups that have metadata or ever committed an offset, newest state, each once."""
        return {**dict.fromkeys(self.groups.keys()), **dict.fromkeys(self.offsets.groups())}
