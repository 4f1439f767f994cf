"""`InsideLooks`: all looks inside nodes, and the events at which they run."""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.facts import BrokerFenced
from kmirror.cluster.controller.sessions import SHUTS_DOWN
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.facts import LogCompacted
from kmirror.histories.inside.answers import AnswerLook
from kmirror.histories.inside.cleaning import CleaningLook
from kmirror.histories.inside.controllers import ControllerLook
from kmirror.histories.inside.fetchers import FetchLook
from kmirror.histories.inside.frames import FrameLook, Frames
from kmirror.histories.inside.groups import GroupLook
from kmirror.histories.inside.kept_states import KeptStates
from kmirror.histories.inside.logs import LogLook
from kmirror.histories.inside.matching import MatchingLook
from kmirror.histories.inside.metrics import MetricsLook
from kmirror.histories.inside.mirroring import MirroringLook
from kmirror.histories.inside.moved import Moved
from kmirror.histories.inside.offsets import OffsetLook
from kmirror.histories.inside.producers import ProducerLook
from kmirror.histories.inside.refusals import RefusalLook
from kmirror.histories.inside.registrations import RegistrationLook
from kmirror.histories.inside.replication import ReplicationLook
from kmirror.histories.inside.retention import RetentionLook
from kmirror.histories.inside.rules import Look, Rules
from kmirror.histories.inside.sessions import SessionLook
from kmirror.histories.inside.source_news import SourceNewsLook
from kmirror.histories.inside.syncs import SyncLook
from kmirror.histories.inside.transactions import TransactionLook
from kmirror.histories.inside.views import view_of
from kmirror.histories.inside.works import WorkLook
from kmirror.histories.scene import Scene
from kmirror.mirror.syncs.report import SyncProblem
from kmirror.spec.topics import TRANSACTION_TOPIC

AWAY_EVERY = 300
"""Number of events between two looks at replicas outside the ISR."""
MIRRORS_EVERY = 150
"""Number of events between two looks at the metrics of mirrors, at the broker that handled the event."""
NODES_EVERY = 1_500
"""Number of events between two looks at the metrics of nodes."""
TURNS = 16
"""Number of broker events after which the turns of all looks repeat: a multiple of the `EVERY` of each."""


class InsideLooks:
    """Runs the looks on the node that has just handled an event."""

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
        """Cluster to that image's contents at the last look."""
        rules = Rules(scene)
        self._moved = Moved()
        self._sessions = SessionLook(scene, rules)
        self._controllers = ControllerLook(scene, rules)
        self._syncs = SyncLook(scene, rules)
        self._metrics = MetricsLook(scene, rules)
        self._answers = AnswerLook(scene, rules, self._nodes, self._syncs.stop_ordered)
        self._works = WorkLook(scene, rules)
        self._kept_states = KeptStates(scene, rules)
        mirroring = MirroringLook(scene, rules)
        groups, offsets = GroupLook(scene, rules), OffsetLook(scene, rules)
        registrations, source_news = RegistrationLook(scene, rules), SourceNewsLook(scene, rules, self._nodes)
        transactions, self._cleaning = TransactionLook(scene, rules), CleaningLook(scene, rules)
        replication, matching = ReplicationLook(scene, rules), MatchingLook(scene, rules)
        self._at_moves = replication.moved, matching.moved, mirroring.moved
        logs = LogLook(scene, rules, {TRANSACTION_TOPIC: transactions.log_read}, self._cleaning.log_read)
        at_brokers: list[Look] = [
            groups, offsets, self._syncs, logs, transactions, mirroring.mirrored,
            RetentionLook(scene, rules), source_news,
        ]  # fmt: skip
        self._turns = [[look.broker_handled for look in at_brokers if not turn % look.EVERY] for turn in range(TURNS)]
        """Looks at a broker, by the number of its event modulo TURNS."""
        self._at_controllers: list[Look] = [replication, self._syncs, mirroring, registrations, source_news]
        producers, fetchers = ProducerLook(scene, rules), FetchLook(scene, rules)
        refusals = RefusalLook(scene, rules)
        frame_looks: list[FrameLook] = [
            groups, offsets, producers, refusals, fetchers, transactions, self._answers, registrations, source_news
        ]  # fmt: skip
        self._frames = Frames(scene, rules, self._nodes, frame_looks)
        self.state_entered = self._sessions.state_entered
        self.look_at_replicas = self._sessions.look_at_replicas
        self.log_cut, self.topic_deleted = mirroring.log_cut, mirroring.topic_deleted

    def attach(self) -> None:
        """Begin to look."""
        for name, cluster in self._scene.clusters.items():
            self._images[name] = self._scene.image(name)
            self._views[name] = view_of(self._images[name], None)
            for node_id in (CONTROLLER_ID, *cluster.broker_ids):
                self._nodes[cluster.process(node_id)] = name, node_id
        self._world.on_frame.append(self._frames.on_frame)
        self._works.attach(self._nodes)

    def on_fact(self, process: str, fact: object) -> None:
        """Check a fact that a node has just reported."""
        found = self._nodes.get(process)
        if found is None:
            return
        cluster, node_id = found
        if isinstance(fact, BrokerFenced) and fact.why == SHUTS_DOWN:
            self._controllers.may_shut_down(cluster, fact.broker_id)
        elif isinstance(fact, LogCompacted):
            self._cleaning.compacted(cluster, node_id, fact)
        elif isinstance(fact, SyncProblem):
            self._syncs.problem_reported(cluster, node_id, fact)

    def after_event(self) -> None:
        """Check the node that has handled the event, if it still runs."""
        self._events += 1
        if not self._events % AWAY_EVERY:
            self._look_at_away()
        process = self._world.handled_by
        node = None if process is None else process.inside
        if process is None or node is None or process.name not in self._nodes:
            return
        name, _ = self._nodes[process.name]
        if isinstance(node, Broker):
            self._look_at_broker(name, node)
        else:
            self._look_at_controller(name, self._scene.image(name))
            self._answers.look_at_waiting(name)

    def _look_at_broker(self, name: str, broker: Broker) -> None:
        moved = self._moved.look(name, broker)
        for at_moves in self._at_moves if moved else ():
            at_moves(name, broker, moved)
        self._broker_events += 1
        for handled in self._turns[self._broker_events % TURNS]:
            handled(name, broker)
        if not self._events % MIRRORS_EVERY:
            self._metrics.look_at_mirrors(name, broker)
        if not self._events % NODES_EVERY:
            self._metrics.look_at_nodes(name, broker)
            self._controllers.look_at_broker(name, broker)

    def _look_at_controller(self, name: str, image: MetadataImage) -> None:
        before = self._views[name]
        if image is not self._images[name]:
            self._images[name] = image
            self._views[name] = after = view_of(image, None)
            self._controllers.restarted(name, before, after)
        elif image.offset != before.offset:
            self._views[name] = after = view_of(image, before)
            self._controllers.changed(name, before, after)
            for look in self._at_controllers:
                look.controller_handled(name, before, after)

    def look_at_rest(self) -> None:
        """Check every node once more, when everything has settled."""
        for name, cluster in self._scene.clusters.items():
            for broker_id in cluster.living():
                broker = cluster.broker(broker_id)
                self._metrics.look_at_mirrors(name, broker)
                self._metrics.look_at_nodes(name, broker)
                self._controllers.look_at_broker(name, broker)
                self._controllers.look_at_directories(name, broker)
                self._kept_states.look_at_rest(name, broker_id)

    def _look_at_away(self) -> None:
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
                self._sessions.look_at_away(name, leader)
