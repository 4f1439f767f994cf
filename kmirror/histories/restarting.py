"""Restart at the end of a history: every node stops or is killed, starts again, and its state is compared.

`Plan.restart` has the way in which each node ends. A plan without it has no restart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import KafkaError, SimulationFailure
from kmirror.histories.account import CommittedOffset, Snapshot
from kmirror.histories.observer import Observer
from kmirror.histories.plan import ClusterPlan
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.mirror.naming import MIRROR_NAME
from kmirror.mirror.states import MirrorState
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer

STOP = "stop"
KILL = "kill"
STOP_MS = 6_000
"""Time that a node may take to stop; then it is killed."""
CHECK_MS = 250
REST_MS = 25_000
"""Time within which everything must settle again."""
QUIET_MS = 500
"""Wait before the first snapshot, so that requests of consumers are answered."""


def draw_restart(rng: Rng, clusters: tuple[ClusterPlan, ...]) -> dict[str, str]:
    """Return how each node ends: all nodes of a cluster stop, all are killed, or each at random."""
    found = {}
    for cluster in clusters:
        endings = rng.choice(((STOP,), (KILL,), (STOP, KILL)))
        for node_id in (CONTROLLER_ID, *range(1, cluster.brokers + 1)):
            found[f"{cluster.name}-{node_id}"] = rng.choice(endings)
    return found


@dataclass(slots=True)
class Restart:
    """Restarts all clusters of a scene, and records their state before and after it."""

    scene: Scene
    observer: Observer
    missing: Callable[[], list[tuple[str, TopicPartition, str]]]
    """Returns everything that has not settled."""

    def run(self) -> None:
        """Restart every node; nothing is written meanwhile."""
        account, world = self.scene.account, self.scene.simulation.world
        world.run_for(span_us=QUIET_MS * MILLISECOND)
        account.before_restart = self._snapshot()
        # Other checkers judge only the events before this point.
        parts = account, account.groups
        lists = [rows for part in parts for row in fields(part) if isinstance(rows := getattr(part, row.name), list)]
        judged_lists = [rows for rows in lists if rows is not account.errors_after_restart]
        lengths, unclean_leader_logs = [len(rows) for rows in judged_lists], len(account.unclean_leader_logs)
        self.scene.note("every node is stopped or killed")
        self._stop_nodes(lambda node_id: node_id != CONTROLLER_ID)
        self._stop_nodes(lambda node_id: node_id == CONTROLLER_ID)
        for cluster in self.scene.clusters.values():
            for node_id in (CONTROLLER_ID, *cluster.broker_ids):
                cluster.restart(node_id)
        self.scene.note("every node starts again")
        until = world.now + REST_MS * MILLISECOND
        missing = self._unsettled()
        while missing and world.now < until:
            world.run_for(span_us=CHECK_MS * MILLISECOND)
            missing = self._unsettled()
        account.unclean_leader_logs_after_restart = {
            (successor.cluster, successor.tp): successor
            for successor in account.unclean_leader_logs[unclean_leader_logs:]
        }
        account.unsettled_after_restart = missing
        account.after_restart = self._snapshot()
        if not missing:
            self._write()
        for rows, length in zip(judged_lists, lengths, strict=True):
            del rows[length:]

    def _unsettled(self) -> list[tuple[str, TopicPartition, str]]:
        """Return everything that has not settled; also partitions with an excuse must have read their states."""
        unread = []
        for cluster, tp in self.scene.account.before_restart.states:
            mp = self.observer.mirror_partition(cluster, tp)
            if mp is not None and mp.state is None:
                unread.append((cluster, tp, f"its state has not been read: {mp.reason}"))
        return self.missing() or unread

    def _stop_nodes(self, selects: Callable[[int], bool]) -> None:
        scene = self.scene
        world = scene.simulation.world
        nodes = [
            (cluster, node_id) for cluster in scene.clusters.values()
            for node_id in (CONTROLLER_ID, *cluster.broker_ids)
            if selects(node_id) and cluster.runs(node_id)
        ]  # fmt: skip
        for cluster, node_id in nodes:
            if scene.plan.restart.get(f"{cluster.name}-{node_id}", STOP) == STOP:
                world.stop(cluster.process(node_id))
            else:
                cluster.kill(node_id)
        until = world.now + STOP_MS * MILLISECOND
        while any(cluster.runs(node_id) for cluster, node_id in nodes) and world.now < until:
            world.run_for(span_us=CHECK_MS * MILLISECOND)
        for cluster, node_id in nodes:
            if cluster.runs(node_id):
                scene.note(f"{cluster.name}-{node_id} does not stop in time and is killed")
                cluster.kill(node_id)

    def _snapshot(self) -> Snapshot:
        scene, found = self.scene, Snapshot(at=self.scene.now)
        for name in scene.clusters:
            image = scene.image(name)
            for topic in image.topics.values():
                found.ids[name, topic.name] = str(topic.topic_id)
            for (kind, resource), values in image.configs.items():
                found.configs[name, int(kind), resource] = dict(values)
            for (group, tp), committed in scene.committed_offsets(name).items():
                found.offsets[name, group, tp] = CommittedOffset(*committed)
            for tp in scene.partitions(name):
                log = self.observer.observe_log(name, tp)
                if log is not None:
                    found.logs[name, tp] = log
                mp = self.observer.mirror_partition(name, tp)
                if mp is not None and mp.state is not None:
                    found.states[name, tp] = mp.state.name, max(mp.last_mirrored_epoch, -1)
        return found

    def _takes_writes(self, cluster: str, tp: TopicPartition) -> bool:
        """Return whether a partition is in no mirror, or stopped; one that a mirror has just created has no state."""
        state = self.scene.account.after_restart.states.get((cluster, tp))
        if state is None:
            return MIRROR_NAME not in self.scene.image(cluster).configs.topic(tp.topic)
        return state[0] == MirrorState.STOPPED.name

    def _write(self) -> None:
        """Write with a new producer to each partition that is in no mirror, or stopped."""
        account = self.scene.account
        for name, cluster in self.scene.clusters.items():
            writable = [tp for tp in self.scene.partitions(name) if self._takes_writes(name, tp)]
            if not writable:
                continue
            try:
                producer = Producer(cluster, idempotent=True)
                for tp in writable:
                    producer.send({tp: [RecordData(key=b"restart", value=f"{name} after the restart".encode())]})
            except (KafkaError, SimulationFailure) as error:
                account.errors_after_restart.append((name, str(error)))
