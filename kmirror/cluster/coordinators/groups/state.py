"""What `__consumer_offsets` holds: the metadata of groups and their offsets, and the shard that keeps both.

A record's key says what it is: GroupMetadataKey is a group, OffsetCommitKey one offset of a group. Keys of other types
(the consumer, share and streams groups of newer protocols) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import ShardState
from kmirror.protocol import wire
from kmirror.protocol.gen.group_metadata_key import GroupMetadataKey
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.gen.offset_commit_value import OffsetCommitValue
from kmirror.protocol.keyed_records import decode_key, decode_value, encode_key, encode_value
from kmirror.spec.topics import GROUP_TOPIC

METADATA_VERSION = 3
"""Version in which Kafka 4.3.1 writes GroupMetadataValue."""


class OffsetKey(NamedTuple):
    """One partition of which a group has committed an offset."""

    group: str
    topic: str
    partition: int


ShardKey = str | OffsetKey
"""A group's id, or one of its offsets."""
ShardValue = GroupMetadataValue | OffsetCommitValue


def metadata_record(group_id: str, value: GroupMetadataValue | None) -> KeyValue:
    """Return the record that persists a group's metadata, or its tombstone."""
    key = encode_key(GroupMetadataKey(group=group_id))
    return key, None if value is None else encode_value(value, METADATA_VERSION)


class GroupShard(ShardState[ShardKey, ShardValue]):
    """All groups of one partition of `__consumer_offsets`, and their offsets."""

    def __init__(self) -> None:
        super().__init__()
        self._offsets: dict[str, dict[OffsetKey, None]] = {}
        """Group id to the keys of its offsets, newest state."""

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Apply one record of `__consumer_offsets`; None for `value` is a tombstone."""
        if wire.unpack_int16(key, 0)[0] not in (GroupMetadataKey.API_KEY, OffsetCommitKey.API_KEY):
            return
        name = decode_key(GROUP_TOPIC, key)
        assert isinstance(name, GroupMetadataKey | OffsetCommitKey)
        found = decode_value(GROUP_TOPIC, name, value)
        data = None if found is None else found.message
        assert data is None or isinstance(data, GroupMetadataValue | OffsetCommitValue)
        if isinstance(name, GroupMetadataKey):
            self.put(name.group, data)
        else:
            self.put(OffsetKey(name.group, name.topic, name.partition), data)

    def metadata(self, group_id: str) -> GroupMetadataValue | None:
        """Return the newest metadata of a group, or None if none was written or it was deleted."""
        found = self.get(group_id)
        assert found is None or isinstance(found, GroupMetadataValue)
        return found

    def offsets(self, group_id: str) -> list[OffsetKey]:
        """Return the keys of a group's offsets, newest state, in the order in which they were first committed."""
        return list(self._offsets.get(group_id, ()))

    def group_ids(self) -> Iterable[str]:
        """Return the ids of all groups that have metadata or an offset, newest state, each once."""
        known = dict.fromkeys(key for key in self._newest if isinstance(key, str))
        return [*known, *(group_id for group_id in self._offsets if group_id not in known)]

    def _set(self, key: ShardKey, value: ShardValue | None) -> None:
        super()._set(key, value)
        if isinstance(key, OffsetKey):
            if value is not None:
                self._offsets.setdefault(key.group, {})[key] = None
            elif key.group in self._offsets:
                self._offsets[key.group].pop(key, None)
                if not self._offsets[key.group]:
                    del self._offsets[key.group]
