"""A cluster on TCP ports, as scripts and tests hold it: the words of the simulator's, and any Kafka client connects.

with TcpCluster(brokers=3, topics={"orders": 6}) as cluster:
    Producer({"bootstrap.servers": cluster.bootstrap_servers})       # confluent-kafka's, or any other
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kmirror.assembly.inside import ClusterInside, checked_configs, checked_listeners, checked_racks
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
from kmirror.kernel.told_by_runner import ToldByRunner
from kmirror.kernel.uuid import Uuid
from kmirror.kernel.wrapping import Interpose
from kmirror.log.disk import Disks, MemoryDisk
from kmirror.logdir.cluster_folders import ClusterFolders, only_broker, open_cluster_folders
from kmirror.logdir.feature_levels import check_levels
from kmirror.net.data import Data, folders_of, metadata_folder
from kmirror.net.host import Host
from kmirror.net.listener import Port
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
from kmirror.spec.features import ELIGIBLE_VERSION, FORMATTED, MIRROR_VERSION
from kmirror.spec.wire_values import IsolationLevel

T = TypeVar("T")
START_WITHIN_S = 60.0
PORT_MAX = 65_535
CONTROLLER_ENDPOINT = Endpoint("localhost", 9093)
"""The controller's listener in a new folder; a controller of Kafka that opens it replaces that by its own."""
OpenDisks = Callable[[int], Disks]
"""Opens the log directories of a node, by its id."""


class TcpCluster(RunningNodes, ClusterInside):
    """Brokers 1 to `brokers` on ports of their own and a controller, all in this process, on a thread of its own.

    They listen at `host` and are known to clients as `advertised_host`, if that is another. `port` is the first
    broker's, the others have those after it; with 0 each has a free one. `topics` are created at the start: names, or
    names and numbers of partitions. `racks` is `broker.rack` by broker id. `interpose` wraps each node as it is made.
    `listeners` are the names of each broker's listeners: the first has the port that is asked for, others free ones,
    and brokers speak to each other at `inter.broker.listener.name`.

    `data` is a folder for their logs, which is made and formatted if there is none; that of one broker of Kafka is
    served by its node id. Several folders are the `log.dirs` of each broker: one that fails goes offline, and the
    broker goes on with the others. The controller's log is in the first, or where the config `metadata.log.dir` says.
    `disks` opens the log directories of a node instead, by its id, each time that it starts. Without both, logs are in
    memory, and outlive `kill` and `stop`, but not the object.

    `mirror_version` is 1 in memory. Under `data` it is what the log there says, 0 in a new one, and 1 if that is asked
    for: a controller of Kafka refuses a log that speaks of it. `eligible_version`, the level of
    `eligible.leader.replicas.version`, is 1 in memory and in a new folder, as in that of a fresh Kafka 4.3.1.
    UsageError if the log under `data` has another one than is asked for, or if mirror_version is 0 and it has 1.
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
        interpose: Interpose | None = None,
        on_failure: OnFailure = OnFailure.GO_ON,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._data = folders_of(data)
        known = None if not self._data or brokers != 1 else only_broker(self._data, self.controller_id)
        first_id = 1 if known is None else known
        RunningNodes.__init__(self, f"cluster {arguments.text('name', name)}")
        ClusterInside.__init__(self, name, brokers, replication_factor, first_id=first_id)
        arguments.whole_number("port", port, 0, PORT_MAX + 1 - brokers)
        self.configs = {**replication_configs(self.replication_factor), **checked_configs(configs or {})}
        self._racks = checked_racks(racks, self.broker_ids)
        self.cluster_id = cluster_id or str(Uuid(os.urandom(16)))
        """Under `data` known once the cluster was started."""
        self._wanted_id = cluster_id
        self._topics = _counted(topics)
        self._listen_at = (arguments.text("host", host), port)
        known_as = host if advertised_host is None else arguments.text("advertised_host", advertised_host)
        self._advertised_host = checked_advertised(known_as)
        self._mirror_version = int(data is None) if mirror_version is None else mirror_version
        self._asked = {MIRROR_VERSION: mirror_version, ELIGIBLE_VERSION: eligible_version}
        self._eligible_version = FORMATTED[ELIGIBLE_VERSION] if eligible_version is None else eligible_version
        self._on_failure = on_failure
        self._authorizer = authorizer
        self._interpose = interpose
        if data is not None and disks is not None:
            raise UsageError("data names the folder of every node's logs: give either data or disks")
        self._folders: ClusterFolders | None = None
        self._is_on_disk = data is not None or disks is not None
        memory: dict[int, MemoryDisk] = {}
        self._open_disks: OpenDisks = disks or (lambda node_id: [memory.setdefault(node_id, memory_disk())])
        self._names = checked_listeners(listeners)
        self._ports: dict[int, dict[str, Port]] = {}
        """Those of each broker, by the names of its listeners."""
        self._client: ScriptClient | None = None

    # -- nodes --------------------------------------------------------------------------------

    def listeners(self, node_id: int) -> Listeners:
        """Return the listeners of a node; the controller has no port, and is spoken to by the brokers alone."""
        name = self.process(node_id)
        if node_id == self.controller_id:
            return (ListenerSpec.plain(Endpoint(name, 0), CONTROLLER_NAME),)
        if node_id not in self._ports:
            raise UsageError(f"cluster {self.name} has no ports yet: use it in a `with` block, or call start()")
        return tuple(port.listener(name, self._advertised_host) for name, port in self._ports[node_id].items())

    def runs(self, node_id: int) -> bool:
        """Return whether a node's process runs."""
        return self._runs(self.process(node_id))

    def start(self) -> None:
        """Bind the ports, start every node, and wait until each partition has a leader and a full ISR.

        UsageError if a port is taken, or if a node runs already.
        """
        self._check_may_start()
        if self._host is None:
            self._open_folders()
            self._bind()
            self._thread.start()
            self._thread.call(self._place)
        try:
            self._thread.wait(self._start())
            missing = {name: count for name, count in self._topics.items() if name not in self.image.topics}
            for name, count in missing.items():
                self.create_topic(name, count)
        except BaseException:
            self.close()
            raise

    def _open_folders(self) -> None:
        """Lock the folders under `data`, and format those that are not."""
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
            cluster_id=self._wanted_id,
        )
        self._open_disks, self.cluster_id = self._folders.disks_of, self._folders.cluster_id
        try:
            check_levels(self._folders.paths[self.controller_id][0], self._asked)
        except BaseException:
            self._release()
            raise

    def _bind(self) -> None:
        host, port = self._listen_at
        try:
            for index, broker_id in enumerate(self.broker_ids):
                ports = self._ports[broker_id] = {}
                for name in self._names:
                    ports[name] = Port(host, port + index if port and not ports else 0)
        except UsageError:
            self._release()
            raise

    def _release(self) -> None:
        for ports in self._ports.values():
            for port in ports.values():
                port.close()
        self._ports.clear()
        if self._folders is not None:
            self._folders.close()
            self._folders = None

    def _place(self) -> None:
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
        options = LinkOptions.of(broker_configs(self.configs, {}))
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
            self._is_new(node_id, node)
            return node if self._interpose is None else self._interpose(self.process(node_id), node)

        return make

    async def _start(self) -> None:
        for node_id in self.node_ids:
            await self._restart_process(self.process(node_id))
        # Nobody knows how long the recovery of large logs takes.
        within_s = None if self._is_on_disk else START_WITHIN_S
        await self._until(lambda: bool(self.given_up) or super(TcpCluster, self).is_settled(), within_s, "to come up")
        if self.given_up:
            raise self.loss()

    def close(self) -> None:
        """Kill every node that runs and give the ports back; `stop` first is a clean end."""
        self._close_host(self._processes.values())
        self._client = None
        self._release()

    def kill(self, node_id: int) -> None:
        """End a node at once, as kill -9 does; its disk stays. UsageError if it does not run."""
        self._check_runs(node_id)
        host = self._running_host()
        self._on_loop(lambda: host.kill(self.process(node_id)))

    def stop(self, node_id: int | None = None) -> None:
        """Let a node end in order, and wait until it has; without an id every node that runs, the controller last.

        A broker hands its leaderships over first. The disks stay, and `start` begins anew from them.
        """
        if node_id is not None:
            self._check_runs(node_id)
        nodes = [n for n in (*self.broker_ids, self.controller_id) if self.runs(n)] if node_id is None else [node_id]
        for each in nodes:
            self._thread.wait(self._stop_process(self.process(each)))

    def restart(self, node_id: int) -> None:
        """Start a node that was killed or stopped, over its disk and at its port; UsageError if it runs."""
        self._check_may_restart(node_id)
        self._thread.wait(self._restart_process(self.process(node_id)))

    @property
    def is_lost(self) -> bool:
        """Return whether the controller has given up, or every broker: then nothing is served any more."""
        lost = self.given_up
        return self.process(self.controller_id) in lost or all(self.process(each) in lost for each in self.broker_ids)

    # -- what scripts do ----------------------------------------------------------------------

    def produce(self, topic: str, partition: int, values: Sequence[bytes]) -> int:
        """Write `values` as one batch with acks=all; returns the offset of the first. KafkaError if refused."""
        tp = TopicPartition(arguments.text("topic", topic), partition)
        records = [RecordData(value=value) for value in arguments.items("values", values, "bytes")]
        return self._do(lambda client: client.produce(tp, records), f"writing to {tp}")

    def read(
        self, tp: TopicPartition, *, isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    ) -> list[ConsumerRecord]:
        """Return all records of a partition, as a consumer gets them now; KafkaError if it does not exist."""
        arguments.partition(tp)
        arguments.member("isolation", isolation, IsolationLevel)
        return self._do(lambda client: client.read(tp, isolation), f"reading {tp}")

    def create_topic(self, topic: str, partitions: int = 1, *, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until each partition has a leader that every broker knows; KafkaError if refused.

        -1 partitions are as many as `num.partitions` says.
        """
        set_here = {} if configs is None else arguments.configs(configs)
        creatable = CreatableTopic(
            name=arguments.text("topic", topic),
            num_partitions=partitions,
            replication_factor=self.replication_factor,
            configs=[CreatableTopicConfig(name=n, value=v) for n, v in set_here.items()],
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
        """Have the cluster carry out `request`, such as CreateTopics; returns the answer, whatever it says."""
        return self._do(lambda client: client.order(request), request.NAME)

    def _do(self, work: Callable[[ScriptClient], Coroutine[Any, Any, T]], what: str) -> T:
        self._check_may_wait()
        assert self._client is not None, "placed with the host"
        return self._thread.wait(self._within(work(self._client), what))

    # -- looking inside -----------------------------------------------------------------------

    def leader(self, tp: TopicPartition) -> Partition | None:
        """Return the partition at its leader, or None while it has none that knows of it; it goes on meanwhile."""
        return self._on_loop(lambda: super(TcpCluster, self).leader(tp))

    def replicas(self, tp: TopicPartition) -> dict[int, Partition]:
        """Return the partition at every living replica; KafkaError if the cluster has no such partition."""
        return self._on_loop(lambda: super(TcpCluster, self).replicas(tp))

    def _now(self) -> Instant:
        return self._running_host().now()

    def _told(self, node_id: int) -> ToldByRunner:
        return self._running_host().processes[self.process(node_id)].told

    def metrics(self) -> Metrics:
        """Return what every node that runs tells of itself in numbers now."""
        return self._on_loop(lambda: ClusterInside.metrics(self))

    def topics(self) -> list[str]:
        """Return the names of all topics that are not internal, sorted."""
        return self._on_loop(super().topics)

    def partitions(self, topics: Iterable[str] | None = None) -> list[TopicPartition]:
        """Return all partitions of `topics`, or of every topic that is not internal; UsageError for an unknown one."""
        return self._on_loop(lambda: super(TcpCluster, self).partitions(topics))

    def is_settled(self) -> bool:
        """Does every partition have a living leader that knows of it, and a full ISR?"""
        return self._on_loop(super().is_settled)


def _counted(topics: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    """Return topics with their numbers of partitions; a name alone has one."""
    if isinstance(topics, Mapping):
        return {arguments.text("a topic", name): count for name, count in topics.items()}
    return dict.fromkeys(as_names(topics), 1)
