"""`__mirror_state`: records, keys, and the partition that holds a state (D8).

Both record types are keyed by (mirror, topic id, partition), so that compaction keeps one of each for every mirrored
partition; the KIP's key, the mirror's name alone, would keep one for the whole mirror.

The last mirrored epoch has two values below zero. -1, the default on the wire: not settled for this stop. -2: settled,
and nothing had ever been mirrored. With -1 alone, a new leader that takes over a stop could not distinguish an epoch
that is not settled yet from one that does not exist, and would settle the epoch of its own producer reset (D10, D15).
Other clusters get -1 for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import LoggedRecord, TableShard
from kmirror.errors import ProtocolError
from kmirror.kernel.java import hash_of_text, partition_for, partition_of_hash
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.cut_rules import NO_UNCUT, Uncut
from kmirror.mirror.lineage import OWN_LINEAGE, Lineage, StretchRow, stretches_from
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.last_mirror_epochs_key import LastMirrorEpochsKey
from kmirror.protocol.gen.last_mirror_epochs_value import LastMirrorEpochsValue, Partition, Topic
from kmirror.protocol.gen.mirror_partition_state_key import MirrorPartitionStateKey
from kmirror.protocol.gen.mirror_partition_state_value import MirrorPartitionStateValue, Stretch, UncutReplica
from kmirror.protocol.keyed_records import decode_key, decode_value, encode_key, encode_value, record_type
from kmirror.spec.topics import MIRROR_STATE_TOPIC

NOT_SETTLED = -1
NEVER_MIRRORED = -2
VALUE_VERSION = 0
_KEYS = (MirrorPartitionStateKey.API_KEY, LastMirrorEpochsKey.API_KEY)


class StateKey(NamedTuple):
    """Key of a partition's records of both types, and of its state in memory."""

    mirror: str
    topic_id: Uuid
    partition: int


@dataclass(frozen=True, slots=True)
class PartitionState:
    """The persisted state of one mirrored partition."""

    topic: str = ""
    state: MirrorState = MirrorState.UNKNOWN
    leader_epoch: int = -1
    last_mirrored_epoch: int = NOT_SETTLED
    uncut: Uncut = field(default_factory=lambda: NO_UNCUT)
    """The replicas that have not confirmed a cut, and whether this session touched the log (D30)."""
    stop: StopPlan | None = None
    """The decisions of the stop under way (D43)."""
    lineage: Lineage = OWN_LINEAGE
    """The clusters that wrote the log (D45)."""


class UncutRow(Protocol):
    """The fields of a row of uncut replicas, in each of the three messages that have such a list."""

    replica_id: int
    cut_epoch: int


class PersistedFields(Protocol):
    """The fields that are persisted beside the state, in each of the three messages that carry a state."""

    stop_offset: int
    stop_epoch: int
    committed_producers: list[int]
    lineage_epoch: int

    @property
    def uncut_replicas(self) -> Sequence[UncutRow]: ...

    @property
    def lineage(self) -> Sequence[StretchRow]: ...


def persisted_fields(message: PersistedFields) -> tuple[Uncut, StopPlan | None, Lineage]:
    """Return the uncut replicas, the plan of a stop (None if there is none), and the lineage in a message."""
    rows = sorted(message.uncut_replicas, key=lambda row: row.replica_id)
    plan = StopPlan(message.stop_offset, message.stop_epoch, tuple(message.committed_producers))
    lineage = Lineage(stretches_from(message.lineage), message.lineage_epoch)
    return {row.replica_id: row.cut_epoch for row in rows}, None if message.stop_offset < 0 else plan, lineage


def set_plan(message: PersistedFields, plan: StopPlan | None) -> None:
    """Write a plan into the fields of a message; None leaves their defaults."""
    if plan is not None:
        message.stop_offset, message.stop_epoch = plan.offset, plan.epoch
        message.committed_producers = list(plan.commits)


NO_STATE = PartitionState()


def state_partition(key: StateKey, count: int) -> int:
    """Return the number, below `count`, of the `__mirror_state` partition that holds `key` (D8)."""
    before = _hash_of_topic(key.mirror, key.topic_id)
    return partition_of_hash(hash_of_text(str(key.partition), initial=before), count)


@lru_cache(maxsize=4096)
def _hash_of_topic(mirror: str, topic_id: Uuid) -> int:
    """Return the hash of the prefix that all partitions of a topic share."""
    return hash_of_text(f"{mirror}:{topic_id}:")


def mirror_partition(mirror: str, count: int) -> int:
    """Return the number, below `count`, of the `__mirror_state` partition whose leader syncs the metadata (D8, D17)."""
    return partition_for(mirror, count)


def state_record(
    key: StateKey,
    topic: str,
    state: MirrorState,
    leader_epoch: int,
    uncut: Uncut = NO_UNCUT,
    stop: StopPlan | None = None,
    lineage: Lineage = OWN_LINEAGE,
) -> KeyValue:
    """Return the MirrorPartitionState record: the state, the uncut replicas, the plan of a stop, the lineage."""
    value = MirrorPartitionStateValue(
        topic_name=topic,
        partition=key.partition,
        state=state,
        leader_epoch=leader_epoch,
        uncut_replicas=[UncutReplica(replica_id=replica, cut_epoch=epoch) for replica, epoch in uncut.items()],
        lineage=[Stretch(first_epoch=epoch, cluster_id=cluster) for epoch, cluster in lineage.stretches],
        lineage_epoch=lineage.valid_from_epoch,
    )
    set_plan(value, stop)
    name = MirrorPartitionStateKey(mirror_name=key.mirror, topic_id=key.topic_id, partition=key.partition)
    return encode_key(name), encode_value(value, VALUE_VERSION)


def epoch_record(key: StateKey, topic: str, last_mirrored_epoch: int) -> KeyValue:
    """Return the LastMirrorEpochs record of one partition."""
    entry = Partition(partition_index=key.partition, last_mirror_epoch=last_mirrored_epoch)
    value = LastMirrorEpochsValue(topics=[Topic(name=topic, partitions=[entry])])
    name = LastMirrorEpochsKey(mirror_name=key.mirror, topic_id=key.topic_id, partition=key.partition)
    return encode_key(name), encode_value(value, VALUE_VERSION)


def tombstones(key: StateKey) -> Sequence[KeyValue]:
    """Return the records that remove a partition's state, then its last mirrored epoch (D8)."""
    state = MirrorPartitionStateKey(mirror_name=key.mirror, topic_id=key.topic_id, partition=key.partition)
    epoch = LastMirrorEpochsKey(mirror_name=key.mirror, topic_id=key.topic_id, partition=key.partition)
    return (encode_key(state), None), (encode_key(epoch), None)


def _state_of(data: MirrorPartitionStateValue) -> MirrorState:
    try:
        return MirrorState(data.state)
    except ValueError:
        raise ProtocolError(f"unknown mirror state {data.state}", field="state") from None


class MirrorShard(TableShard[StateKey, PartitionState]):
    """All states in one partition of `__mirror_state`."""

    def replay(self, record: LoggedRecord) -> None:
        """Apply one record of `__mirror_state`; a record of an unknown type is skipped."""
        if record_type(record.key) not in _KEYS:
            return
        name = decode_key(MIRROR_STATE_TOPIC, record.key)
        assert isinstance(name, MirrorPartitionStateKey | LastMirrorEpochsKey)
        state_key = StateKey(name.mirror_name, name.topic_id, name.partition)
        before = self.get(state_key) or NO_STATE
        found = decode_value(MIRROR_STATE_TOPIC, name, record.value)
        data = None if found is None else found[0]
        if isinstance(data, MirrorPartitionStateValue):
            state, epoch = _state_of(data), before.last_mirrored_epoch
            after = PartitionState(data.topic_name, state, data.leader_epoch, epoch, *persisted_fields(data))
        elif isinstance(name, MirrorPartitionStateKey):
            after = PartitionState(before.topic, last_mirrored_epoch=before.last_mirrored_epoch)
        elif isinstance(data, LastMirrorEpochsValue) and data.topics and data.topics[0].partitions:
            topic = data.topics[0]
            after = replace(before, topic=topic.name, last_mirrored_epoch=topic.partitions[0].last_mirror_epoch)
        else:
            after = replace(before, last_mirrored_epoch=NOT_SETTLED)
        self.put(state_key, None if replace(after, topic="", leader_epoch=-1) == NO_STATE else after)
