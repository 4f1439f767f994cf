"""Simulated cluster for scripts and tests: a controller, brokers and their disks.

with Cluster(simulation, "a", brokers=3) as a:      # starts it, and stops it at the end
    a.create_topic("orders")
    a.produce("orders", 0, [b"one", b"two"])
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from kmirror.assembly.cluster_view import ClusterView, checked_configs, checked_listeners, checked_racks
from kmirror.assembly.nodes import Assembly, ExistingLogs, existing_topics, feature_records, replication_configs
from kmirror.client.consumer import ConsumerRecord
from kmirror.cluster.authorizer import Authorizer
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.clock import MILLISECOND, SECOND, Instant, to_ms
from kmirror.kernel.events import Node
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.listeners import CONTROLLER_NAME, DEFAULT_NAME, Listeners, ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.kernel.uuid import Uuid
from kmirror.kernel.wrapping import WrapNode
from kmirror.log.disk import MEMORY, Disks, MemoryDisk
from kmirror.log.memory_store import MemoryStore
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.message import Message
from kmirror.records.record import RecordData
from kmirror.sim.client import Client
from kmirror.sim.consumer import read
from kmirror.sim.facts import PowerLost
from kmirror.sim.files import ClusterFiles, files_of
from kmirror.sim.pending import Pending, Script, until
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.sim.world import START
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import ELIGIBLE_VERSION, FEATURES, MIRROR_VERSION, TRANSACTION_VERSION
from kmirror.spec.wire_values import IsolationLevel

if TYPE_CHECKING:
    from types import TracebackType

NAME = re.compile(r"[A-Za-z0-9._-]+")
LEVELS = {row.name: (row.minimum, row.maximum) for row in FEATURES}
STOP_WITHIN_S = 310
CLOCK_PPM_MAX = 100_000


class Cluster(ClusterView):
    """Cluster in a simulation; brokers are numbered from 1 to `brokers`, the controller is 100.

    `logs` are placed on the disks, regardless of their age. A cluster with `logs` deletes no log because of its age
    (`log.retention.ms` is -1) unless `configs` sets another value; a cluster without `logs` has Kafka's default of
    seven days of simulated time. Each partition has `replication_factor` replicas, by default three, or one per broker
    if there are fewer. Each broker has `log_dirs` log directories in memory; `disks` instead opens the log directories
    of a node, by its id, each time the node starts, for example as a list of `LogFolder`. `interpose` is called with
    the process name and the node at each start, and returns the node to run instead; `Hooks` is such a function.
    `racks` maps broker ids to `broker.rack`. `listeners` are the listener names of each broker: scripts connect to the
    first, and brokers connect to each other at `inter.broker.listener.name`. `mirror_version`, `transaction_version`
    and `eligible_version` are the levels of `mirror.version`, `transaction.version` and
    `eligible.leader.replicas.version`. Raises UsageError for invalid arguments.
    """

    def __init__(
        self,
        simulation: Simulation,
        name: str,
        *,
        brokers: int = 3,
        replication_factor: int | None = None,
        logs: ExistingLogs | None = None,
        configs: Mapping[str, str] | None = None,
        racks: Mapping[int, str] | None = None,
        mirror_version: int = 1,
        transaction_version: int = 2,
        eligible_version: int = 1,
        on_failure: OnFailure = OnFailure.RAISE,
        authorizer: Authorizer | None = None,
        log_dirs: int = 1,
        disks: Callable[[int], Disks] | None = None,
        listeners: Sequence[str] = (DEFAULT_NAME,),
        interpose: WrapNode | None = None,
    ) -> None:
        arguments.instance("simulation", simulation, Simulation)
        super().__init__(checked_name(name), brokers, replication_factor)
        arguments.whole_number("mirror_version", mirror_version, *LEVELS[MIRROR_VERSION])
        arguments.whole_number("transaction_version", transaction_version, *LEVELS[TRANSACTION_VERSION])
        arguments.whole_number("eligible_version", eligible_version, *LEVELS[ELIGIBLE_VERSION])
        arguments.member("on_failure", on_failure, OnFailure)
        if authorizer is not None and not hasattr(authorizer, "authorize"):
            raise UsageError(f"authorizer needs the methods of Authorizer, which {arguments.shown(authorizer)} lacks")
        if interpose is not None:
            arguments.callback("interpose", interpose)
        if logs is not None and not hasattr(logs, "partitions"):
            raise UsageError(f"logs must come from read_log_dirs(path) or read_sample(), not {arguments.shown(logs)}")
        if logs is not None and disks is not None:
            raise UsageError("logs are copied to disks in memory: give either logs or disks")
        self.simulation = simulation
        self._check_free(f"{name}-client")
        # Real logs are years older than the simulated clock: Kafka would delete them at the first retention check.
        retention_configs = {} if logs is None else {"log.retention.ms": "-1"}
        explicit_configs = {} if configs is None else checked_configs(configs)
        self.configs: dict[str, str] = {
            **replication_configs(self.replication_factor),
            **retention_configs,
            **explicit_configs,
        }
        self.rng = simulation.world.rng.split(f"cluster {name}")
        self.cluster_id = str(Uuid(self.rng.split("cluster id").octets(16)))
        names = checked_listeners(listeners)
        self._listeners = {node_id: self._listeners_of(node_id, names) for node_id in self.node_ids}
        arguments.whole_number("log_dirs", log_dirs, 1)
        in_memory = self.node_ids if disks is None else ()
        self.log_dirs = {node_id: self._memory_disks(node_id, log_dirs) for node_id in in_memory}
        """Log directories in memory, by node id; a controller has one."""
        self._open_disks: Callable[[int], Disks] = self.log_dirs.__getitem__ if disks is None else disks
        self._starts: dict[int, int] = {}
        self._assembly = Assembly(
            cluster_id=self.cluster_id,
            controller_id=self.controller_id,
            listeners=self._listeners,
            configs=self.configs,
            racks=checked_racks(racks, self.broker_ids),
            bootstrap=feature_records(mirror_version, transaction_version, eligible_version)
            + ([] if logs is None else self._place_logs(logs)),
            on_failure=on_failure,
            authorizer=authorizer,
        )
        world = simulation.world
        for node_id in self.node_ids:
            world.add(self.process(node_id), name, self._maker(node_id), self._listeners[node_id], interpose)
        self._client = Client(world, f"{name}-client", name)
        simulation.cluster_names.append(name)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for node_id in (*self.broker_ids, self.controller_id):
            if self.runs(node_id):
                self.kill(node_id)

    # -- nodes --------------------------------------------------------------------------------

    def _check_free(self, client: str) -> None:
        """Raise UsageError if a name of this cluster is already used in this simulation."""
        used_names = {*self.simulation.cluster_names, *self.simulation.world.processes}
        for name in (self.name, *self._processes.values(), client):
            if name in used_names:
                text = f"there is a {name!r} in this simulation already: give cluster {self.name!r} another name"
                raise UsageError(text)

    @property
    def client(self) -> Client:
        """Client through which scripts access the cluster; UsageError before the first `start`."""
        if not self._starts:
            raise UsageError(f"cluster {self.name} was not started: use it in a `with` block, or call start()")
        return self._client

    def listeners(self, node_id: int) -> Listeners:
        """Return the listeners of a node; a broker's first listener is on port 9092, the controller's on 9093."""
        self.process(node_id)
        return self._listeners[node_id]

    def _listeners_of(self, node_id: int, names: Sequence[str]) -> Listeners:
        """Return the listeners of a node; those of brokers have `names`, and all but the first start at port 9094."""
        host = self.process(node_id)
        if node_id == self.controller_id:
            return (ListenerSpec.plain(Endpoint(host, 9093), CONTROLLER_NAME),)
        ports = (9092, *range(9094, 9093 + len(names)))
        return tuple(ListenerSpec.plain(Endpoint(host, port), name) for port, name in zip(ports, names, strict=True))

    def _node_rng(self, node_id: int) -> Rng:
        # A restarted process must not draw the same random numbers again.
        start = self._starts[node_id] = self._starts.get(node_id, 0) + 1
        return self.rng.split(f"node {node_id} start {start}")

    def _maker(self, node_id: int) -> Callable[[], Node]:
        def make() -> Node:
            node = self._assembly.node(node_id, self._open_disks(node_id), self._node_rng(node_id))
            self._register(node_id, node)
            return node

        return make

    def _place_logs(self, logs: ExistingLogs) -> list[Message]:
        """Put real segment files on the disks; return the metadata records that create their topics."""
        records, placed = existing_topics(
            logs,
            self.broker_ids,
            self.replication_factor,
            lambda topic: Uuid(self.rng.split(f"topic {topic}").octets(16)),
            lambda tp, broker_id: self._directory_for(tp, broker_id).directory_id,
        )
        for tp, files in logs.partitions.items():
            store = MemoryStore.from_files(dict(files.segments), dict(files.files))
            for replica in placed[tp]:
                self._directory_for(tp, replica).put(tp, store.fork())
        return records

    def _directory_for(self, tp: TopicPartition, broker_id: int) -> MemoryDisk:
        """Return the log directory of a broker for a partition; directories are used in turn."""
        disks = self.log_dirs[broker_id]
        return disks[tp.partition % len(disks)]

    def _memory_disks(self, node_id: int, count: int) -> list[MemoryDisk]:
        """Return the empty log directories of a node; their file times come from the node's clock."""
        world, name = self.simulation.world, self.process(node_id)

        def clock() -> int:
            return to_ms(world.processes[name].local(world.now))

        disks = []
        for number in range(1 if node_id == self.controller_id else count):
            rng = self.rng.split(f"directory {number} of node {node_id}")
            log_dir = MEMORY if count == 1 else f"{MEMORY}-{number}"
            disks.append(MemoryDisk(log_dir, Uuid(rng.octets(16)), clock=clock))
        return disks

    def fail_log_dir(self, broker_id: int, number: int, error: OSError | None = None) -> None:
        """Make all writes to a broker's log directory `log_dirs[broker_id][number]` fail from now on.

        The broker takes the directory offline when it notices the failure, and again after each restart until
        `mend_log_dir`.
        """
        disk = self._memory_disk(broker_id, number)
        error = error or OSError(errno.EIO, "Input/output error", disk.log_dir)
        self.simulation.world.trace.add(self.simulation.world.now, self.process(broker_id), f"{disk.log_dir} fails")
        disk.fail(error)

    def mend_log_dir(self, broker_id: int, number: int) -> None:
        """Repair a directory after `fail_log_dir`, with its earlier data; the broker uses it from its next start."""
        self._memory_disk(broker_id, number).mend()

    def _memory_disk(self, broker_id: int, number: int) -> MemoryDisk:
        self._check_is_broker(broker_id)
        if not self.log_dirs:
            raise UsageError("log directories can fail only with disks in memory: leave disks out")
        disks = self.log_dirs[broker_id]
        return disks[arguments.whole_number("number", number, 0, len(disks) - 1)]

    def start(self) -> None:
        """Start every node and wait until each partition has a leader and a full ISR.

        Raises UsageError if a node is already running: `stop` and the end of a `with` block end all nodes, `restart`
        starts a single one.
        """
        world = self.simulation.world
        self._check_may_start()
        world.start(self.process(self.controller_id))
        for broker_id in self.broker_ids:
            world.start(self.process(broker_id))
        world.run_until(self.is_settled, within_us=60 * SECOND, what=f"cluster {self.name} to come up")

    def stop(self, node_id: int | None = None) -> None:
        """Shut down a node cleanly and wait for it; without an id, all running nodes, the controller last.

        A broker first hands over its leaderships. The disks are kept, and `start` uses them again. Raises UsageError if
        the given node is not running.
        """
        # A broker waits five minutes for a controller that does not respond.
        self.begin_stop(node_id).result(within_s=STOP_WITHIN_S * len(self.broker_ids))

    def begin_stop(self, node_id: int | None = None) -> Pending[None]:
        """Begin a clean shutdown of a node, or of all running nodes; UsageError if the given node is not running."""
        if node_id is not None:
            self._check_runs(node_id)
        nodes = [n for n in (*self.broker_ids, self.controller_id) if self.runs(n)] if node_id is None else [node_id]
        world = self.simulation.world

        async def stop() -> None:
            for each in nodes:
                if self.runs(each):  # Otherwise it was killed meanwhile.
                    world.stop(self.process(each))
                await until(world, lambda each=each: not self.runs(each))  # type: ignore[misc]

        def remaining() -> str:
            return "the end of " + ", ".join(self.process(each) for each in nodes if self.runs(each))

        return Pending(world, f"a clean stop in {self.name}", stop(), remaining)

    def kill(self, node_id: int, *, power_cut: bool = False) -> None:
        """Kill a node's process; its disk is kept, except for unflushed data at a `power_cut`.

        Raises UsageError if it is not running.
        """
        self._check_runs(node_id)
        if power_cut and not self.log_dirs:
            raise UsageError("power_cut works with disks in memory only: leave out power_cut or disks")
        world, name = self.simulation.world, self.process(node_id)
        with world.one_event():  # A watcher that restarts the killed node must find the disk as it is after the loss.
            world.kill(name)
            if power_cut:
                rng = self.rng.split(f"power cut of node {node_id} in start {self._starts[node_id]}")
                lost_bytes = sum(disk.cut_power(rng) for disk in self.log_dirs[node_id])
                world.trace.add(world.now, name, f"lost {lost_bytes} bytes")
                world.tell(name, PowerLost(lost_bytes))

    def set_clock(self, node_id: int, *, ahead_ms: int = 0, ppm: int = 0) -> None:
        """Set the clock error of a node: `ahead_ms` ahead (negative: behind), gaining `ppm` microseconds per second.

        Without arguments the clock is right again. A clock never goes back while its node runs: such a change takes
        effect at the next start. A node has one clock, for record timestamps and for measuring time. The controller
        measures broker sessions with it, so a jump of more than `broker.session.timeout.ms` ends all sessions and
        fences every broker at once, each until its next heartbeat. Kafka uses a monotonic clock for sessions, which
        does not jump with the system clock.
        """
        world = self.simulation.world
        arguments.whole_number("ppm", ppm, -CLOCK_PPM_MAX, CLOCK_PPM_MAX)
        world.set_clock(self.process(node_id), ahead=ahead_ms * MILLISECOND, ppm=ppm)

    def restart(self, node_id: int) -> None:
        """Start a killed or stopped node with its disk; UsageError if it is running, or was never started."""
        self._check_may_restart(node_id)
        self.simulation.world.start(self.process(node_id))

    def _now(self) -> Instant:
        return self.simulation.world.now

    def _runner_metrics(self, node_id: int) -> RunnerMetrics:
        return self.simulation.world.processes[self.process(node_id)].runner_metrics

    def runs(self, node_id: int) -> bool:
        """Return whether a node is running."""
        return self.simulation.world.runs(self.process(node_id))

    def produce(self, topic: str, partition: int, values: Sequence[bytes]) -> int:
        """Write `values` as one batch with acks=all and return the offset of the first; KafkaError if rejected.

        A value of None is a null value; use `Producer.send` for keys and headers.
        """
        tp = TopicPartition(arguments.text("topic", topic), partition)
        return Producer(self).send(
            {tp: [RecordData(value=value) for value in arguments.items("values", values, "bytes")]}
        )[tp]

    def read(
        self, tp: TopicPartition, *, isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    ) -> list[ConsumerRecord]:
        """Return all records that a consumer can read from a partition now; KafkaError if it does not exist."""
        return read(self, tp, isolation)

    def create_topic(self, topic: str, partitions: int = 1, *, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until each partition has a leader; KafkaError if rejected.

        With -1 `partitions`, the partition count is `num.partitions`.
        """
        self.begin_create_topic(topic, partitions, configs=configs).result()

    def begin_create_topic(
        self, topic: str, partitions: int = 1, *, configs: Mapping[str, str] | None = None
    ) -> Pending[None]:
        """Begin to create a topic; done when each partition has a leader."""
        explicit_configs = {} if configs is None else arguments.configs(configs)
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=topic,
                    num_partitions=partitions,
                    replication_factor=self.replication_factor,
                    configs=[CreatableTopicConfig(name=n, value=v) for n, v in explicit_configs.items()],
                )
            ]
        )
        return Pending(
            self.simulation.world,
            f"topic {topic} in {self.name}",
            self._creating(topic, request),
            lambda: "; ".join(["leaders of its partitions", *self.awaited_sessions()]),
        )

    async def _creating(self, topic: str, request: CreateTopicsRequest) -> None:
        reply = await self.ordering(request)
        assert isinstance(reply, CreateTopicsResponse)
        code = ErrorCode(reply.topics[0].error_code)
        if code:
            reason = reply.topics[0].error_message or code.text
            raise self.kafka_error(code, f"cannot create topic {topic}: {code.name}: {reason}")
        await until(
            self.simulation.world,
            lambda: topic in self.image.topics and all(self.leader(tp) is not None for tp in self.partitions([topic])),
        )

    def order(self, request: Message) -> Message:
        """Send `request`, such as CreateTopics, to the cluster and return the response, even if it is an error.

        Raises KafkaError with REQUEST_TIMED_OUT if there is no response, for example while the controller is down, and
        UsageError for a request that is not decided by the controller: `client.call` sends any other request to one
        broker.
        """
        return self.client.order(self._servers(), request)

    def begin_order(self, request: Message) -> Pending[Message]:
        """Begin to send `request` to the cluster; the result is the response, even if it is an error."""
        return self.client.begin_order(self._servers(), request)

    def ordering(self, request: Message) -> Script[Message]:
        """Send `request` to the cluster; the coroutine form, for use in longer scripts."""
        return self.client.ordering(self._servers(), request)

    def _servers(self) -> list[Endpoint]:
        return self.endpoints() or [self.endpoint(broker_id) for broker_id in self.broker_ids]

    # -- inspection ---------------------------------------------------------------------------

    def files(
        self, *, brokers: Collection[int] | None = None, partitions: Collection[TopicPartition] | None = None
    ) -> ClusterFiles:
        """Return the contents that the brokers' log folders would have after a shutdown now; the cluster keeps running.

        `brokers` and `partitions` select a part; UsageError for an unknown one, and for an empty selection.
        `kmirror.write_log_dirs` writes the result to folders that Kafka's brokers and tools can open.
        """
        return files_of(self, brokers, partitions)

    def session_ends_s(self, broker_id: int) -> float | None:
        """Return when a broker's session ends without a further heartbeat, in seconds since the run began.

        Until then a killed broker counts as alive: it remains a leader, and others wait for it. None if the broker is
        fenced, or while the controller is not running. Raises UsageError if there is no such broker.
        """
        self._check_is_broker(broker_id)
        if not self.runs(self.controller_id):
            return None
        ends_at = self.controller.sessions.ends_at(broker_id)
        return None if ends_at is None else (ends_at - START) / SECOND

    def awaited_sessions(self) -> list[str]:
        """Describe the session end of each broker that counts as alive but is not running or sends no heartbeats.

        A broker that was killed and restarted sends no heartbeats until its former session has ended. While the
        controller is not running, the only text says so: then no session ends, and no admin request is executed.
        """
        if not self.runs(self.controller_id):
            return [f"the controller of {self.name} does not run"]
        found = []
        for broker_id in self.broker_ids:
            end = self.session_ends_s(broker_id)
            if end is None:
                continue
            configs = self.controller.context.configs
            session_ms = configs.integer("broker.session.timeout.ms")
            silent_s = self.simulation.elapsed_s - (end - session_ms / 1000)
            is_silent = silent_s > 2 * configs.integer("broker.heartbeat.interval.ms") / 1000
            if is_silent or not self.runs(broker_id):
                state = "is not heard from" if self.runs(broker_id) else "does not run"
                found.append(f"broker {broker_id} of {self.name} {state}, and its session ends at {end:.3f} s")
        return found

    def kafka_error(self, code: ErrorCode, text: str) -> KafkaError:
        """Return the error for a response with `code`; its text contains seed and virtual time."""
        return self.simulation.kafka_error(code, text)


def checked_name(name: object) -> str:
    """Return the name of a cluster; UsageError if it cannot be part of its brokers' addresses."""
    if not NAME.fullmatch(arguments.text("name", name)):
        raise UsageError(f"a cluster's name is part of its brokers' addresses: letters, digits, ., _, -; not {name!r}")
    return str(name)
