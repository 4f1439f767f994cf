"""View of a running cluster: its nodes, and the leaders, replicas and topics derived from them.

The simulator's cluster and the cluster on TCP ports both extend it with a way to run nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from kmirror.assembly.metrics import Metrics
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.node.partition import Partition
from kmirror.errors import KafkaError, UsageError, did_you_mean
from kmirror.kernel import arguments
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.listeners import CONTROLLER_NAME, Listeners
from kmirror.kernel.names import as_names, few
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.spec.configs import Scope, config_keys, problem_with
from kmirror.spec.configs.effects import ineffective_security, security_error
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import is_internal

CONTROLLER_ID = 100
LISTENER_NAME = re.compile("[A-Za-z0-9_]+")
REPLICATION_FACTOR = 3
"""The default; a cluster with fewer brokers has as many replicas as brokers."""


class ClusterView:
    """Nodes of a cluster and their state: brokers with ids from `first_id` on, and the controller with id 100.

    A subclass knows which nodes run, and their listeners.
    """

    controller_id = CONTROLLER_ID

    def __init__(self, name: str, brokers: int, replication_factor: int | None, *, first_id: int = 1) -> None:
        arguments.whole_number("brokers", brokers, 1, CONTROLLER_ID - 1)
        if replication_factor is None:
            replication_factor = min(REPLICATION_FACTOR, brokers)
        self.name = name
        self.replication_factor = arguments.whole_number("replication_factor", replication_factor, 1, brokers)
        self.broker_ids = tuple(range(first_id, first_id + brokers))
        self.node_ids = (self.controller_id, *self.broker_ids)
        """In the order in which they start."""
        self._processes = {id_: f"{name}-{id_}" for id_ in self.broker_ids} | {self.controller_id: f"{name}-controller"}
        self._nodes: dict[int, Broker | Controller] = {}
        """The newest node of each id, running or not."""
        self._image = MetadataImage()
        """The image of the controller before the newest one."""

    def __repr__(self) -> str:
        running = format_ids(self.living()) or "none"
        return f"<Cluster {self.name}: brokers {format_ids(self.broker_ids)}, running {running}>"

    # -- provided by subclasses ---------------------------------------------------------------

    def listeners(self, node_id: int) -> Listeners:
        """Return the listeners of a node."""
        raise NotImplementedError

    def runs(self, node_id: int) -> bool:
        """Return whether a node's process is running."""
        raise NotImplementedError

    def _now(self) -> Instant:
        """Return the current time of the nodes."""
        raise NotImplementedError

    def _runner_metrics(self, node_id: int) -> RunnerMetrics:
        """Return the metrics that the runner has counted for a node."""
        raise NotImplementedError

    def kafka_error(self, code: ErrorCode, text: str) -> KafkaError:
        """Return the error for a response with `code`."""
        return KafkaError(code, text)

    def _register(self, node_id: int, node: Broker | Controller) -> None:
        """Register a new node, which replaces the former one with this id."""
        if isinstance(node, Controller):
            self._image = self.image  # The new controller's image is empty until it has read its log.
        self._nodes[node_id] = node

    # -- nodes --------------------------------------------------------------------------------

    def process(self, node_id: int) -> str:
        """Return the name of a node's process; UsageError if the cluster has no such node."""
        try:
            return self._processes[node_id]
        except (KeyError, TypeError):
            brokers = f"brokers {format_ids(self.broker_ids)} and controller {self.controller_id}"
            raise UsageError(f"cluster {self.name} has no node {node_id!r}: it has {brokers}") from None

    @property
    def bootstrap_servers(self) -> str:
        """The endpoints of all brokers, running or not, as host:port pairs joined by commas."""
        return ",".join(str(self.endpoint(broker_id)) for broker_id in self.broker_ids)

    def endpoint(self, node_id: int, listener: str | None = None) -> Endpoint:
        """Return the endpoint of a node at the listener with this name, else at its first listener."""
        listeners = self.listeners(node_id)
        if listener is None:
            return listeners[0].advertised
        found = {each.name: each.advertised for each in listeners}
        if listener not in found:
            raise UsageError(f"{self.process(node_id)} has no listener {listener!r}, only {few([*found], 'listener')}")
        return found[listener]

    def _check_runs(self, node_id: int) -> None:
        if not self.runs(node_id):
            hint = f"restart({node_id})" if node_id in self._nodes else "start()"
            raise UsageError(f"{self.process(node_id)} is not running: call {hint}")

    def _check_may_start(self) -> None:
        """Raise UsageError if a node is running."""
        running = [node_id for node_id in self._processes if self.runs(node_id)]
        if running:
            text = f"cluster {self.name} is already running: nodes {format_ids(running)}"
            raise UsageError(f"{text}; restart(node_id) starts a stopped node, stop() stops all")

    def _check_may_restart(self, node_id: int) -> None:
        """Raise UsageError if the node is running, or was never started."""
        if self.runs(node_id):
            raise UsageError(
                f"{self.process(node_id)} is already running: call kill({node_id}) or stop({node_id}) first"
            )
        if node_id not in self._nodes:
            raise UsageError(f"cluster {self.name} was not started: call start()")

    def _check_is_broker(self, broker_id: int) -> None:
        self.process(broker_id)
        if broker_id == self.controller_id:
            raise UsageError(f"{broker_id} is the controller of cluster {self.name}: use `controller`")

    def living(self) -> list[int]:
        """Return the ids of running brokers."""
        return [b for b in self.broker_ids if self.runs(b)]

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints of running brokers."""
        return [self.endpoint(b) for b in self.living()]

    @property
    def controller(self) -> Controller:
        """The controller's node; UsageError while it is down. `image` then has its last decisions."""
        self._check_runs(self.controller_id)
        node = self._nodes[self.controller_id]
        assert isinstance(node, Controller), node
        return node

    def broker(self, broker_id: int) -> Broker:
        """Return a broker's node; UsageError while it is down."""
        if broker_id == self.controller_id or not self.runs(broker_id):
            self._check_is_broker(broker_id)
            self._check_runs(broker_id)
        node = self._nodes[broker_id]
        assert isinstance(node, Broker), node
        return node

    # -- state of the nodes -------------------------------------------------------------------

    @property
    def image(self) -> MetadataImage:
        """The controller's image: all decisions, even if brokers do not know them yet.

        While no controller runs, or a new one is still reading its log, it is the image of the last one.
        """
        newest = self._nodes.get(self.controller_id)
        return newest.image if isinstance(newest, Controller) and newest.is_open else self._image

    def leader(self, tp: TopicPartition) -> Partition | None:
        """Return the partition at its leader; None while no running broker leads in the current leader epoch.

        It is also None if the topic does not exist, so that a script can wait for a topic that a mirror creates.
        """
        image = self.image.topics.partition(arguments.partition(tp))
        if image is None or image.leader not in self.broker_ids or not self.runs(image.leader):
            return None
        partition = self.broker(image.leader).parts.replicas.partitions.find_led(tp)
        return partition if partition is not None and partition.leader_epoch == image.leader_epoch else None

    def replicas(self, tp: TopicPartition) -> dict[int, Partition]:
        """Return the partition at every live replica; KafkaError if the cluster has no such partition."""
        found = {}
        image = self.image.topics.partition(arguments.partition(tp))
        if image is None:
            raise self.unknown_partition(tp)
        for broker_id in image.replicas:
            if self.runs(broker_id) and (p := self.broker(broker_id).parts.replicas.partitions.get(tp)) is not None:
                found[broker_id] = p
        return found

    def metrics(self) -> Metrics:
        """Return the current metrics of every running node."""
        now = self._now()
        running = [node_id for node_id in self._processes if self.runs(node_id)]
        return Metrics(
            {node_id: self._nodes[node_id].metrics(now, self._runner_metrics(node_id)) for node_id in running}
        )

    def topics(self) -> list[str]:
        """Return the names of all topics that are not internal, sorted."""
        return sorted(name for name in self.image.topics if not is_internal(name))

    def partitions(self, topics: Iterable[str] | None = None) -> list[TopicPartition]:
        """Return all partitions of `topics`, or of all topics that are not internal; UsageError for an unknown one."""
        names = self.topics() if topics is None else as_names(topics)
        existing = self.image.topics
        for name in names:
            if name not in existing:
                raise UsageError(f"cluster {self.name} has no topic {name!r}; it has {few(self.topics(), 'topics')}")
        return [TopicPartition(name, index) for name in names for index in existing[name].partitions]

    def is_settled(self) -> bool:
        """Return whether every partition has a live leader that knows its epoch, a full ISR, and nothing uncommitted.

        Replicas in offline log directories are ignored, and so are partitions whose whole ISR is offline.
        """
        image = self.image
        if any(not image.brokers.is_alive(b) for b in self.broker_ids):
            return False
        for topic in image.topics.values():
            for index, partition in topic.partitions.items():
                offline = image.brokers.offline(partition)
                if offline and all(replica in offline for replica in partition.isr):
                    continue
                if len(partition.isr) != len(partition.replicas) - len(offline):
                    return False
                leader = self.leader(TopicPartition(topic.name, index))
                if leader is None or leader.log.high_watermark != leader.log.log_end_offset:
                    return False
        return True

    def unknown_partition(self, tp: TopicPartition) -> KafkaError:
        """Return the error for a partition that the cluster does not have; it names the existing ones."""
        topic = self.image.topics.get(tp.topic)
        if topic is not None:
            text = f"topic {tp.topic} of cluster {self.name} has the partitions {', '.join(map(str, topic.partitions))}"
        else:
            hint = did_you_mean(tp.topic, self.image.topics)
            text = f"cluster {self.name} has no topic {tp.topic!r}{hint and f': {hint}'}"
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return self.kafka_error(code, f"{tp}: {code.name}: {text}")


def checked_racks(racks: object, broker_ids: Iterable[int]) -> dict[int, str]:
    """Return `broker.rack` by broker id; UsageError for a value that is not a string, and for an unknown broker."""
    if racks is None:
        return {}
    if not isinstance(racks, Mapping):
        raise UsageError(f"racks must map broker ids to strings, such as {{1: 'east'}}, not {arguments.shown(racks)}")
    known = list(broker_ids)
    for broker_id, rack in racks.items():
        if broker_id not in known:
            raise UsageError(f"racks: unknown broker {arguments.shown(broker_id)}; brokers are {format_ids(known)}")
        arguments.text(f"the rack of broker {broker_id}", rack)
    return dict(racks)


def checked_configs(configs: object) -> dict[str, str]:
    """Return the static configs of every node; UsageError, with Kafka's message, for an invalid key or value."""
    values = arguments.configs(configs)
    for name, value in values.items():
        problem = problem_with(Scope.BROKER, name, value)
        if problem is None:
            if config_keys(Scope.BROKER)[name].only_dynamic:
                hint = "kafka-configs --entity-type brokers --alter sets it while the brokers run"
                raise UsageError(f"{name} can only be set dynamically: {hint}")
            continue
        row = config_keys(Scope.TOPIC).get(name)
        hint = did_you_mean(name, config_keys(Scope.BROKER)) if name not in config_keys(Scope.BROKER) else ""
        if row is not None and row.broker_key not in (None, name):
            hint = f"it is a config of topics; the default for all topics is {row.broker_key}"
        raise UsageError(f"{problem}{hint and f': {hint}'}")
    if names := ineffective_security(values):
        raise UsageError(security_error(names))
    return values


def checked_listeners(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the brokers' listeners; UsageError for no names, an invalid name, or a duplicate."""
    found = tuple(as_names(names, "listeners"))
    if not found or len(set(found)) < len(found):
        raise UsageError(f"listeners must be one or more distinct names, not {few(found, 'name')}")
    for name in found:
        if not LISTENER_NAME.fullmatch(name) or name == CONTROLLER_NAME:
            raise UsageError(f"invalid listener name {name!r}: use letters, digits and _, and not {CONTROLLER_NAME}")
    return found


def format_ids(ids: Sequence[int]) -> str:
    """Return ids for a message."""
    return ", ".join(map(str, ids))
