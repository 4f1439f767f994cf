"""A simulated cluster as scripts and tests hold it: one controller, some brokers, and their disks.

with Cluster(simulation, "a", brokers=3) as a:      # starts it, and stops it in the end
    a.create_topic("orders")
    a.produce("orders", 0, [b"one", b"two"])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.broker.context import BrokerOptions
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.controller.controller import Controller, ControllerComponent, ControllerOptions
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.log.epochs import decode_checkpoint
from kmirror.log.memory_store import MemoryStore
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.controller_component import MirrorControllerComponent
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.records.legacy import iter_any_batches
from kmirror.records.record import RecordData
from kmirror.sim.client import Client
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import METADATA_VERSION, MIRROR_VERSION
from kmirror.spec.topics import is_internal
from kmirror.spec.wire_values import IsolationLevel

if TYPE_CHECKING:
    from types import TracebackType

    from kmirror.client.consumer import ConsumerRecord
    from kmirror.sim.simulation import Simulation

CONTROLLER_ID = 100
METADATA_LEVEL = 30


class PartitionFiles(Protocol):
    """The files of one partition, as `kmirror.read_log_dirs` returns them."""

    @property
    def segments(self) -> Mapping[int, bytes]: ...

    @property
    def files(self) -> Mapping[str, bytes]: ...


class Logs(Protocol):
    """Partitions by name, and the ids of their topics."""

    @property
    def partitions(self) -> Mapping[TopicPartition, PartitionFiles]: ...

    def topic_id(self, topic: str) -> Uuid | None: ...


class Cluster:
    """A cluster in a simulation; `brokers` are numbered from 1, the controller is 100."""

    def __init__(
        self,
        simulation: Simulation,
        name: str,
        *,
        brokers: int = 3,
        replication_factor: int = 3,
        logs: Logs | None = None,
        configs: Mapping[str, str] | None = None,
        mirror_version: int = 1,
    ) -> None:
        self.simulation = simulation
        self.name = name
        self.replication_factor = min(replication_factor, brokers)
        self.broker_ids = tuple(range(1, brokers + 1))
        self.configs = {**_replication_configs(self.replication_factor), **(configs or {})}
        self.rng = simulation.world.rng.split(f"cluster {name}")
        self.cluster_id = str(Uuid(self.rng.split("cluster id").octets(16)))
        self.disks = {node_id: MemoryDisk() for node_id in (*self.broker_ids, CONTROLLER_ID)}
        self._starts: dict[int, int] = {}
        bootstrap: list[Message] = [
            FeatureLevelRecord(name=METADATA_VERSION, feature_level=METADATA_LEVEL),
            FeatureLevelRecord(name=MIRROR_VERSION, feature_level=mirror_version),
        ]
        if logs is not None:
            bootstrap += self._lay_down(logs)
        self._bootstrap: Sequence[Message] = bootstrap
        world = simulation.world
        world.add(self.process(CONTROLLER_ID), name, self.endpoint(CONTROLLER_ID), lambda: self._controller())
        for broker_id in self.broker_ids:
            world.add(self.process(broker_id), name, self.endpoint(broker_id), self._maker(broker_id))
        self.client = Client(world, f"{name}-client", name)
        simulation.clusters[name] = self

    def __repr__(self) -> str:
        return f"<Cluster {self.name}: of brokers {_listed(self.broker_ids)} run {_listed(self.living()) or 'none'}>"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- nodes --------------------------------------------------------------------------------

    def process(self, node_id: int) -> str:
        """Return the name of a node's process."""
        return f"{self.name}-controller" if node_id == CONTROLLER_ID else f"{self.name}-{node_id}"

    def endpoint(self, node_id: int) -> Endpoint:
        return Endpoint(self.process(node_id), 9093 if node_id == CONTROLLER_ID else 9092)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(str(self.endpoint(broker_id)) for broker_id in self.broker_ids)

    def _node_rng(self, node_id: int) -> Rng:
        # A restarted process must not draw the numbers of the one before it.
        start = self._starts[node_id] = self._starts.get(node_id, 0) + 1
        return self.rng.split(f"node {node_id} start {start}")

    def _controller(self) -> Controller:
        options = ControllerOptions(
            CONTROLLER_ID, self.cluster_id, self.endpoint(CONTROLLER_ID), self.configs, self._bootstrap
        )
        components: list[ControllerComponent] = [MirrorControllerComponent()]
        return Controller(options, self.disks[CONTROLLER_ID], self._node_rng(CONTROLLER_ID), components)

    def _maker(self, broker_id: int) -> Callable[[], Broker]:
        def make() -> Broker:
            options = BrokerOptions(
                broker_id, self.cluster_id, self.endpoint(broker_id), self.endpoint(CONTROLLER_ID), self.configs
            )
            broker = Broker(options, self.disks[broker_id], self._node_rng(broker_id))
            mirror: BrokerComponent = MirrorComponent(broker.parts)
            broker.add(mirror)
            return broker

        return make

    def start(self) -> None:
        """Start every node and wait until each partition has a leader and a full ISR."""
        world = self.simulation.world
        world.start(self.process(CONTROLLER_ID))
        for broker_id in self.broker_ids:
            world.start(self.process(broker_id))
        world.run_until(self.is_settled, within_us=60 * SECOND, what=f"cluster {self.name} to come up")

    def stop(self) -> None:
        """End every process that runs, the controller last; the disks stay, and `start` begins anew from them."""
        for node_id in (*self.broker_ids, CONTROLLER_ID):
            if self.runs(node_id):
                self.kill(node_id)

    def kill(self, node_id: int, *, power_cut: bool = False) -> None:
        """End a node's process without warning; its disk stays, but for what was not flushed at a `power_cut`."""
        self.simulation.world.kill(self.process(node_id))
        if power_cut:
            rng = self.rng.split(f"power cut of node {node_id} in start {self._starts[node_id]}")
            lost = self.disks[node_id].cut_power(rng)
            self.simulation.world.trace.add(self.simulation.world.now, self.process(node_id), f"lost {lost} bytes")

    def restart(self, node_id: int) -> None:
        self.simulation.world.start(self.process(node_id))

    def runs(self, node_id: int) -> bool:
        return self.simulation.world.runs(self.process(node_id))

    def produce(self, topic: str, partition: int, values: Sequence[bytes]) -> int:
        """Write `values` as one batch with acks=all; returns the offset of the first. KafkaError if refused."""
        from kmirror.sim.producer import Producer

        tp = TopicPartition(topic, partition)
        return Producer(self).send({tp: [RecordData(value=value) for value in values]})[tp]

    def read(
        self, tp: TopicPartition, *, isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    ) -> list[ConsumerRecord]:
        """Return all records of a partition, as a consumer gets them now; KafkaError if it does not exist."""
        from kmirror.sim.consumer import read

        return read(self, tp, isolation)

    def create_topic(self, topic: str, partitions: int = 1, *, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until each partition has a leader; KafkaError if refused."""
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=topic,
                    num_partitions=partitions,
                    replication_factor=self.replication_factor,
                    configs=[CreatableTopicConfig(name=n, value=v) for n, v in (configs or {}).items()],
                )
            ]
        )
        reply = self.order(request)
        assert isinstance(reply, CreateTopicsResponse)
        code = ErrorCode(reply.topics[0].error_code)
        if code:
            reason = reply.topics[0].error_message or code.text
            raise self.simulation.refusal(code, f"cannot create topic {topic}: {code.name}: {reason}")
        wanted = self.partitions([topic])
        self.simulation.run_until(
            lambda: all(self.leader(tp) is not None for tp in wanted), what=f"leaders of topic {topic}"
        )

    def order(self, request: Message) -> Message:
        """Have the cluster carry out `request`, such as CreateTopics; returns the answer, whatever it says."""
        all_of_them = [self.endpoint(broker_id) for broker_id in self.broker_ids]
        return self.client.order(self.endpoints() or all_of_them, request)

    # -- looking inside -----------------------------------------------------------------------

    @property
    def controller(self) -> Controller:
        node = self.simulation.world.processes[self.process(CONTROLLER_ID)].node
        assert isinstance(node, Controller), "the controller does not run"
        return node

    @property
    def image(self) -> MetadataImage:
        """Return the controller's image: what is decided, though brokers may not know it yet."""
        return self.controller.image

    def broker(self, broker_id: int) -> Broker:
        node = self.simulation.world.processes[self.process(broker_id)].node
        assert isinstance(node, Broker), f"broker {broker_id} of {self.name} does not run"
        return node

    def living(self) -> list[int]:
        """Return the ids of brokers whose process runs."""
        return [b for b in self.broker_ids if self.runs(b)]

    def endpoints(self) -> list[Endpoint]:
        """Return where living brokers listen."""
        return [self.endpoint(b) for b in self.living()]

    def leader(self, tp: TopicPartition) -> Partition | None:
        """Return the partition at its leader, or None while it has none that knows of it."""
        image = self.image.partition(tp)
        if image is None or image.leader not in self.broker_ids or not self.runs(image.leader):
            return None
        partition = self.broker(image.leader).parts.replicas.led(tp)
        return partition if partition is not None and partition.leader_epoch == image.leader_epoch else None

    def replicas(self, tp: TopicPartition) -> dict[int, Partition]:
        """Return the partition at every living replica."""
        found = {}
        image = self.image.partition(tp)
        for broker_id in () if image is None else image.replicas:
            if self.runs(broker_id) and (p := self.broker(broker_id).parts.replicas.partitions.get(tp)) is not None:
                found[broker_id] = p
        return found

    def topics(self) -> list[str]:
        """Return the names of all topics that are not internal, sorted."""
        return sorted(name for name in self.image.topics if not is_internal(name))

    def partitions(self, topics: Sequence[str] | None = None) -> list[TopicPartition]:
        """Return all partitions of `topics`, or of every topic that is not internal."""
        names = self.topics() if topics is None else topics
        return [TopicPartition(n, i) for n in names if n in self.image.topics for i in self.image.topics[n].partitions]

    def is_settled(self) -> bool:
        """Does every partition have a living leader that knows of it, and a full ISR?"""
        image = self.image
        if any(not image.is_alive(b) for b in self.broker_ids):
            return False
        for topic in image.topics.values():
            for index, partition in topic.partitions.items():
                if len(partition.isr) != len(partition.replicas):
                    return False
                leader = self.leader(TopicPartition(topic.name, index))
                if leader is None or leader.log.high_watermark != leader.log.log_end_offset:
                    return False
        return True

    # -- content from real files --------------------------------------------------------------

    def _lay_down(self, logs: Logs) -> list[Message]:
        """Put real segment files on the disks; returns the records that make their topics known."""
        topics: dict[str, int] = {}
        for tp in logs.partitions:
            topics[tp.topic] = max(topics.get(tp.topic, 0), tp.partition + 1)
        next_producer_id = 1 + max((last_producer_id(files) for files in logs.partitions.values()), default=-1)
        records: list[Message] = [
            # Ids in the logs were given out by the cluster that wrote them; they are taken.
            ProducerIdsRecord(broker_id=self.broker_ids[0], broker_epoch=-1, next_producer_id=next_producer_id)
        ]
        turn = 0
        for topic, count in topics.items():
            topic_id = logs.topic_id(topic) or Uuid(self.rng.split(f"topic {topic}").octets(16))
            records.append(TopicRecord(name=topic, topic_id=topic_id))
            for index in range(count):
                tp = TopicPartition(topic, index)
                files = logs.partitions.get(tp)
                replicas = [self.broker_ids[(turn + n) % len(self.broker_ids)] for n in range(self.replication_factor)]
                turn += 1
                if files is not None:
                    store = MemoryStore.from_files(dict(files.segments), dict(files.files))
                    for replica in replicas:
                        self.disks[replica].put(tp, store.fork())
                epoch = -1 if files is None else last_epoch(files)
                records.append(
                    PartitionRecord(
                        partition_id=index,
                        topic_id=topic_id,
                        replicas=replicas,
                        isr=replicas,
                        leader=replicas[0],
                        leader_epoch=epoch + 1,
                        partition_epoch=0,
                    )
                )
        return records


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


def _replication_configs(factor: int) -> dict[str, str]:
    """Return the configs that let a cluster of `factor` brokers or more hold its internal topics."""
    keys = ("default.replication.factor", "transaction.state.log.replication.factor", "mirror.topic.replication.factor")
    return {**dict.fromkeys(keys, str(factor)), "transaction.state.log.min.isr": str(min(2, factor))}


def last_epoch(files: PartitionFiles) -> int:
    """Return the largest leader epoch that a partition's files speak of, or -1."""
    checkpoint = files.files.get(LEADER_EPOCH_CHECKPOINT)
    found = -1
    if checkpoint:
        found = max((entry.epoch for entry in decode_checkpoint(checkpoint)), default=-1)
    for base_offset in sorted(files.segments, reverse=True):
        for batch in iter_any_batches(files.segments[base_offset]):
            found = max(found, batch.partition_leader_epoch)
        if found >= 0:
            break
    return found


def last_producer_id(files: PartitionFiles) -> int:
    """Return the largest producer id in a partition's batches, or -1."""
    return max(
        (batch.producer_id for segment in files.segments.values() for batch in iter_any_batches(segment)), default=-1
    )
