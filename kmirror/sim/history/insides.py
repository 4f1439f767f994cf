"""What has to hold inside a cluster at any time, though a client may never see that it does not.

A rule of replication that is broken loses records only once the right node dies in the right moment. The rule itself is
broken in many more histories. So it is looked at here, from outside of the code that keeps it: in every few events what
leaders and their followers hold, and where logs are looked at anyway, what a log remembers of its batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.compare import compare, parting
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.facts import StateEntered
from kmirror.mirror.states import MirrorState
from kmirror.records.control import ControlType
from kmirror.sim.history.account import Broken
from kmirror.sim.history.returning import would_differ
from kmirror.sim.history.scene import Scene
from kmirror.sim.history.stores import end_of, stores_of
from kmirror.sim.history.survivors import may_be_compacted

ALL_REPLICAS = "mirror.support.unclean.leader.election"
EVERY, AWAY_EVERY = 10, 300
"""Events from one look to the next at what leaders and followers hold, and at replicas that are away."""
LOSES_POWER = ("lose_power", "lose_site_power")
MARKERS = (ControlType.COMMIT, ControlType.ABORT)


@dataclass(frozen=True, slots=True)
class _Held:
    """What a leader held at the last look."""

    image: PartitionImage
    topic_id: Uuid
    broker_epoch: int
    min_isr: int
    high_watermark: int


class InsideLooks:
    """Writes down which rules are broken, each once for a partition."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._events = 0
        self._held: dict[tuple[str, TopicPartition], _Held] = {}
        self._ends: dict[tuple[str, int, TopicPartition], int] = {}
        """Log ends of living brokers by (cluster, broker, partition)."""
        self._mirrored_in: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """Leader epoch and log end with which a partition became MIRRORING last."""
        self._keeps_disks = not any(
            step.action in LOSES_POWER or step.args.get("do") in LOSES_POWER for step in scene.plan.steps
        )

    def after_event(self) -> None:
        """Look at the leaders of all partitions, in every few events."""
        self._events += 1
        if self._events % EVERY:
            return
        self._ends.clear()
        for name, cluster in self._scene.clusters.items():
            leaders: list[Partition] = []
            image = self._scene.image(name)
            for broker_id in cluster.living():
                for tp, partition in cluster.broker(broker_id).parts.replicas.partitions.items():
                    self._ends[name, broker_id, tp] = partition.log.log_end_offset
                    if partition.image.leader == broker_id:
                        known = image.partition(tp)
                        if known is not None and known.leader_epoch == partition.image.leader_epoch:
                            leaders.append(partition)
            for leader in leaders:
                self._note(name, leader, self._broken_by(name, leader))
                if not self._events % AWAY_EVERY and len(leader.image.isr) < len(leader.image.replicas):
                    self._look_at_away(name, leader)

    def state_entered(self, cluster: str, leader: Partition, fact: StateEntered) -> None:
        """Look at a leader that has just come to a state of the mirror."""
        key = cluster, leader.tp
        if fact.state is MirrorState.MIRRORING:
            self._mirrored_in[key] = leader.leader_epoch, leader.log.log_end_offset
            if fact.last_mirrored_epoch >= 0:  # D23
                text = f"MIRRORING with the last mirrored epoch {fact.last_mirrored_epoch} of the session before"
                self._note(cluster, leader, [("last-mirrored-epoch", text)])
        elif fact.state is MirrorState.STOPPED:
            epoch, end = self._mirrored_in.pop(key, (-1, 0))
            if leader.leader_epoch <= epoch and leader.log.log_end_offset != end:  # D36
                text = f"STOPPED in leader epoch {leader.leader_epoch}, in which it was mirrored"
                self._note(cluster, leader, [("stop-epoch", text)])

    def look_at_replicas(self, cluster: str, leader: Partition) -> None:
        """Look whether the ISR of a partition that has just become MIRRORING has what its leader has."""
        for broker_id, replica in self._scene.clusters[cluster].replicas(leader.tp).items():
            is_member = broker_id in leader.isr and broker_id != leader.broker_id
            where = difference(leader, replica) if is_member else ""
            if where:
                text = f"MIRRORING, but broker {broker_id} of the ISR differs: {where}"
                self._note(cluster, leader, [("isr-uncut", text)])
        topic = self._scene.image(cluster).topic_config(leader.tp.topic)
        if topic.get(ALL_REPLICAS) == "true" and len(leader.isr) < len(leader.image.replicas):
            text = f"MIRRORING with ISR {list(leader.isr)} of {list(leader.image.replicas)}, {ALL_REPLICAS} is true"
            self._note(cluster, leader, [("all-replicas", text)])

    def _look_at_away(self, cluster: str, leader: Partition) -> None:
        """Look whether the replicas outside the ISR of a mirrored log would have what its leader has."""
        scene = self._scene
        context = scene.mirror_context(cluster, leader.broker_id)
        mp = None if context is None else context.partitions.get(leader.tp)
        if mp is None or mp.state not in (MirrorState.MIRRORING, MirrorState.PAUSED):
            return
        if not may_be_compacted(scene.plan, scene.account, cluster, leader.tp.topic, scene.now):
            where = would_differ(scene, cluster, leader, mp.assignment.mirror)
            self._note(cluster, leader, [("away-uncut", where)] if where else [])

    def look_at_log(self, cluster: str, leader: Partition) -> None:
        """Look at what a leader's log remembers of its batches."""
        self._note(cluster, leader, _misremembered(leader.log))

    def _note(self, cluster: str, leader: Partition, rules: Iterable[tuple[str, str]]) -> None:
        broken = self._scene.account.broken
        for rule, text in rules:
            key = cluster, leader.tp, rule
            if key not in broken:
                broken[key] = Broken(leader.broker_id, text, self._scene.now)
                self._scene.note(f"{cluster}-{leader.broker_id} {leader.tp}: {text}")

    def _broken_by(self, cluster: str, leader: Partition) -> Iterator[tuple[str, str]]:
        """Yield the rules that a leader breaks."""
        log, image, key = leader.log, leader.image, (cluster, leader.tp)
        broker_epoch = self._broker_epoch(cluster, leader.broker_id)
        start, high_watermark, end = log.log_start_offset, log.high_watermark, log.log_end_offset
        before = self._held.get(key)
        self._held[key] = _Held(image, leader.topic_id, broker_epoch, leader.min_isr, high_watermark)
        if not start <= high_watermark <= end:
            yield "range", f"log start {start}, high watermark {high_watermark}, log end {end}"
        if leader.epoch_start_offset > end:
            yield "epoch-start", f"epoch {image.leader_epoch} begins at {leader.epoch_start_offset}, log end {end}"
        if before is None or before.topic_id != leader.topic_id or before.image.leader_epoch != image.leader_epoch:
            return
        if before.broker_epoch == broker_epoch and before.image.partition_epoch > image.partition_epoch:
            text = f"partition epoch {image.partition_epoch} comes after {before.image.partition_epoch}"
            yield "partition-epoch", text
        # A log that was just emptied has no record that a member could lack, and a power cut takes acknowledged ones.
        if self._keeps_disks and high_watermark > before.high_watermark and high_watermark != start:
            allowed = [(before.image.isr, before.min_isr), (leader.maximal_isr(), leader.min_isr)]
            why = [self._why_not(cluster, leader.tp, high_watermark, *row) for row in allowed]
            if all(why):
                yield "high-watermark", f"the high watermark rose to {high_watermark}: {why[1]}"

    def _broker_epoch(self, cluster: str, broker_id: int) -> int:
        found = self._scene.image(cluster).brokers.get(broker_id)
        return -1 if found is None else found.epoch

    def _why_not(self, cluster: str, tp: TopicPartition, high_watermark: int, isr: Sequence[int], min_isr: int) -> str:
        """Return why an ISR does not allow a high watermark; empty if it does."""
        if len(isr) < min_isr:
            return f"ISR {list(isr)} is smaller than {min_isr}"
        for broker_id in isr:
            end = self._ends.get((cluster, broker_id, tp))
            if end is None:
                end = self._end_on_disk(cluster, broker_id, tp)
            if end is not None and end < high_watermark:
                return f"ISR {list(isr)}, broker {broker_id} has the log end {end}"
        return ""

    def _end_on_disk(self, cluster: str, broker_id: int, tp: TopicPartition) -> int | None:
        """Return where the log of a broker that is down ends; None if it is on none of its disks."""
        stores = stores_of(self._scene.clusters[cluster], broker_id, tp)
        return end_of(stores[0], flushed=False) if stores else None


def _misremembered(log: PartitionLog) -> Iterator[tuple[str, str]]:
    """Yield what a log remembers otherwise than its batches have it: leader epochs, and open transactions."""
    opened: dict[int, int] = {}
    start, is_wrong = log.log_start_offset, False
    for batch in log.batches(start):
        epoch = log.epochs.epoch_for_offset(max(start, batch.base_offset))
        if epoch != batch.partition_leader_epoch and not is_wrong:
            is_wrong = True
            yield "epochs", f"epoch {epoch} at offset {batch.base_offset}, its batch has {batch.partition_leader_epoch}"
        if batch.is_control:
            control = batch.control()
            if control is not None and control.type in MARKERS:
                opened.pop(batch.producer_id, None)
            elif control is not None and control.type is ControlType.MIRROR_PID_RESET:
                opened.clear()
        elif batch.is_transactional:
            opened.setdefault(batch.producer_id, batch.base_offset)
    held = {producer_id: first for first, producer_id in log.producers.ongoing.items()}
    # Where a transaction began below the log start, only the rest of it is seen here.
    begun = {producer_id: first for producer_id, first in opened.items() if held.get(producer_id, start) >= start}
    held = {producer_id: first for producer_id, first in held.items() if first >= start}
    if held != begun:
        yield "transactions", f"open transactions are {held} by producer, the batches say {begun}"
    first = min(opened.values(), default=log.log_end_offset)
    if log.last_stable_offset > first:
        yield "stable", f"last stable offset {log.last_stable_offset}, a transaction is open from {first}"


def difference(leader: Partition, replica: Partition) -> str:
    """Say where a replica's log differs from what its leader has committed; empty if it does not.

    What was appended a moment ago may not have reached the replica, but nothing may be in it that the leader lacks.
    """
    one, other = leader.log, replica.log
    if not one.high_watermark <= other.log_end_offset <= one.log_end_offset:
        return f"log end {other.log_end_offset}, the leader's is {one.log_end_offset}"
    start, until = max(one.log_start_offset, other.log_start_offset), one.high_watermark
    parted = compare(one.batches(start, until), other.batches(start, until)).parted
    if parted is None:
        return ""
    where = f"offset {parting(parted).offset}"
    left, right = parted.expected, parted.found
    if left is None or right is None:
        return f"{where}: only the {'leader' if right is None else 'replica'} has a batch"
    return (
        f"{where}: epoch {right.partition_leader_epoch}, checksum {right.crc:08x}, the "
        f"leader's is of epoch {left.partition_leader_epoch}, checksum {left.crc:08x}"
    )
