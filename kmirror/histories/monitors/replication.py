"""Rules of replication: high watermarks, ISRs, and a leader's knowledge of its followers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import MetadataImage, PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.histories.stores import end_offset, partition_stores
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid

LOSES_POWER = ("lose_power", "lose_site_power", "power")


@dataclass(frozen=True, slots=True)
class _LeaderState:
    """State of a leader after its last event."""

    image: PartitionImage
    topic_id: Uuid
    broker_epoch: int
    min_isr: int
    maximal_isr: tuple[int, ...]
    high_watermark: int


class ReplicationMonitor(Monitor):
    """Judges the partitions that a broker leads, and the ISRs that a controller decides."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._leaders: dict[tuple[str, int, TopicPartition], _LeaderState] = {}
        self._leads: dict[tuple[str, Uuid, int, int], int] = {}
        """Broker that led a partition, by (cluster, topic id, partition, leader epoch)."""
        self._loses_no_power = not scene.plan.steps_that(*LOSES_POWER)

    def on_partitions_changed(self, cluster: str, broker: Broker, partitions: Sequence[Partition]) -> None:
        """Check the partitions of a broker that have changed."""
        broker_id = broker.context.node_id
        for partition in partitions:
            tp, log = partition.tp, partition.log
            if partition.image.leader != broker_id:
                continue
            before = self._leaders.get((cluster, broker_id, tp))
            after = self._leaders[cluster, broker_id, tp] = _LeaderState(
                partition.image,
                partition.topic_id,
                broker.parts.lifecycle.epoch,
                partition.min_isr,
                partition.maximal_isr(),
                log.high_watermark,
            )
            for rule, text in self._violations(cluster, partition, before, after):
                self._rules.report(cluster, broker_id, tp, rule, text)
            current = self._scene.image(cluster).topics.get(tp.topic)
            if current is not None and current.topic_id == partition.topic_id and tp.partition in current.partitions:
                self._check_isr(cluster, partition, current.partitions[tp.partition])

    def controller_handled(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        for name, topic in after.topics.items():
            known = before.topics.get(name)
            if known is topic or known is None or known.topic_id != topic.topic_id:
                continue
            for index, image in topic.partitions.items():
                previous = known.partitions.get(index)
                if previous is not None and previous is not image:
                    tp = TopicPartition(name, index)
                    leader = self._scene.leader(cluster, tp)
                    if leader is None or leader.leader_epoch != image.leader_epoch:
                        continue
                    self._check_isr(cluster, leader, image)
                    for rule, text in self._joiner_violations(leader, previous, image, after):
                        self._rules.report(cluster, image.leader, tp, rule, text)

    # -- leaders ------------------------------------------------------------------------------

    def _violations(
        self, cluster: str, leader: Partition, before: _LeaderState | None, after: _LeaderState
    ) -> Iterator[tuple[str, str]]:
        """Yield the rules that a leader breaks."""
        log, image = leader.log, leader.image
        start, high_watermark, end = log.log_start_offset, log.high_watermark, log.log_end_offset
        leadership = cluster, leader.topic_id, leader.tp.partition, leader.leader_epoch
        if self._leads.setdefault(leadership, leader.broker_id) != leader.broker_id:
            yield "two-leaders", f"broker {self._leads[leadership]} also led in leader epoch {leader.leader_epoch}"
        if not start <= high_watermark <= end:
            yield "range", f"log start {start}, high watermark {high_watermark}, log end {end}"
        if leader.epoch_start_offset > end:
            yield "epoch-start", f"epoch {image.leader_epoch} begins at {leader.epoch_start_offset}, log end {end}"
        for replica, follower in leader.followers.items():
            if follower.log_end > end:
                yield "follower-end", f"log end {end}, but that of broker {replica} is taken as {follower.log_end}"
            is_proposed = replica in after.maximal_isr and replica not in image.isr
            was_proposed = before is not None and replica in before.maximal_isr
            # A leader that has cut its log since does not know the log end of any follower.
            if is_proposed and not was_proposed and 0 <= follower.log_end < leader.epoch_start_offset:
                text = f"broker {replica} with the log end {follower.log_end} should join the ISR"
                yield "isr-join", f"{text}, but the leader's epoch begins at {leader.epoch_start_offset}"
        if before is None or before.topic_id != after.topic_id or before.image.leader_epoch != image.leader_epoch:
            return
        if before.broker_epoch == after.broker_epoch and before.image.partition_epoch > image.partition_epoch:
            text = f"partition epoch {image.partition_epoch} comes after {before.image.partition_epoch}"
            yield "leader-partition-epoch", text
        if image.partition_epoch > before.image.partition_epoch + 1:
            return  # An ISR that was not observed may have allowed the high watermark.
        # An emptied log has no record that a member could lack, and a power cut loses acknowledged ones.
        if self._loses_no_power and high_watermark > before.high_watermark and high_watermark != start:
            allowed = [(before.maximal_isr, before.min_isr), (after.maximal_isr, after.min_isr)]
            reasons = [self._refusal_reason(cluster, leader, high_watermark, *row) for row in allowed]
            if all(reasons):
                yield "high-watermark", f"the high watermark rose to {high_watermark}: {reasons[1]}"

    def _refusal_reason(
        self, cluster: str, leader: Partition, high_watermark: int, isr: Sequence[int], min_isr: int
    ) -> str:
        """Return why an ISR does not allow a high watermark; empty if it does."""
        if len(isr) < min_isr:
            return f"ISR {list(isr)} is smaller than {min_isr}"
        for broker_id in isr:
            end = self._end(cluster, broker_id, leader)
            if end is not None and end < high_watermark:
                return f"ISR {list(isr)}, broker {broker_id} has the log end {end}"
        return ""

    def _end(self, cluster: str, broker_id: int, leader: Partition) -> int | None:
        """Return the log end offset of a broker, even if it is down; None if none of its disks has the log."""
        found, tp = self._scene.clusters[cluster], leader.tp
        if found.runs(broker_id):
            replica = found.broker(broker_id).parts.replicas.partitions.get(tp)
            if replica is not None:
                return replica.log.log_end_offset
        stores = partition_stores(found, broker_id, tp, leader.topic_id)
        return end_offset(stores[0], flushed=False) if stores else None

    # -- controllers --------------------------------------------------------------------------

    def _check_isr(self, cluster: str, leader: Partition, current: PartitionImage) -> None:
        """Check that a leader counts each member of the ISR that the controller has decided in its epoch."""
        uncounted = [member for member in current.isr if member not in leader.maximal_isr()]
        if uncounted and current.leader_epoch == leader.leader_epoch:
            text = f"the ISR is {list(current.isr)}, but the leader has {list(leader.maximal_isr())}"
            self._rules.report(cluster, leader.broker_id, leader.tp, "isr-uncounted", text)

    def _joiner_violations(
        self, leader: Partition, before: PartitionImage, after: PartitionImage, image: MetadataImage
    ) -> Iterator[tuple[str, str]]:
        """Yield the errors in the members that a leader's proposal added to an ISR (KIP-497, KIP-903)."""
        if after.leader_epoch != before.leader_epoch or after.partition_epoch != before.partition_epoch + 1:
            return
        joiners = [member for member in after.isr if member not in before.isr]
        if joiners and leader.image.partition_epoch < before.partition_epoch:
            yield (
                "isr-overtaken",
                f"ISR {list(after.isr)} was decided in partition epoch {leader.image.partition_epoch}, "
                f"but {before.partition_epoch} was the current one",
            )
        for member in joiners:
            broker, follower = image.brokers.get(member), leader.followers.get(member)
            if broker is None or not image.brokers.is_active(member):
                yield "isr-inactive", f"broker {member} joins the ISR, but is not active"
            elif follower is not None and follower.broker_epoch not in (-1, broker.epoch):
                text = f"broker {member} joins the ISR in epoch {broker.epoch}"
                yield "isr-epoch", f"{text}, but its last fetch was in epoch {follower.broker_epoch}"
