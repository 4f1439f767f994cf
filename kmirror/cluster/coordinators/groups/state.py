"""The state of a partition of `__consumer_offsets`: groups of every kind, and their offsets.

The key type of a record identifies it as an offset or as a record of one kind of groups. Other key types are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.groups.kinds import GroupKind, kinds
from kmirror.cluster.coordinators.groups.offsets import Offsets
from kmirror.cluster.coordinators.shard_state import LoggedRecord, ShardState
from kmirror.protocol.gen.legacy_offset_commit_key import LegacyOffsetCommitKey
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.keyed_records import decode_record, record_type
from kmirror.spec.topics import GROUP_TOPIC

OFFSET_KEYS = (LegacyOffsetCommitKey.API_KEY, OffsetCommitKey.API_KEY)


class GroupShard(ShardState):
    """All groups of one partition of `__consumer_offsets`: the tables of each kind, and the offsets."""

    def __init__(self) -> None:
        self.offsets = Offsets()
        self.kinds: dict[str, GroupKind[Any]] = {kind.name: kind() for kind in kinds()}
        self.live: dict[str, Group] = {}
        """The groups that this broker serves, by id, with their unpersisted state, such as waiting requests."""
        self.is_open = False
        """Whether this broker has started to serve the groups."""
        self._kinds_of_records = {number: kind for kind in self.kinds.values() for number in kind.record_types}
        super().__init__(self.offsets, *self.kinds.values())

    # -- replay -------------------------------------------------------------------------------

    def replay(self, record: LoggedRecord) -> None:
        """Apply one record of `__consumer_offsets`."""
        number = record_type(record.key)
        kind = self._kinds_of_records.get(number)
        if kind is None and number not in OFFSET_KEYS:
            return
        name, data, _ = decode_record(GROUP_TOPIC, record.key, record.value)
        if kind is None:
            self.offsets.replay(record, name, data)
            return
        deleted_id = kind.replay(name, data)
        if deleted_id is not None:
            self.offsets.forget(deleted_id)

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        self.offsets.end_transaction(producer_id, commit=commit)

    # -- groups -------------------------------------------------------------------------------

    def ids(self, *, committed: bool) -> list[str]:
        """Return the ids of the groups that have records: only committed ones, or all."""
        return [group_id for kind in self.kinds.values() for group_id in kind.ids(committed=committed)]

    def all_ids(self, *, committed: bool) -> Iterable[str]:
        """Return the result of `ids`, and the groups that have ever committed an offset, without duplicates."""
        return dict.fromkeys((*self.ids(committed=committed), *self.offsets.groups()))

    def load(self, group_id: str, *, committed: bool = False) -> Group | None:
        """Return the group according to the newest or the committed records, or None.

        A group that only has offsets is a simple group: Empty, without a protocol type.
        """
        kinds = self.kinds.values()
        found = _first_group(kind.load(group_id, committed=committed) for kind in kinds)
        if found is None and self.offsets.has_committed(group_id):
            found = _first_group(kind.simple_group(group_id) for kind in kinds)
        return found

    def find(self, group_id: str) -> Group | None:
        """Return the current group, or None if there is none."""
        return self.live.get(group_id) or self.load(group_id)

    def committed(self, group_id: str) -> Group | None:
        """Return the result of `find` if the group's existence is committed, else None."""
        committed_group = self.load(group_id, committed=True)
        return committed_group and self.live.get(group_id, committed_group)


def _first_group(groups: Iterable[Group | None]) -> Group | None:
    return next((group for group in groups if group is not None), None)
