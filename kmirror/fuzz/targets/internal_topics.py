"""Target: our loading of internal topics, with groups and offsets, transactions, mirror states and metadata.

With any bytes in a record, the topic is loaded, or the offset from which it cannot be loaded is reported; nothing else
is raised. Loaded values can be written and read back unchanged, and the counters of the metadata image equal a count
over its topics. A log of well-formed records is loaded completely, and the last record of each key counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from kmirror.cluster.coordinators.groups.classic.kind import ClassicGroups
from kmirror.cluster.coordinators.groups.classic.records import group_of, metadata_record
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.loading import load
from kmirror.cluster.coordinators.shard_state import LoggedRecord, ShardState, TableShard, Versioned
from kmirror.cluster.coordinators.transactions.state import TransactionShard
from kmirror.cluster.images import Delta, MetadataImage
from kmirror.cluster.metadata.batches import metadata_records
from kmirror.cluster.metadata.transactions import MetadataTransactions
from kmirror.errors import LocalProtocolError, ProtocolError, UsageError
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.internal_topics import TOPICS, InternalTopicStream
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.target import TAKEN, Stateless, without_numbers
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.state_records import NO_STATE, NOT_SETTLED, MirrorShard, state_record
from kmirror.records.batch import Batch, iter_batches
from kmirror.spec.topics import GROUP_TOPIC, METADATA_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC

KeyValue = tuple[bytes, bytes | None]

SHARDS: Mapping[str, Callable[[], ShardState]] = MappingProxyType(
    {GROUP_TOPIC: GroupShard, TRANSACTION_TOPIC: TransactionShard, MIRROR_STATE_TOPIC: MirrorShard}
)


class InternalTopicsTarget(Stateless):
    """`coordinators.loading.load` with each kind of shard, and `MetadataImage.apply`."""

    name = "internal-topics"

    def judge(self, frame: Frame) -> str:
        """Return "taken" or the reason why the log is not loaded, without numbers; raises `Fault`."""
        try:
            batches = list(iter_batches(frame.data))
            if frame.name == METADATA_TOPIC:
                self._load_metadata(batches)
            else:
                unreadable = self._check_shard(frame, batches)
                if unreadable is not None:
                    if frame.is_valid:
                        raise Fault(FaultKind.REFUSED, f"a valid log: {unreadable}", "a valid log", TAKEN)
                    return without_numbers(unreadable.partition(": ")[2])
        except ProtocolError as error:
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"a valid log: {error}", "a valid log", TAKEN) from None
            return without_numbers(str(error))
        except Fault:
            raise
        except Exception as error:
            raise fault_of_exception(error) from error
        return TAKEN

    def _load_metadata(self, batches: Sequence[Batch]) -> None:
        image, transactions = MetadataImage(), MetadataTransactions()
        for batch in batches:
            for record in metadata_records(batch):
                for counting in transactions.add(record):
                    image.apply(counting.message, Delta())
        check_image(image)

    def _check_shard(self, frame: Frame, batches: Sequence[Batch]) -> str | None:
        state = SHARDS[frame.name]()
        end = batches[-1].last_offset + 1 if batches else 0
        unreadable = load(state, batches, end)
        for key, value in _write_records(state):
            reloaded = SHARDS[frame.name]()
            reloaded.replay(LoggedRecord(key, value))
            reloaded.mark_appended(1)
            reloaded.commit(1)
            if list(_write_records(reloaded)) != [(key, value)]:
                description = f"the record {key.hex()} {(value or b'').hex()} is read and written as another"
                raise Fault(FaultKind.CHANGED, description, f"written otherwise in {frame.name}", "the same record")
        if frame.is_valid:
            self._check_last_records(frame, batches, state)
        return unreadable

    def _check_last_records(self, frame: Frame, batches: Sequence[Batch], state: ShardState) -> None:
        """Raise `Fault` unless the number of loaded values is the number of keys whose last record has a value."""
        kinds = {GROUP_TOPIC: (2,), TRANSACTION_TOPIC: (0,), MIRROR_STATE_TOPIC: (2,)}[frame.name]
        last: dict[bytes, bytes | None] = {}
        for batch in batches:
            for record in () if batch.is_control else batch.records():
                assert record.key is not None, "it is valid"
                if int.from_bytes(record.key[:2], "big") in kinds:
                    last[record.key] = record.value
        expected = sum(value is not None for value in last.values())
        found = len(_table(state).all_committed())
        # A mirror state may exist for its epoch alone, or hold nothing else.
        if found != expected and frame.name != MIRROR_STATE_TOPIC:
            description = f"{found} of {expected} keys have a value"
            raise Fault(FaultKind.DIFFERS, description, f"keys of {frame.name}", "the last record of each key")


def _table(state: ShardState) -> Versioned[Any, Any]:
    """Return the table of a shard that does not hold committed offsets."""
    if isinstance(state, GroupShard):
        classic = state.kinds[ClassicGroups.name]
        assert isinstance(classic, ClassicGroups)
        return classic.values
    assert isinstance(state, TableShard), "every other shard is one table"
    return state


def _write_records(state: ShardState) -> Iterator[KeyValue]:
    """Yield the records of a shard's state, without those that cannot be written."""
    for make in _records(state):
        try:
            yield make()
        except LocalProtocolError:
            continue  # Kafka reads some bytes that it cannot write: text that is not UTF-8.


def _records(state: ShardState) -> Iterator[Callable[[], KeyValue]]:
    committed = _table(state).all_committed()
    if isinstance(state, GroupShard):
        for group_id, value in committed.items():
            group_of(group_id, value)
            yield partial(metadata_record, group_id, value)
        for group_id in state.offsets.groups():
            for name in state.offsets.keys(group_id):
                offset = state.offsets.committed(name)
                if offset is not None:
                    yield partial(offset.record, name)
    elif isinstance(state, TransactionShard):
        for transaction in committed.values():
            yield partial(transaction.record, 2)
    elif isinstance(state, MirrorShard):
        for key, state_value in committed.items():
            if replace(state_value, topic="", leader_epoch=-1, last_mirrored_epoch=NOT_SETTLED) != NO_STATE:
                kept = state_value.uncut, state_value.stop, state_value.lineage
                yield partial(state_record, key, state_value.topic, state_value.state, state_value.leader_epoch, *kept)


def check_image(image: MetadataImage) -> None:
    """Raise `Fault` if a counter of the image differs from a count over its topics."""
    expected_partitions: dict[int, set[TopicPartition]] = {}
    leader_counts: dict[int, int] = {}
    leaderless = set()
    for topic in image.topics.values():
        for index, partition in topic.partitions.items():
            tp = TopicPartition(topic.name, index)
            for broker_id in partition.replicas:
                expected_partitions.setdefault(broker_id, set()).add(tp)
            if partition.leader < 0:
                leaderless.add(tp)
            else:
                leader_counts[partition.leader] = leader_counts.get(partition.leader, 0) + 1
            image.brokers.offline(partition)
    for broker_id in {*expected_partitions, *image.brokers, *leader_counts}:
        counted = {TopicPartition(topic.name, index) for topic, index in image.topics.hosted_by(broker_id)}
        expected = expected_partitions.get(broker_id, set())
        if counted != expected or image.topics.leads(broker_id) != leader_counts.get(broker_id, 0):
            state = f"broker {broker_id} has {sorted(counted)} and leads {image.topics.leads(broker_id)}"
            counts = f"{sorted(expected)}, {leader_counts.get(broker_id, 0)}"
            raise Fault(FaultKind.DIFFERS, f"{state}, a count finds {counts}", "partitions of a broker")
    if set(image.topics.leaderless) != leaderless:
        description = f"{sorted(image.topics.leaderless)} have no leader, a count finds {sorted(leaderless)}"
        raise Fault(FaultKind.DIFFERS, description, "partitions without a leader")


def open_target(options: TargetOptions) -> tuple[InternalTopicsTarget, InternalTopicStream]:
    """Return the target, and logs of the topics in `options.messages`, or of all."""
    for name in options.messages:
        if name not in TOPICS:
            raise UsageError(f"unknown internal topic {name!r}: use one of {', '.join(dict.fromkeys(TOPICS))}")
    return InternalTopicsTarget(), InternalTopicStream(options.seed, options.messages or TOPICS)
