"""Builders and helpers of the scenarios: small clusters, hand-written logs, waiting, faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.assembly.mirrors import MirrorRow
from kmirror.assembly.nodes import ExistingLogs
from kmirror.cluster.authorizer import Authorizer
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import LOG_START_OFFSET
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.facts import LogCut
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NO_STATE, PartitionState
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest, LeaderEpochState, TopicState
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.create_partitions_response import CreatePartitionsResponse
from kmirror.protocol.gen.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.delete_topics_response import DeleteTopicsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.control import ControlType
from kmirror.records.legacy import AnyBatch, build_message_set
from kmirror.records.record import RecordData
from kmirror.sim.checkers import mirror_agrees
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

SMALL: Mapping[str, str] = {
    "default.replication.factor": "3",
    "log.retention.ms": "-1",  # Hand-written logs are of 2023, and the simulated clock begins in 2027.
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "1",
    "mirror.topic.num.partitions": "2",
    "min.insync.replicas": "2",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "mirror.metadata.refresh.interval.ms": "5000",
}
ONE_BROKER: Mapping[str, str] = {
    **SMALL,
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "mirror.topic.replication.factor": "1",
}
ONE_BATCH: Mapping[str, str] = dict.fromkeys(("replica.fetch.max.bytes", "mirror.replica.fetch.max.bytes"), "1")
"""Configs of a destination whose fetches get one batch of a partition each."""
TOPIC = "orders"
TP = TopicPartition(TOPIC, 0)
T0_MS = 1_700_000_000_000


# -- hand-written logs ------------------------------------------------------------------------


def plain(offset: int, epoch: int, *values: str) -> bytes:
    """Return a batch of records without a producer."""
    return build_batch(
        [RecordData(value=value.encode()) for value in values],
        base_offset=offset,
        partition_leader_epoch=epoch,
        timestamp_ms=T0_MS + offset,
    )


def legacy(offset: int, magic: int, *values: str, codec: Compression = Compression.NONE) -> bytes:
    """Return consecutive messages of format 0 or 1, or with a codec one wrapper around them."""
    rows = [RecordData(value=value.encode(), timestamp=T0_MS + offset + n) for n, value in enumerate(values)]
    return build_message_set(rows, magic=magic, base_offset=offset, compression=codec)


def transactional(
    offset: int, epoch: int, producer_id: int, *values: str, sequence: int = 0, producer_epoch: int = 0
) -> bytes:
    """Return a batch of records of a transaction."""
    return build_batch(
        [RecordData(value=value.encode()) for value in values],
        base_offset=offset,
        partition_leader_epoch=epoch,
        timestamp_ms=T0_MS + offset,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=sequence,
        is_transactional=True,
    )


@dataclass(frozen=True, slots=True)
class Written:
    segments: Mapping[int, bytes]
    files: Mapping[str, bytes]


class WrittenLogs:
    """Topics with these batches, one partition each; `start` raises the log start."""

    def __init__(self, topics: Mapping[str, Sequence[bytes]], *, start: int = 0, first_id: int = 1) -> None:
        files = {LOG_START_OFFSET: b"%d" % start} if start else {}
        self.partitions = {
            TopicPartition(topic, 0): Written({0: b"".join(batches)}, files) for topic, batches in topics.items()
        }
        self._ids = {topic: Uuid.from_ints(7, number) for number, topic in enumerate(topics, first_id)}

    def topic_id(self, topic: str) -> Uuid | None:
        return self._ids.get(topic)


def records(*values: str, tp: TopicPartition = TP) -> dict[TopicPartition, list[RecordData]]:
    return {tp: [RecordData(value=value.encode()) for value in values]}


# -- clusters ---------------------------------------------------------------------------------


class StagedCluster(Cluster):
    """A cluster with the operations of the scenarios; `tp` is the one partition of most of them."""

    def place_topic(
        self,
        topic: str = TOPIC,
        *,
        replicas: Sequence[Sequence[int]] = ((1, 2, 3),),
    ) -> Uuid:
        """Create a topic with these replicas for each partition; return its id."""
        wanted = CreatableTopic(
            name=topic,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
                for index, brokers in enumerate(replicas)
            ],
        )
        reply = self.order(CreateTopicsRequest(topics=[wanted], timeout_ms=30_000))
        assert isinstance(reply, CreateTopicsResponse) and not reply.topics[0].error_code, reply
        self.simulation.run_until(self.is_settled, what=f"topic {topic} in {self.name}")
        return reply.topics[0].topic_id

    def delete(self, *topics: str) -> list[ErrorCode]:
        """Delete topics; return the error of each. Brokers may not have replayed it yet."""
        states = [DeleteTopicState(name=topic) for topic in topics]
        reply = self.order(DeleteTopicsRequest(topics=states, timeout_ms=30_000))
        assert isinstance(reply, DeleteTopicsResponse)
        return [ErrorCode(row.error_code) for row in reply.responses]

    def grow(self, topic: str, count: int) -> ErrorCode:
        """Raise the number of a topic's partitions to `count`; return the error."""
        wanted = CreatePartitionsTopic(name=topic, count=count, assignments=None)
        reply = self.order(CreatePartitionsRequest(topics=[wanted], timeout_ms=30_000))
        assert isinstance(reply, CreatePartitionsResponse)
        return ErrorCode(reply.results[0].error_code)

    def alter(self, name: str, configs: Mapping[str, str], *, kind: int = ResourceType.TOPIC) -> ErrorCode:
        """Set configs of a topic, a mirror or a broker, which gets the request itself; return the error."""
        rows = [AlterableConfig(name=key, config_operation=0, value=value) for key, value in configs.items()]
        resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=rows)
        asked = self.endpoint(int(name)) if kind == ResourceType.BROKER and name else self.endpoints()[0]
        reply = self.client.call(asked, IncrementalAlterConfigsRequest(resources=[resource]), 1)
        assert isinstance(reply, IncrementalAlterConfigsResponse)
        return ErrorCode(reply.responses[0].error_code)

    def bump(self, epoch: int, tp: TopicPartition = TP) -> None:
        """Let the controller raise a leader epoch to `epoch`, as after elections."""
        row = LeaderEpochState(partition_index=tp.partition, min_leader_epoch=epoch)
        topic = TopicState(topic_id=self.image.topics[tp.topic].topic_id, partitions=[row])
        self.client.call(self.endpoint(CONTROLLER_ID), BumpLeaderEpochsRequest(topics=[topic]), 0)
        self.simulation.run_until(
            lambda: (leader := self.leader(tp)) is not None and leader.leader_epoch >= epoch, what=f"epoch {epoch}"
        )

    def write(self, *values: str, tp: TopicPartition = TP) -> int:
        """Write one batch without a producer id; return its base offset."""
        return Producer(self).send(records(*values, tp=tp))[tp]

    def try_write(self, tp: TopicPartition = TP) -> ErrorCode:
        """Write one record once, to the leader; return the error."""
        batch = build_batch([RecordData(value=b"x")], timestamp_ms=self.simulation.now_ms)
        return ErrorCode(Producer(self).try_send({tp: batch})[tp][0])

    def await_leader(self, tp: TopicPartition = TP) -> Partition:
        """Wait for a leader and return the partition there."""
        self.simulation.run_until(lambda: self.leader(tp) is not None, what=f"a leader of {tp} in {self.name}")
        found = self.leader(tp)
        assert found is not None
        return found

    def log(self, tp: TopicPartition = TP) -> PartitionLog:
        return self.await_leader(tp).log

    def component(self, broker_id: int) -> MirrorComponent:
        return next(c for c in self.broker(broker_id).parts.components if isinstance(c, MirrorComponent))

    def mirror_partition(self, tp: TopicPartition = TP) -> MirrorPartition | None:
        """Return the leader's state of the mirrored partition, or None without a leader."""
        found = self.leader(tp)
        return None if found is None else self.component(found.broker_id).context.partitions.get(tp)

    def state(self, tp: TopicPartition = TP) -> str:
        mp = self.mirror_partition(tp)
        return "NONE" if mp is None or mp.state is None else mp.state.name

    def reason(self, tp: TopicPartition = TP) -> str:
        mp = self.mirror_partition(tp)
        return "" if mp is None else mp.reason

    def persisted(self, tp: TopicPartition = TP) -> PartitionState:
        """Return the coordinators' persisted state of a partition."""
        topic_id = self.image.topics[tp.topic].topic_id
        for broker_id in self.living():
            for shard in self.component(broker_id).context.coordinator.runtime.states().values():
                for key, found in shard.all_committed().items():
                    if key.topic_id == topic_id and key.partition == tp.partition:
                        return found
        return NO_STATE

    def elect(self, tp: TopicPartition = TP) -> int:
        """Kill the leader and wait for another one; return the broker that is down."""
        victim = self.await_leader(tp).broker_id
        self.kill(victim)
        self.simulation.run_until(
            lambda: (found := self.leader(tp)) is not None and found.broker_id != victim,
            what=f"another leader of {tp} in {self.name}",
        )
        return victim

    def settle(self) -> None:
        settle(self)


@dataclass(slots=True)
class Pair:
    """Clusters a and b, a mirror from a to b, and the one back under the same name."""

    simulation: Simulation
    a: StagedCluster
    b: StagedCluster
    cuts: list[tuple[str, LogCut]] = field(default_factory=list)

    @property
    def there(self) -> Mirror:
        return Mirror("m", source=self.a, destination=self.b)

    @property
    def back(self) -> Mirror:
        return Mirror("m", source=self.b, destination=self.a)

    def begin(self, topics: Sequence[str] = (TOPIC,)) -> list[MirrorRow]:
        """Create the mirror from a to b, add the topics, wait until it has caught up."""
        self.there.create()
        self.there.add_topics(topics)
        return wait_until_mirrored(self.there, topics)

    def fail_over(self, mirror: Mirror | None = None, topics: Sequence[str] = (TOPIC,)) -> list[MirrorRow]:
        """Remove the topics and wait until they are writable."""
        mirror = mirror or self.there
        mirror.remove_topics(topics)
        return wait_until_stopped(mirror, topics)

    def fail_back(self, topics: Sequence[str] = (TOPIC,), *, create: bool = True) -> list[MirrorRow]:
        """Mirror from b to a, and wait until a has caught up."""
        if create:
            self.back.create()
        self.back.add_topics(topics)
        return wait_until_mirrored(self.back, topics)

    def cuts_of(self, cluster: Cluster, tp: TopicPartition = TP) -> list[tuple[int, int]]:
        """Return (offset, end) of truncations by leaders of `cluster` because of mirroring, in order."""
        return [
            (cut.offset, cut.end)
            for process, cut in self.cuts
            if process.startswith(f"{cluster.name}-") and cut.tp == tp
        ]

    def run_until(self, condition: Callable[[], bool], what: str, *, within_s: float = 60) -> None:
        self.simulation.run_until(condition, within_s=within_s, what=what)

    def hold(self, span_s: float, condition: Callable[[], bool], what: str) -> None:
        """Let time pass and check `condition` after every event."""

        def check(now: Instant) -> None:
            assert condition(), what

        self.simulation.world.after_event.append(check)
        self.simulation.run_for(span_s=span_s)
        self.simulation.world.after_event.remove(check)

    def third(self, name: str = "c", *, brokers: int = 3, logs: ExistingLogs | None = None) -> StagedCluster:
        """Return one more running cluster in this simulation."""
        configs = SMALL if brokers > 1 else ONE_BROKER
        cluster = StagedCluster(
            self.simulation, name, logs=logs, brokers=brokers, replication_factor=brokers, configs=configs
        )
        self.simulation.world.after_event.append(lambda now: check_epochs(cluster))
        cluster.start()
        return cluster


def pair(
    seed: int = 0,
    *,
    logs: ExistingLogs | None = None,
    brokers: int = 3,
    a_configs: Mapping[str, str] | None = None,
    b_configs: Mapping[str, str] | None = None,
    b_logs: ExistingLogs | None = None,
    b_authorizer: Authorizer | None = None,
    start: bool = True,
) -> Pair:
    """Return two running clusters; one broker each means a replication factor of one."""
    base = SMALL if brokers > 1 else ONE_BROKER
    simulation = Simulation(seed)
    a = StagedCluster(
        simulation, "a", logs=logs, brokers=brokers, replication_factor=brokers, configs={**base, **(a_configs or {})}
    )
    b = StagedCluster(
        simulation,
        "b",
        logs=b_logs,
        brokers=brokers,
        replication_factor=brokers,
        configs={**base, **(b_configs or {})},
        authorizer=b_authorizer,
    )
    made = Pair(simulation, a, b)

    simulation.on(LogCut, lambda seen: made.cuts.append((seen.node, seen.fact)))
    simulation.world.after_event.append(lambda now: check_epochs(a, b))
    if start:
        a.start()
        b.start()
    return made


def check_epochs(*clusters: Cluster) -> None:
    """Check after an event: no leader holds a batch of an epoch above its own (D14), and offsets are in order."""
    for cluster in clusters:
        for broker_id in cluster.living():
            for tp, partition in cluster.broker(broker_id).parts.replicas.partitions.items():
                log = partition.log
                assert log.log_start_offset <= log.high_watermark <= log.log_end_offset, f"{cluster.name} {tp}: {log}"
                if partition.is_leader:
                    assert log.latest_epoch <= partition.leader_epoch, f"{cluster.name} {tp}: {log}"


# -- waiting ----------------------------------------------------------------------------------


def wait_until_mirrored(mirror: Mirror, topics: Sequence[str] = (TOPIC,)) -> list[MirrorRow]:
    """Wait until every partition is MIRRORING and the destination's committed log ends where the source's does."""
    wanted = mirror.source.partitions(topics)
    mirror.wait_for_state(MirrorState.MIRRORING, wanted)
    for tp in wanted:
        mirror.destination.simulation.run_until(
            lambda tp=tp: has_all(mirror, tp),
            what=f"{tp} in {mirror.destination.name} to catch up",  # type: ignore[misc]
        )
    return mirror.describe()


def has_all(mirror: Mirror, tp: TopicPartition = TP) -> bool:
    source, found = mirror.source.leader(tp), mirror.destination.leader(tp)
    return (
        source is not None
        and found is not None
        and source.log.high_watermark == source.log.log_end_offset
        and found.log.high_watermark == found.log.log_end_offset == source.log.last_stable_offset
        and found.log.log_start_offset == source.log.log_start_offset
    )


def wait_until_stopped(mirror: Mirror, topics: Sequence[str] = (TOPIC,)) -> list[MirrorRow]:
    return mirror.wait_for_state(MirrorState.STOPPED, mirror.destination.partitions(topics))


def settle(*clusters: Cluster) -> None:
    """Wait until every ISR of these clusters is full."""
    for cluster in clusters:
        cluster.simulation.run_until(cluster.is_settled, within_s=120, what=f"full ISRs in {cluster.name}")


def assert_equal(mirror: Mirror, topics: Sequence[str] = (TOPIC,)) -> None:
    """Settle both clusters; then every batch on every replica of the destination is the source's."""
    wait_until_mirrored(mirror, topics)
    settle(mirror.source, mirror.destination)
    difference, compared = mirror_agrees(mirror.source, mirror.destination, mirror.source.partitions(topics))
    assert difference is None, str(difference)
    assert compared.partitions == len(mirror.source.partitions(topics))


# -- internal state ---------------------------------------------------------------------------


def values(log: PartitionLog) -> list[tuple[int, str]]:
    """Return (offset, value) of every data record."""
    return [
        (record.offset, (record.value or b"").decode())
        for batch in log.any_batches()
        if not batch.is_control
        for record in batch.records()
        if record.offset >= log.log_start_offset
    ]


def epochs(log: PartitionLog) -> list[tuple[int, int]]:
    """Return (epoch, start offset) of the log's history."""
    return [(entry.epoch, entry.start_offset) for entry in log.epochs.entries]


def resets(log: PartitionLog) -> list[AnyBatch]:
    """Return the MIRROR_PID_RESET batches of a log."""
    found = []
    for batch in log.any_batches():
        record = batch.control() if batch.is_control else None
        if record is not None and record.type is ControlType.MIRROR_PID_RESET:
            found.append(batch)
    return found


# -- faults -----------------------------------------------------------------------------------
