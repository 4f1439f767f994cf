"""Observation of a running history: facts, elections, and logs at chosen moments.

No code iterates over all partitions at every event. Nodes report facts; elections are searched for when the
controller's image has changed; logs are read when an order is sent, or a state that ends a session is entered.
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.images import NO_LEADER, PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.account import (
    MISSED,
    Absence,
    Election,
    LogRow,
    ObservedCut,
    ObservedLog,
    ObservedState,
    TopicChange,
    TopicConfigs,
)
from kmirror.histories.compaction import (
    hide_open_transactions,
    keys_missed_by_replica,
    may_be_compacted,
    may_lack_superseding_records,
    unexplained_difference,
    was_away,
)
from kmirror.histories.coordinator_observer import CoordinatorObserver, is_unclean
from kmirror.histories.describing import described
from kmirror.histories.disk_observer import DiskObserver
from kmirror.histories.monitors.difference import find_difference
from kmirror.histories.monitors.node_monitors import NodeMonitors
from kmirror.histories.power_observer import PowerObserver
from kmirror.histories.scene import Scene, Trap
from kmirror.histories.values import ValueReader
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.facts import LogCut, StateEntered
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import MirrorState
from kmirror.mirror.topic_ids import generated_topic_id
from kmirror.sim.world import Process
from kmirror.spec.topics import is_internal

OBSERVED_STATES = ("MIRRORING", "STOPPED")
PROPOSED_FOR_MAX: Duration = 5 * SECOND
"""A proposal for the ISR is answered or sent again within this time."""


class Observer:
    """Records the events of a scene."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._reader = ValueReader()
        self._offsets: dict[str, int] = {}
        self._controllers: dict[str, Process] = {}
        self._checked_events: dict[str, int] = {}
        """Cluster to its controller's event count when its image was last checked."""
        self._known: dict[str, dict[TopicPartition, PartitionImage]] = {}
        self._topics: dict[str, dict[str, Uuid]] = {}
        """Cluster to its current topics with their ids."""
        self._configs: dict[tuple[str, str], dict[str, str]] = {}
        """Last seen configs by (cluster, topic)."""
        self._deleted: dict[tuple[str, str], None] = {}
        """(cluster, topic) of topics that were deleted at least once."""
        self._states: dict[tuple[str, TopicPartition], ObservedState] = {}
        self._awaited: dict[tuple[str, TopicPartition], int] = {}
        """Leader epochs of unclean elections whose leaders have not begun yet."""
        self._absent: dict[tuple[str, TopicPartition, int], Instant] = {}
        """Time since which a replica is outside the ISR, by cluster, partition and replica."""
        self._coordinators = CoordinatorObserver(scene)
        self.disks = DiskObserver(scene, self._mirror_state)
        self._monitors = NodeMonitors(scene)
        self.power = PowerObserver(
            scene, lambda cluster, leader: self._observed_log(cluster, leader, leader.log.log_end_offset)
        )

    def attach(self) -> None:
        """Begin to observe; earlier elections are not recorded."""
        world = self._scene.simulation.world
        world.on_fact.append(self._on_fact)
        for name in self._scene.clusters:
            self._record_elections(name, is_change=False)
            self._controllers[name] = self._scene.process(name, CONTROLLER_ID)
        self._monitors.attach()
        world.after_event.append(self._after_event)

    # -- facts --------------------------------------------------------------------------------

    def _on_fact(self, process: str, fact: object) -> None:
        cluster, _, node = process.rpartition("-")
        if isinstance(fact, LogCut):
            cut = ObservedCut(cluster, fact.tp, int(node), fact.offset, fact.end, fact.why, self._scene.now)
            self._scene.account.cuts.append(cut)
            self._scene.note(str(cut))
            if fact.why.endswith(MISSED):
                self._leader_was_cut(cut)
            leader = self._scene.clusters[cluster].broker(int(node)).parts.replicas.partitions.find_led(fact.tp)
            if leader is not None:
                self._monitors.on_log_cut(cluster, leader, fact)
            self._spring_traps(cluster, fact.tp, "CUT")
        elif isinstance(fact, StateEntered):
            partition = self._scene.clusters[cluster].broker(int(node)).parts.replicas.partitions.find_led(fact.tp)
            end = -1 if partition is None else partition.log.log_end_offset
            if partition is not None:
                self._monitors.on_state_entered(cluster, partition, fact)
            self.record_state(
                ObservedState(
                    cluster,
                    fact.mirror,
                    fact.tp,
                    int(node),
                    fact.state.name,
                    fact.last_mirrored_epoch,
                    end,
                    "",
                    self._scene.now,
                )
            )
            self._spring_traps(cluster, fact.tp, fact.state.name)
        else:
            self._monitors.on_fact(process, fact)

    def _leader_was_cut(self, cut: ObservedCut) -> None:
        """Remove records from earlier logs of this epoch if the leader removes them by the cuts that it missed (D30).

        Until those cuts it serves no reads (D57), so the removed records are not lost.
        """
        account, leader = self._scene.account, self._scene.leader(cut.cluster, cut.tp)
        if leader is None or leader.broker_id != cut.broker:
            return
        leadership = cut.cluster, cut.tp, cut.broker, leader.leader_epoch
        for logs in (account.unclean_leader_logs, account.logs):
            for number, observed in enumerate(logs):
                if (observed.cluster, observed.tp, observed.broker, observed.leader_epoch) == leadership:
                    end = observed.log_end_offset if logs is account.logs else min(observed.log_end_offset, cut.offset)
                    logs[number] = replace(truncated_log(observed, cut.offset), log_end_offset=end)

    def record_state(self, observed: ObservedState) -> None:
        """Record a state if it has changed."""
        key = (observed.cluster, observed.tp)
        before = self._states.get(key)
        if before is not None and _same(before, observed):
            return
        self._states[key] = observed
        scene = self._scene
        scene.account.states.append(observed)
        if before is None or (before.state, before.mirror) != (observed.state, observed.mirror):
            scene.note(
                f"{observed.cluster}-{observed.broker} {observed.tp} in mirror {observed.mirror}: {observed.state}, "
                f"last mirrored epoch {observed.last_mirror_epoch}, log end {observed.destination_offset}"
            )
            if observed.state in OBSERVED_STATES:
                # The event that reported the fact has more actions to carry out first.
                prepared = before is not None and before.state == MirrorState.PREPARING.name
                scene.after(0, lambda: self._check_replicas(observed, prepared=prepared))

    def _check_replicas(self, observed: ObservedState, *, prepared: bool) -> None:
        """Record the logs of a partition, and check its replicas: those in the ISR have cut, the others will."""
        scene, cluster = self._scene, observed.cluster
        self.observe_logs([observed.tp])
        leader = scene.leader(cluster, observed.tp)
        if leader is None or leader.broker_id != observed.broker or observed.state != MirrorState.MIRRORING.name:
            return
        if not may_be_compacted(scene.plan, scene.account, cluster, observed.tp.topic, scene.now):
            self._monitors.check_replicas(cluster, leader, prepared=prepared)

    def _spring_traps(self, cluster: str, tp: TopicPartition, event: str) -> None:
        for trap in [t for t in self._scene.traps if (t.cluster, t.topic, t.event) == (cluster, tp.topic, event)]:
            self._spring(trap, tp)

    def _spring(self, trap: Trap, tp: TopicPartition) -> None:
        self._scene.traps.remove(trap)
        self._scene.after(0, lambda: trap.spring(tp))

    # -- elections ----------------------------------------------------------------------------

    def _after_event(self, now: Instant) -> None:
        checked_events = self._checked_events
        for name, controller in self._controllers.items():
            if controller.events != checked_events.get(name):  # Otherwise its image is unchanged.
                checked_events[name] = controller.events
                if self._scene.image(name).offset != self._offsets[name]:
                    self._record_elections(name, is_change=True)
        self._coordinators.after_event()
        self.power.after_event()
        self._monitors.after_event()
        for name, awaited in list(self._awaited):
            leader = self._scene.leader(name, awaited)
            if leader is not None and leader.leader_epoch >= self._awaited[name, awaited]:
                del self._awaited[name, awaited]
                self._scene.account.unclean_leader_logs.append(
                    self._observed_log(name, leader, leader.log.log_end_offset)
                )
        for trap in list(self._scene.traps):
            if trap.check is not None and (tp := trap.check()) is not None:
                self._spring(trap, tp)

    def _record_elections(self, name: str, *, is_change: bool) -> None:
        scene = self._scene
        image = scene.image(name)
        self._offsets[name] = image.offset
        self._record_topics(name)
        self._coordinators.record_elections(name, image)
        known = self._known.setdefault(name, {})
        for topic in image.topics.values():
            if is_internal(topic.name):
                continue
            was_recreated = (name, topic.name) in self._deleted
            for index, partition in topic.partitions.items():
                tp = TopicPartition(topic.name, index)
                before = known.get(tp)
                if before is partition:
                    continue
                known[tp] = partition
                if before is None and not was_recreated:
                    continue
                if before is not None and is_change:
                    self._record_joiners(name, tp, before, partition)
                    self._record_absences(name, tp, before, partition)
                if before is not None and (not is_change or before.leader_epoch == partition.leader_epoch):
                    continue
                unclean = before is not None and is_unclean(before, partition)
                scene.account.elections.append(
                    Election(name, tp, partition.leader, partition.leader_epoch, unclean, scene.now)
                )
                if unclean:
                    self._awaited[name, tp] = partition.leader_epoch
                prefix = "unclean, " if unclean else ""
                subject = "no leader" if partition.leader == NO_LEADER else f"leader {partition.leader}"
                scene.note(
                    f"{name} {tp}: {subject} ({prefix}epoch {partition.leader_epoch}, ISR {list(partition.isr)})"
                )

    def _record_joiners(self, name: str, tp: TopicPartition, before: PartitionImage, after: PartitionImage) -> None:
        """Record where replicas that join the ISR differ from their leader at this moment."""
        joiners = [broker_id for broker_id in after.isr if broker_id not in before.isr and broker_id != after.leader]
        leader = self._scene.leader(name, tp) if joiners else None
        if leader is None or leader.leader_epoch != after.leader_epoch:
            return
        account, now = self._scene.account, self._scene.now
        if may_be_compacted(self._scene.plan, account, name, tp.topic, now):
            return
        mp = self.mirror_partition(name, tp)
        is_cutting = mp is not None and mp.state in (MirrorState.PREPARING, MirrorState.STOPPING)
        has_cut = any((cut.cluster, cut.tp) == (name, tp) and cut.at > now - PROPOSED_FOR_MAX for cut in account.cuts)
        for broker_id, replica in self._scene.clusters[name].replicas(tp).items():
            if (is_cutting or has_cut) and replica.log.log_end_offset > leader.log.log_end_offset:
                continue  # The leader cut while the proposal was pending; the members of the ISR still have to (D30).
            if mp is not None and replica.log.log_end_offset < leader.log.log_start_offset:
                continue  # Meanwhile the leader began again at the log start of its source.
            difference = find_difference(leader, replica) if broker_id in joiners else ""
            if broker_id in joiners and replica.log.log_end_offset < leader.epoch_start_offset:
                difference = (
                    f"log end {replica.log.log_end_offset}, the leader's epoch begins at {leader.epoch_start_offset}"
                )
            if difference:
                account.differing_joiners.append((name, tp, broker_id, difference, now))

    def _record_absences(self, name: str, tp: TopicPartition, before: PartitionImage, after: PartitionImage) -> None:
        """Record for how long replicas that join the ISR were outside it."""
        for broker_id in after.replicas:
            replica = (name, tp, broker_id)
            if broker_id in before.isr and broker_id not in after.isr:
                self._absent[replica] = self._scene.now
            elif broker_id in after.isr and broker_id not in before.isr:
                since = self._absent.pop(replica, 0)
                self._scene.account.absences.append(Absence(*replica, since, self._scene.now))

    def _record_topics(self, name: str) -> None:
        """Record created and deleted topics, and changed configs."""
        scene, known = self._scene, self._topics.setdefault(name, {})
        found = {t.name: t.topic_id for t in scene.image(name).topics.values() if not is_internal(t.name)}
        for topic in [topic for topic, topic_id in known.items() if found.get(topic) != topic_id]:
            topic_id = known.pop(topic)
            self._record_topic(name, topic, topic_id, exists=False)
            self._monitors.on_topic_deleted(name, topic_id)
            self._deleted[name, topic] = None
            for tp in [tp for tp in self._known[name] if tp.topic == topic]:
                del self._known[name][tp]
                self._awaited.pop((name, tp), None)
        for topic, topic_id in found.items():
            if topic not in known:
                known[topic] = topic_id
                self._record_topic(name, topic, topic_id, exists=True)
                self._configs.pop((name, topic), None)
            configs = scene.image(name).configs.topic(topic)
            if self._configs.get((name, topic)) != configs:
                self._configs[name, topic] = dict(configs)
                scene.account.topic_configs.append(TopicConfigs(name, topic, self._configs[name, topic], scene.now))

    def _record_topic(self, name: str, topic: str, topic_id: Uuid, *, exists: bool) -> None:
        scene = self._scene
        reported = self._reported_id(name, topic, topic_id)
        scene.account.topics.append(TopicChange(name, topic, reported, exists, scene.now))
        if scene.now:
            scene.note(f"{name} {topic}: {f'created with id {reported}' if exists else 'deleted'}")

    def _reported_id(self, name: str, topic: str, topic_id: Uuid) -> str:
        """Return a topic's id as mirrors see it: a derived id if the release reports none (D53)."""
        scene = self._scene
        reported = scene.has_topic_ids(name)
        return str(topic_id if reported else generated_topic_id(scene.clusters[name].cluster_id, topic))

    # -- logs ---------------------------------------------------------------------------------

    def observe_logs(self, partitions: list[TopicPartition]) -> None:
        """Record the leaders' logs of some partitions, in every cluster that has them."""
        for cluster in self._scene.clusters:
            for tp in partitions:
                observed = self.observe_log(cluster, tp)
                if observed is not None:
                    self._scene.account.logs.append(observed)
                self.disks.observe_segments(cluster, tp)
            self._scene.account.described.extend(described(self._scene, cluster, partitions))

    def observe_log(self, cluster: str, tp: TopicPartition) -> ObservedLog | None:
        """Return the log of the leader, or None if there is no leader."""
        leader = self._scene.leader(cluster, tp)
        return None if leader is None else self._observed_log(cluster, leader, leader.log.high_watermark)

    def _observed_log(self, cluster: str, leader: Partition, end: int) -> ObservedLog:
        """Return a leader's log, with the rows below `end`."""
        log = leader.log
        stable = log.last_stable_offset
        return ObservedLog(
            cluster,
            leader.tp,
            leader.broker_id,
            leader.leader_epoch,
            log.log_start_offset,
            stable,
            log.high_watermark,
            log.log_end_offset,
            tuple(self._rows(log, stable, end)),
            self._scene.now,
        )

    def _rows(self, log: PartitionLog, stable: int, end: int) -> list[LogRow]:
        start = log.log_start_offset
        aborted = [(txn.producer_id, txn.first_offset) for txn in log.aborted_transactions(start, stable)]
        batches = (batch for batch in log.batches(start, end))
        return [
            LogRow(
                row.offset,
                row.epoch,
                row.value,
                row.producer_id,
                not row.is_control and not row.is_aborted and row.offset < stable,
                row.crc,
                row.key,
                row.is_tombstone,
            )
            for row in self._reader.rows(batches, aborted)
            if start <= row.offset < end
        ]

    # -- the end ------------------------------------------------------------------------------

    def observe_end(self) -> None:
        """Fill the fields of the account about the end of the history."""
        account = self._scene.account
        for name in self._scene.clusters:
            for tp in self._scene.partitions(name):
                observed = self.observe_log(name, tp)
                if observed is not None:
                    account.final_logs[name, tp] = observed
                self._compare_replicas(name, tp)
            account.described.extend(described(self._scene, name, self._scene.partitions(name)))
        self.observe_topic_ids()
        self._coordinators.record_offsets()
        self.disks.observe_end()
        if not account.unsettled:
            self._monitors.check_settled()

    def _compare_replicas(self, name: str, tp: TopicPartition) -> None:
        leader = self._scene.leader(name, tp)
        if leader is None:
            return
        account = self._scene.account
        compacted = may_be_compacted(self._scene.plan, account, name, tp.topic, self._scene.now)
        if compacted and may_lack_superseding_records(account, (name, tp)):
            return
        for broker_id, replica in self._scene.clusters[name].replicas(tp).items():
            if broker_id != leader.broker_id and broker_id in leader.isr:
                difference = (
                    self._survivors_differ(name, leader, replica) if compacted else find_difference(leader, replica)
                )
                if difference:
                    account.differing_replicas.append((name, tp, broker_id, difference))

    def _survivors_differ(self, name: str, leader: Partition, replica: Partition) -> str:
        """Return where a replica differs from its leader by more than compaction explains; empty if it does not.

        A replica that was away for longer than tombstones stay may have missed some, as in Kafka: only its log keeps
        the records that they delete. It may also have missed a marker. Then its last stable offset does not advance,
        while the other replica cleans by the records above it, until another marker of the producer decides.
        """
        logs, until = (leader.log, replica.log), leader.log.high_watermark
        stable = min(until, max(log.last_stable_offset for log in logs))
        if not until <= replica.log.log_end_offset <= leader.log.log_end_offset:
            return f"log end {replica.log.log_end_offset}, the leader's is {leader.log.log_end_offset}"
        start = max(log.log_start_offset for log in logs)
        scene, tp = self._scene, leader.tp
        ours, theirs = (self._replica_rows(name, each, stable, until) for each in (leader, replica))
        missed = [
            keys_missed_by_replica(scene.plan, scene.account, (name, tp), each.broker_id, scene.now)
            for each in (leader, replica)
        ]
        found = unexplained_difference(ours, theirs, start, until, may_lack_tombstones=(missed[0], missed[1]))
        return "" if found is None else f"offset {found[0]}: {found[2]}, the leader has {found[1]}"

    def _replica_rows(self, name: str, replica: Partition, stable: int, until: int) -> list[LogRow]:
        """Return a replica's records below `until`, with the decided state of those below `stable`."""
        scene, log = self._scene, replica.log
        rows = self._rows(log, stable, until)
        if log.last_stable_offset >= stable:
            return rows
        away = was_away(scene.plan, scene.account, (name, replica.tp), replica.broker_id, scene.now)
        return hide_open_transactions(rows, log.producers.ongoing) if away else rows

    def observe_topic_ids(self) -> None:
        """Record the current topic ids."""
        self._scene.account.topic_ids.clear()
        for name in self._scene.clusters:
            self._record_ids(name)

    def _record_ids(self, name: str) -> None:
        account, cluster = self._scene.account, self._scene.clusters[name]
        for topic in self._scene.image(name).topics.values():
            if is_internal(topic.name):
                continue
            account.topic_ids.append((name, topic.name, self._reported_id(name, topic.name, topic.topic_id)))
            found: dict[str, None] = {}
            for broker_id in cluster.living():
                for tp, partition in cluster.broker(broker_id).parts.replicas.partitions.items():
                    if tp.topic == topic.name and partition.topic_id != topic.topic_id:
                        found[str(partition.topic_id)] = None
            account.topic_ids.extend((name, topic.name, other) for other in found)

    def _mirror_state(self, cluster: str, tp: TopicPartition) -> str:
        mp = self.mirror_partition(cluster, tp)
        return "" if mp is None else MirrorState.UNKNOWN.name if mp.state is None else mp.state.name

    def mirror_partition(self, cluster: str, tp: TopicPartition) -> MirrorPartition | None:
        """Return the leader's state of a mirrored partition, or None without a leader."""
        leader = self._scene.leader(cluster, tp)
        if leader is None:
            return None
        context = self._scene.mirror_context(cluster, leader.broker_id)
        return None if context is None else context.partitions.get(tp)


def truncated_log(observed: ObservedLog, until: int) -> ObservedLog:
    """Return a log without the records from `until` on."""
    return replace(
        observed,
        rows=tuple(row for row in observed.rows if row.offset < until),
        last_stable_offset=min(observed.last_stable_offset, until),
        high_watermark=min(observed.high_watermark, until),
    )


def _same(one: ObservedState, other: ObservedState) -> bool:
    return (one.mirror, one.state, one.last_mirror_epoch, one.broker, one.reason) == (
        other.mirror,
        other.state,
        other.last_mirror_epoch,
        other.broker,
        other.reason,
    )
