"""Cluster on TCP ports for scripts and tests: the interface of the simulated cluster, open to any Kafka client.

with TcpCluster(brokers=3, topics={"orders": 6}) as cluster:
    Producer({"bootstrap.servers": cluster.bootstrap_servers})       # confluent-kafka's, or any other
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kmirror.assembly.cluster_view import ClusterView, checked_configs, checked_listeners, checked_racks
from kmirror.assembly.metrics import Metrics
from kmirror.assembly.nodes import Assembly, feature_records, formatted_records, replication_configs
from kmirror.client.consumer import ConsumerRecord
from kmirror.cluster.authorizer import Authorizer
from kmirror.cluster.node.partition import Partition
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Node
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.listeners import CONTROLLER_NAME, DEFAULT_NAME, Listeners, ListenerSpec
from kmirror.kernel.names import as_names
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.kernel.uuid import Uuid
from kmirror.kernel.wrapping import WrapNode
from kmirror.log.disk import Disks, MemoryDisk
from kmirror.logdir.cluster_folders import ClusterFolders, broker_id_of, open_cluster_folders
from kmirror.logdir.feature_levels import check_levels
from kmirror.net.host import Host
from kmirror.net.listener import Port
from kmirror.net.log_folders import Data, folders_of, metadata_folder
from kmirror.net.memory import memory_disk
from kmirror.net.options import LinkOptions
from kmirror.net.running import RunningNodes, checked_advertised, new_rng
from kmirror.net.scripting import ScriptClient
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.message import Message
from kmirror.records.record import RecordData
from kmirror.spec.configs import broker_configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import ELIGIBLE_VERSION, FORMAT_LEVELS, MIRROR_VERSION
from kmirror.spec.wire_values import IsolationLevel

T = TypeVar("T")
START_TIMEOUT_S = 60.0
PORT_MAX = 65_535
CONTROLLER_ENDPOINT = Endpoint("localhost", 9093)
"""Controller listener recorded in a new folder; a Kafka controller that opens the folder replaces it with its own."""
OpenDisks = Callable[[int], Disks]
"""Function that opens the log directories of the node with the given id."""


class TcpCluster(RunningNodes, ClusterView):
    """Brokers 1 to `brokers` on their own ports, and a controller, in this process on a separate thread.

    Brokers listen at `host`; clients are given `advertised_host` if it is set. `port` is the first broker's port, and
    the other brokers use the ports after it; with 0, each broker uses a free port. `topics` are created at the start:
    names, or a mapping of names to partition counts. `racks` maps broker ids to `broker.rack`. `interpose` wraps each
    node when it is made. `listeners` are the listener names of each broker: the first uses the requested port, the
    others use free ports, and brokers connect to each other at `inter.broker.listener.name`.

    `data` is a folder for the logs; it is created and formatted if it does not exist. The folder of a single Kafka
    broker is served under that broker's node id. Several folders are the `log.dirs` of each broker: a folder that fails
    goes offline, and the broker continues with the others. The controller's log is in the first folder, or in
    `metadata.log.dir` if that config is set. `disks` instead opens the log directories of a node, by its id, each time
    the node starts. Without both, logs are in memory: they survive `kill` and `stop`, but not this object.

    `mirror_version` is 1 in memory. Under `data` it is the level in the existing log and 0 in a new log, unless 1 is
    requested: a Kafka controller rejects a log that contains this feature. `eligible_version`, the level of
    `eligible.leader.replicas.version`, is 1 in memory and in a new folder, as in a fresh Kafka 4.3.1. Raises UsageError
    if the log under `data` has another level than the requested one, or if mirror_version is 0 and the log has 1.
    """

    def __init__(
        self,
        *,
        brokers: int = 3,
        host: str = "127.0.0.1",
        port: int = 0,
        advertised_host: str | None = None,
        configs: Mapping[str, str] | None = None,
        racks: Mapping[int, str] | None = None,
        topics: Mapping[str, int] | Iterable[str] = (),
        replication_factor: int | None = None,
        name: str = "kafka",
        cluster_id: str | None = None,
        mirror_version: int | None = None,
        eligible_version: int | None = None,
        data: Data = None,
        disks: OpenDisks | None = None,
        listeners: Sequence[str] = (DEFAULT_NAME,),
        interpose: WrapNode | None = None,
        on_failure: OnFailure = OnFailure.CONTINUE,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._data = folders_of(data)
        existing_id = None if not self._data or brokers != 1 else broker_id_of(self._data, self.controller_id)
        first_id = 1 if existing_id is None else existing_id
        RunningNodes.__init__(self, f"cluster {arguments.text('name', name)}")
        ClusterView.__init__(self, name, brokers, replication_factor, first_id=first_id)
        arguments.whole_number("port", port, 0, PORT_MAX + 1 - brokers)
        self.configs = {**replication_configs(self.replication_factor), **checked_configs(configs or {})}
        self._racks = checked_racks(racks, self.broker_ids)
        self.cluster_id = cluster_id or str(Uuid(os.urandom(16)))
        """Under `data`, known only after the cluster was started."""
        self._requested_id = cluster_id
        self._topics = _with_partition_counts(topics)
        self._listen_address = (arguments.text("host", host), port)
        advertised = host if advertised_host is None else arguments.text("advertised_host", advertised_host)
        self._advertised_host = checked_advertised(advertised)
        self._mirror_version = int(data is None) if mirror_version is None else mirror_version
        self._requested_levels = {MIRROR_VERSION: mirror_version, ELIGIBLE_VERSION: eligible_version}
        self._eligible_version = FORMAT_LEVELS[ELIGIBLE_VERSION] if eligible_version is None else eligible_version
        self._on_failure = on_failure
        self._authorizer = authorizer
        self._interpose = interpose
        if data is not None and disks is not None:
            raise UsageError("data is the folder of the logs of all nodes: set either data or disks")
        self._folders: ClusterFolders | None = None
        self._is_on_disk = data is not None or disks is not None
        memory: dict[int, MemoryDisk] = {}
        self._open_disks: OpenDisks = disks or (lambda node_id: [memory.setdefault(node_id, memory_disk())])
        self._names = checked_listeners(listeners)
        self._ports: dict[int, dict[str, Port]] = {}
        """Ports of each broker, by listener name."""
        self._client: ScriptClient | None = None

    # -- nodes --------------------------------------------------------------------------------

    def listeners(self, node_id: int) -> Listeners:
        """Return the listeners of a node. The controller's has no TCP port: only the brokers connect to it."""
        name = self.process(node_id)
        if node_id == self.controller_id:
            return (ListenerSpec.plain(Endpoint(name, 0), CONTROLLER_NAME),)
        if node_id not in self._ports:
            raise UsageError(f"cluster {self.name} has no ports yet: use it in a `with` block, or call start()")
        return tuple(port.listener(name, self._advertised_host) for name, port in self._ports[node_id].items())

    def runs(self, node_id: int) -> bool:
        """Return whether a node is running."""
        return self._runs(self.process(node_id))

    def start(self) -> None:
        """Bind the ports, start every node, and wait until each partition has a leader and a full ISR.

        Raises UsageError if a port is in use or a node is already running.
        """
        self._check_may_start()
        if self._host is None:
            self._open_folders()
            self._bind_ports()
            self._thread.start()
            self._thread.call(self._create_host)
        try:
            self._thread.wait(self._start())
            missing = {name: count for name, count in self._topics.items() if name not in self.image.topics}
            for name, count in missing.items():
                self.create_topic(name, count)
        except BaseException:
            self.close()
            raise

    def _open_folders(self) -> None:
        """Lock the folders under `data`, and format those that are not formatted."""
        if not self._data:
            return
        self._folders = open_cluster_folders(
            self._data,
            metadata=metadata_folder(self.configs),
            broker_ids=self.broker_ids,
            controller_id=self.controller_id,
            bootstrap=formatted_records(self._eligible_version),
            endpoint=CONTROLLER_ENDPOINT,
            now_ms=time.time_ns() // 1_000_000,
            cluster_id=self._requested_id,
        )
        self._open_disks, self.cluster_id = self._folders.disks_of, self._folders.cluster_id
        try:
            check_levels(self._folders.paths[self.controller_id][0], self._requested_levels)
        except BaseException:
            self._release_resources()
            raise

    def _bind_ports(self) -> None:
        host, port = self._listen_address
        try:
            for index, broker_id in enumerate(self.broker_ids):
                ports = self._ports[broker_id] = {}
                for name in self._names:
                    ports[name] = Port(host, port + index if port and not ports else 0)
        except UsageError:
            self._release_resources()
            raise

    def _release_resources(self) -> None:
        for ports in self._ports.values():
            for port in ports.values():
                port.close()
        self._ports.clear()
        if self._folders is not None:
            self._folders.close()
            self._folders = None

    def _create_host(self) -> None:
        """Place every node on a new host."""
        loop = asyncio.get_running_loop()
        host = self._host = Host(loop)
        host.on_note = self.on_note
        assembly = Assembly(
            cluster_id=self.cluster_id,
            controller_id=self.controller_id,
            listeners={node_id: self.listeners(node_id) for node_id in self.node_ids},
            configs=self.configs,
            racks=self._racks,
            bootstrap=feature_records(self._mirror_version, eligible_version=self._eligible_version),
            on_failure=self._on_failure,
            authorizer=self._authorizer,
            clock=host.now,
        )
        options = LinkOptions.from_configs(broker_configs(self.configs, {}))
        for node_id in self.node_ids:
            host.add(
                self.process(node_id),
                self._maker(assembly, node_id),
                local=self.listeners(node_id),
                ports=self._ports_of(node_id),
                options=options,
                on_disk=self._is_on_disk,
            )
        servers = tuple(self.endpoint(broker_id) for broker_id in self.broker_ids)
        self._client = ScriptClient(host, f"{self.name}-client", servers)

    def _ports_of(self, node_id: int) -> list[tuple[ListenerSpec, Port]]:
        ports = self._ports.get(node_id, {})
        return [(each, ports[each.name]) for each in self.listeners(node_id) if each.name in ports]

    def _maker(self, assembly: Assembly, node_id: int) -> Callable[[], Node]:
        def make() -> Node:
            node = assembly.node(node_id, self._open_disks(node_id), new_rng())
            self._register(node_id, node)
            return node if self._interpose is None else self._interpose(self.process(node_id), node)

        return make

    async def _start(self) -> None:
        for node_id in self.node_ids:
            await self._restart_process(self.process(node_id))
        # The time to recover large logs is not known in advance.
        within_s = None if self._is_on_disk else START_TIMEOUT_S
        await self._until(
            lambda: bool(self.ended_nodes) or super(TcpCluster, self).is_settled(),
            within_s,
            "for all partitions to have a leader and a full ISR",
        )
        if self.ended_nodes:
            raise self.failure()

    def close(self) -> None:
        """Kill every running node and release the ports; call `stop` first for a clean shutdown."""
        self._close_host(self._processes.values())
        self._client = None
        self._release_resources()

    def kill(self, node_id: int) -> None:
        """Kill a node without shutdown, like kill -9; its disk is kept. Raises UsageError if it is not running."""
        self._check_runs(node_id)
        host = self._running_host()
        self._on_loop(lambda: host.kill(self.process(node_id)))

    def stop(self, node_id: int | None = None) -> None:
        """Shut down a node cleanly and wait for it; without an id, all running nodes, the controller last.

        A broker first hands over its leaderships. The disks are kept, and `start` uses them again.
        """
        if node_id is not None:
            self._check_runs(node_id)
        nodes = [n for n in (*self.broker_ids, self.controller_id) if self.runs(n)] if node_id is None else [node_id]
        for each in nodes:
            self._thread.wait(self._stop_process(self.process(each)))

    def restart(self, node_id: int) -> None:
        """Start a killed or stopped node with its disk and ports; UsageError if it is running."""
        self._check_may_restart(node_id)
        self._thread.wait(self._restart_process(self.process(node_id)))

    @property
    def has_failed(self) -> bool:
        """Return whether the controller or all brokers have given up, so that no requests are served."""
        ended = self.ended_nodes
        return self.process(self.controller_id) in ended or all(self.process(each) in ended for each in self.broker_ids)

    # -- operations for scripts -----------------------------------------------------------------

    def produce(self, topic: str, partition: int, values: Sequence[bytes]) -> int:
        """Write `values` as one batch with acks=all and return the offset of the first; KafkaError if rejected."""
        tp = TopicPartition(arguments.text("topic", topic), partition)
        records = [RecordData(value=value) for value in arguments.items("values", values, "bytes")]
        return self._run_client(lambda client: client.produce(tp, records), f"writing to {tp}")

    def read(
        self, tp: TopicPartition, *, isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    ) -> list[ConsumerRecord]:
        """Return all records that a consumer can read from a partition now; KafkaError if it does not exist."""
        arguments.partition(tp)
        arguments.member("isolation", isolation, IsolationLevel)
        return self._run_client(lambda client: client.read(tp, isolation), f"reading {tp}")

    def create_topic(self, topic: str, partitions: int = 1, *, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until every broker knows it and each partition has a leader; KafkaError if rejected.

        With -1 `partitions`, the partition count is `num.partitions`.
        """
        configs_to_set = {} if configs is None else arguments.configs(configs)
        creatable = CreatableTopic(
            name=arguments.text("topic", topic),
            num_partitions=partitions,
            replication_factor=self.replication_factor,
            configs=[CreatableTopicConfig(name=n, value=v) for n, v in configs_to_set.items()],
        )
        reply = self.order(CreateTopicsRequest(topics=[creatable]))
        assert isinstance(reply, CreateTopicsResponse), reply
        code = ErrorCode(reply.topics[0].error_code)
        if code:
            reason = reply.topics[0].error_message or code.text
            raise KafkaError(code, f"cannot create topic {topic}: {code.name}: {reason}")
        self.until(lambda: self._is_known(topic), what=f"leaders of topic {topic}")

    def _is_known(self, topic: str) -> bool:
        if any(topic not in self.broker(b).context.image.topics for b in self.living()):
            return False
        return all(super(TcpCluster, self).leader(tp) is not None for tp in super().partitions([topic]))

    def order(self, request: Message) -> Message:
        """Send `request`, such as CreateTopics, to the cluster and return the response, even if it is an error."""
        return self._run_client(lambda client: client.order(request), request.NAME)

    def _run_client(self, operation: Callable[[ScriptClient], Coroutine[Any, Any, T]], description: str) -> T:
        self._check_may_wait()
        assert self._client is not None, "placed with the host"
        return self._thread.wait(self._wait_for_work(operation(self._client), description))

    # -- inspection -----------------------------------------------------------------------------

    def leader(self, tp: TopicPartition) -> Partition | None:
        """Return the leader's live partition object, or None while no leader knows of the partition."""
        return self._on_loop(lambda: super(TcpCluster, self).leader(tp))

    def replicas(self, tp: TopicPartition) -> dict[int, Partition]:
        """Return the partition object of every running replica; KafkaError if the cluster has no such partition."""
        return self._on_loop(lambda: super(TcpCluster, self).replicas(tp))

    def _now(self) -> Instant:
        return self._running_host().now()

    def _runner_metrics(self, node_id: int) -> RunnerMetrics:
        return self._running_host().processes[self.process(node_id)].runner_metrics

    def metrics(self) -> Metrics:
        """Return the current metrics of every running node."""
        return self._on_loop(lambda: ClusterView.metrics(self))

    def topics(self) -> list[str]:
        """Return the names of all topics that are not internal, sorted."""
        return self._on_loop(super().topics)

    def partitions(self, topics: Iterable[str] | None = None) -> list[TopicPartition]:
        """Return all partitions of `topics`, or of all topics except internal ones; UsageError for an unknown topic."""
        return self._on_loop(lambda: super(TcpCluster, self).partitions(topics))

    def is_settled(self) -> bool:
        """Return whether every partition has a running leader that knows of it, and a full ISR."""
        return self._on_loop(super().is_settled)


def _with_partition_counts(topics: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    """Return topics with their partition counts; a name alone has one partition."""
    if isinstance(topics, Mapping):
        return {arguments.text("a topic", name): count for name, count in topics.items()}
    return dict.fromkeys(as_names(topics), 1)
