"""`NodeMonitors`: all monitors of nodes, and the events at which they check a node."""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.facts import BrokerFenced
from kmirror.cluster.controller.sessions import SHUTS_DOWN
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.facts import LogCompacted
from kmirror.histories.monitors.changed_partitions import ChangedPartitions
from kmirror.histories.monitors.cleaning import CleanerMonitor
from kmirror.histories.monitors.controllers import ControllerMonitor
from kmirror.histories.monitors.fetchers import FetchMonitor
from kmirror.histories.monitors.frames import FrameMonitor, Frames
from kmirror.histories.monitors.groups import GroupMonitor
from kmirror.histories.monitors.jobs import JobMonitor
from kmirror.histories.monitors.logs import LogMonitor
from kmirror.histories.monitors.matching import MatchingMonitor
from kmirror.histories.monitors.metrics import MetricsMonitor
from kmirror.histories.monitors.mirroring import MirroringMonitor
from kmirror.histories.monitors.offsets import OffsetMonitor
from kmirror.histories.monitors.persisted_states import PersistedStateMonitor
from kmirror.histories.monitors.producers import ProducerMonitor
from kmirror.histories.monitors.refusals import RefusalMonitor
from kmirror.histories.monitors.registrations import RegistrationMonitor
from kmirror.histories.monitors.replication import ReplicationMonitor
from kmirror.histories.monitors.responses import ResponseMonitor
from kmirror.histories.monitors.retention import RetentionMonitor
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.monitors.sessions import SessionMonitor
from kmirror.histories.monitors.source_states import SourceStateMonitor
from kmirror.histories.monitors.syncs import SyncMonitor
from kmirror.histories.monitors.transactions import TransactionMonitor
from kmirror.histories.monitors.views import view_of
from kmirror.histories.scene import Scene
from kmirror.mirror.syncs.report import SyncProblem
from kmirror.spec.topics import TRANSACTION_TOPIC

OUTSIDE_ISR_EVERY = 300
"""Number of events between two checks of replicas outside the ISR."""
MIRRORS_EVERY = 150
"""Number of events between two checks of the metrics of mirrors, at the broker that handled the event."""
NODES_EVERY = 1_500
"""Number of events between two checks of the metrics of nodes."""
TURNS = 16
"""Number of broker events after which the turns of all monitors repeat: a multiple of the `EVERY` of each."""


class NodeMonitors:
    """Runs the monitors on the node that has just handled an event."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._world = scene.simulation.world
        self._events = 0
        self._broker_events = 0
        self._nodes: dict[str, tuple[str, int]] = {}
        """Process name to (cluster, node id)."""
        self._images: dict[str, MetadataImage] = {}
        """Cluster to the image that its controller changes."""
        self._views: dict[str, MetadataImage] = {}
        """Cluster to that image's contents at the last check."""
        rules = Rules(scene)
        self._changed_partitions = ChangedPartitions()
        self._sessions = SessionMonitor(scene, rules)
        self._controllers = ControllerMonitor(scene, rules)
        self._syncs = SyncMonitor(scene, rules)
        self._metrics = MetricsMonitor(scene, rules)
        self._answers = ResponseMonitor(scene, rules, self._nodes, self._syncs.on_stop_ordered)
        self._jobs = JobMonitor(scene, rules)
        self._persisted_states = PersistedStateMonitor(scene, rules)
        mirroring = MirroringMonitor(scene, rules)
        groups, offsets = GroupMonitor(scene, rules), OffsetMonitor(scene, rules)
        registrations, source_states = RegistrationMonitor(scene, rules), SourceStateMonitor(scene, rules, self._nodes)
        transactions, self._cleaning = TransactionMonitor(scene, rules), CleanerMonitor(scene, rules)
        replication, matching = ReplicationMonitor(scene, rules), MatchingMonitor(scene, rules)
        self._change_handlers = (
            replication.on_partitions_changed,
            matching.on_partitions_changed,
            mirroring.on_partitions_changed,
        )
        logs = LogMonitor(scene, rules, {TRANSACTION_TOPIC: transactions.on_log_read}, self._cleaning.on_log_read)
        broker_monitors: list[Monitor] = [
            groups, offsets, self._syncs, logs, transactions, mirroring.mirrored,
            RetentionMonitor(scene, rules), source_states,
        ]  # fmt: skip
        self._turns = [
            [monitor.broker_handled for monitor in broker_monitors if not turn % monitor.EVERY] for turn in range(TURNS)
        ]
        """Handlers of a broker's events, by the number of its event modulo TURNS."""
        self._controller_monitors: list[Monitor] = [replication, self._syncs, mirroring, registrations, source_states]
        producers, fetchers = ProducerMonitor(scene, rules), FetchMonitor(scene, rules)
        refusals = RefusalMonitor(scene, rules)
        frame_monitors: list[FrameMonitor] = [
            groups, offsets, producers, refusals, fetchers, transactions, self._answers, registrations, source_states
        ]  # fmt: skip
        self._frames = Frames(scene, rules, self._nodes, frame_monitors)
        self.on_state_entered = self._sessions.on_state_entered
        self.check_replicas = self._sessions.check_replicas
        self.on_log_cut, self.on_topic_deleted = mirroring.on_log_cut, mirroring.on_topic_deleted

    def attach(self) -> None:
        """Begin to check nodes and frames."""
        for name, cluster in self._scene.clusters.items():
            self._images[name] = self._scene.image(name)
            self._views[name] = view_of(self._images[name], None)
            for node_id in (CONTROLLER_ID, *cluster.broker_ids):
                self._nodes[cluster.process(node_id)] = name, node_id
        self._world.on_frame.append(self._frames.on_frame)
        self._jobs.attach(self._nodes)

    def on_fact(self, process: str, fact: object) -> None:
        """Check a fact that a node has just reported."""
        found = self._nodes.get(process)
        if found is None:
            return
        cluster, node_id = found
        if isinstance(fact, BrokerFenced) and fact.why == SHUTS_DOWN:
            self._controllers.check_shutdown(cluster, fact.broker_id)
        elif isinstance(fact, LogCompacted):
            self._cleaning.on_compacted(cluster, node_id, fact)
        elif isinstance(fact, SyncProblem):
            self._syncs.on_problem_reported(cluster, node_id, fact)

    def after_event(self) -> None:
        """Check the node that has handled the event, if it still runs."""
        self._events += 1
        if not self._events % OUTSIDE_ISR_EVERY:
            self._check_outside_isr()
        process = self._world.handled_by
        node = None if process is None else process.inner_node
        if process is None or node is None or process.name not in self._nodes:
            return
        name, _ = self._nodes[process.name]
        if isinstance(node, Broker):
            self._check_broker(name, node)
        else:
            self._check_controller(name, self._scene.image(name))
            self._answers.check_waiting(name)

    def _check_broker(self, name: str, broker: Broker) -> None:
        changed = self._changed_partitions.check(name, broker)
        for handle_change in self._change_handlers if changed else ():
            handle_change(name, broker, changed)
        self._broker_events += 1
        for handled in self._turns[self._broker_events % TURNS]:
            handled(name, broker)
        if not self._events % MIRRORS_EVERY:
            self._metrics.check_mirrors(name, broker)
        if not self._events % NODES_EVERY:
            self._metrics.check_nodes(name, broker)
            self._controllers.check_broker(name, broker)

    def _check_controller(self, name: str, image: MetadataImage) -> None:
        before = self._views[name]
        if image is not self._images[name]:
            self._images[name] = image
            self._views[name] = after = view_of(image, None)
            self._controllers.check_restart(name, before, after)
        elif image.offset != before.offset:
            self._views[name] = after = view_of(image, before)
            self._controllers.check_changes(name, before, after)
            for monitor in self._controller_monitors:
                monitor.controller_handled(name, before, after)

    def check_settled(self) -> None:
        """Check every node once more, when everything has settled."""
        for name, cluster in self._scene.clusters.items():
            for broker_id in cluster.living():
                broker = cluster.broker(broker_id)
                self._metrics.check_mirrors(name, broker)
                self._metrics.check_nodes(name, broker)
                self._controllers.check_broker(name, broker)
                self._controllers.check_directories(name, broker)
                self._persisted_states.check_settled(name, broker_id)

    def _check_outside_isr(self) -> None:
        for name, cluster in self._scene.clusters.items():
            image = self._scene.image(name)
            leaders: list[Partition] = []
            for broker_id in cluster.living():
                for tp, partition in cluster.broker(broker_id).parts.replicas.partitions.items():
                    if partition.image.leader == broker_id and len(partition.image.isr) < len(partition.image.replicas):
                        known = image.topics.partition(tp)
                        if known is not None and known.leader_epoch == partition.image.leader_epoch:
                            leaders.append(partition)
            for leader in leaders:
                self._sessions.check_outside_isr(name, leader)
