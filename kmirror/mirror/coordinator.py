"""The mirror coordinator: the leader of a partition of `__mirror_state` decides about the states in it.

A write is rejected if it comes from an older leader of the mirrored partition (D9), names another topic id than the
cluster knows, or is not in the table of transitions (D5). Responses to reads and writes wait until everything that they
saw and wrote is committed (D48): an election must not take back a state on which a leader has cut its log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from kmirror.cluster.broker.internal_topics import InternalTopics
from kmirror.cluster.coordinators.runtime import CoordinatorRuntime, KeyValue, OnDone
from kmirror.cluster.images import NO_LEADER, MetadataImage
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.cut_rules import NO_UNCUT, Uncut
from kmirror.mirror.lineage import OWN_LINEAGE, Lineage
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.state_records import (
    NO_STATE,
    NOT_SETTLED,
    MirrorShard,
    PartitionState,
    StateKey,
    epoch_record,
    mirror_partition,
    state_partition,
    state_record,
    tombstones,
)
from kmirror.mirror.states import MirrorState, may_follow
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import ResourceType

OnRead = Callable[[Instant, PartitionState | None, ErrorCode], None]


@dataclass(frozen=True, slots=True)
class StateWrite:
    """One partition in a WriteMirrorStates request."""

    key: StateKey
    topic: str
    state: MirrorState
    last_mirrored_epoch: int
    leader_epoch: int
    uncut: Uncut = field(default_factory=lambda: NO_UNCUT)
    stop: StopPlan | None = None
    lineage: Lineage = OWN_LINEAGE


def decide(known: PartitionState, write: StateWrite) -> tuple[Sequence[KeyValue], ErrorCode]:
    """Return the records that persist `write`, none if they are persisted already, or the error.

    FENCED_LEADER_EPOCH for an older leader (D9), INVALID_REQUEST for a transition outside the table (D5).
    """
    if -1 < write.leader_epoch < known.leader_epoch:
        return (), ErrorCode.FENCED_LEADER_EPOCH
    if not may_follow(known.state, write.state):
        return (), ErrorCode.INVALID_REQUEST
    epoch = known.last_mirrored_epoch
    if write.state is MirrorState.MIRRORING and known.state is not MirrorState.MIRRORING:
        epoch = NOT_SETTLED  # A new session: the epoch that the last stop settled no longer holds (D23).
    elif write.last_mirrored_epoch != NOT_SETTLED:
        epoch = write.last_mirrored_epoch
    leader_epoch = max(write.leader_epoch, known.leader_epoch)
    records: list[KeyValue] = []
    persisted = (known.state, known.leader_epoch, known.uncut, known.stop, known.lineage)
    if persisted != (write.state, leader_epoch, write.uncut, write.stop, write.lineage):
        value = state_record(write.key, write.topic, write.state, leader_epoch, write.uncut, write.stop, write.lineage)
        records.append(value)
    if epoch != known.last_mirrored_epoch:
        records.append(epoch_record(write.key, write.topic, epoch))
    return records, ErrorCode.NONE


def is_of_former_topic(image: MetadataImage, key: StateKey, known: PartitionState) -> bool:
    """Return whether a state belongs to a deleted topic whose id a topic created later has again.

    A mirror may bring the id of a deleted topic back; its leader epochs then begin above the former ones (D49).
    """
    return 0 <= known.leader_epoch < image.topics.first_leader_epoch(key.topic_id)


class MirrorCoordinator:
    """The shards of `__mirror_state` that this broker leads."""

    def __init__(self, broker: BrokerContext, replicas: ReplicaManager, internal_topics: InternalTopics) -> None:
        self._broker = broker
        self._replicas = replicas
        self._internal_topics = internal_topics
        self.runtime = CoordinatorRuntime(broker, replicas, MIRROR_STATE_TOPIC, MirrorShard)

    def _count(self) -> int:
        topic = self._broker.image.topics.get(MIRROR_STATE_TOPIC)
        return 0 if topic is None else len(topic.partitions)

    def incarnation(self) -> Uuid:
        """Return the topic id of `__mirror_state`, zeros if it is missing; each creation has its own id."""
        return self.topic_id(MIRROR_STATE_TOPIC) or Uuid.ZERO

    def shard_of(self, key: StateKey) -> TopicPartition | None:
        """Return the partition that holds `key`, or None before the topic exists."""
        count = self._count()
        return TopicPartition(MIRROR_STATE_TOPIC, state_partition(key, count)) if count else None

    def shard_of_mirror(self, mirror: str) -> TopicPartition | None:
        """Return the partition whose leader does the metadata sync of `mirror`."""
        count = self._count()
        return TopicPartition(MIRROR_STATE_TOPIC, mirror_partition(mirror, count)) if count else None

    def shards(self) -> list[TopicPartition]:
        """Return all partitions of `__mirror_state`."""
        return [TopicPartition(MIRROR_STATE_TOPIC, index) for index in range(self._count())]

    def unwritable(self, shards: Iterable[TopicPartition | None]) -> list[str]:
        """Return those partitions of `__mirror_state` that take no writes, each with the reason (D66)."""
        min_isr = self._replicas.min_insync_replicas(MIRROR_STATE_TOPIC)
        found = []
        for shard in sorted({shard for shard in shards if shard is not None}):
            partition = self._broker.image.topics.partition(shard)
            if partition is None:  # The topic was deleted, and will be created again.
                continue
            if partition.leader == NO_LEADER:
                found.append(f"{shard} has no leader, it is on brokers {list(partition.replicas)}")
            elif isr_reason := partition.short_isr_reason(min_isr):
                found.append(f"{shard}: {isr_reason}")
        return found

    def ensure(self, now: Instant) -> None:
        """Create `__mirror_state` if it is missing: a user may have deleted it."""
        if not self._count():
            self._internal_topics.create(now, MIRROR_STATE_TOPIC)

    def leads(self, shard: TopicPartition | None) -> bool:
        """Return whether this broker leads `shard` and has loaded it; False for None."""
        return shard is not None and self.runtime.leads(shard.partition)

    def read(self, now: Instant, key: StateKey, on_read: OnRead) -> None:
        """Call `on_read` with the persisted state (NOTHING if there is none), or with None and the runtime's error."""
        shard = self.shard_of(key)
        if shard is None:
            on_read(now, None, ErrorCode.NOT_COORDINATOR)
            return
        found = NO_STATE

        def read_state(state: MirrorShard) -> tuple[Sequence[KeyValue], ErrorCode]:
            nonlocal found
            known = state.get(key) or NO_STATE
            found = NO_STATE if is_of_former_topic(self._broker.image, key, known) else known
            return (), ErrorCode.NONE

        self.runtime.submit(
            shard.partition, read_state, lambda later, error: on_read(later, None if error else found, error)
        )

    def write(self, now: Instant, write: StateWrite, on_done: OnDone) -> None:
        """Persist `write` if it is legal; call `on_done` with NONE once it is committed, else with the error.

        Errors are those of `decide` and of the runtime, UNKNOWN_TOPIC_ID for a topic that has another id here, and
        UNKNOWN_MIRROR: the state of an unknown topic or mirror would be removed as an orphan (`remove_orphans`).
        """
        shard = self.shard_of(write.key)
        if shard is None:
            on_done(now, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        topic = self._broker.image.topics.get(write.topic)
        if topic is None or topic.topic_id != write.key.topic_id:
            on_done(now, ErrorCode.UNKNOWN_TOPIC_ID)
            return
        if not self._has_mirror(write.key.mirror):
            on_done(now, ErrorCode.UNKNOWN_MIRROR)
            return
        self.runtime.submit(shard.partition, lambda state: self._decide(state, write), on_done)

    def _decide(self, state: MirrorShard, write: StateWrite) -> tuple[Sequence[KeyValue], ErrorCode]:
        known = state.get(write.key) or NO_STATE
        if not is_of_former_topic(self._broker.image, write.key, known):
            return decide(known, write)
        records, error = decide(NO_STATE, write)  # The former state has yet to be removed.
        return () if error else (*tombstones(write.key), *records), error

    def _has_mirror(self, mirror: str) -> bool:
        return (ResourceType.MIRROR, mirror) in self._broker.image.configs

    def remove_orphans(self, on_done: OnDone) -> None:
        """Write tombstones for the states of deleted mirrors and topics, in the shards of this broker.

        Both tombstones of a partition are in one batch, the state's first (D8). `on_done` gets the error of each
        partition.
        """
        for shard, state in self.runtime.led_states().items():
            for key in state.keys():  # noqa: SIM118 - a shard is no dict
                if self._is_orphan(key, state):
                    self.runtime.submit(shard, lambda newest, key=key: self._tombstones(newest, key), on_done)  # type: ignore[misc]

    def _tombstones(self, state: MirrorShard, key: StateKey) -> tuple[Sequence[KeyValue], ErrorCode]:
        return tombstones(key) if self._is_orphan(key, state) else (), ErrorCode.NONE

    def _is_orphan(self, key: StateKey, state: MirrorShard) -> bool:
        image, known = self._broker.image, state.get(key)
        if known is None:
            return False
        is_former = is_of_former_topic(image, key, known)
        return is_former or key.topic_id not in image.topics.names or not self._has_mirror(key.mirror)

    def topic_id(self, topic: str) -> Uuid | None:
        """Return the id of a topic in this cluster, or None if it does not exist."""
        known = self._broker.image.topics.get(topic)
        return None if known is None else known.topic_id
