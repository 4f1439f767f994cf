"""What has to hold inside a cluster at any time, though a client may never see that it does not.

A rule of replication that is broken loses records only once the right node dies in the right moment. The rule itself is
broken in many more histories. So it is looked at here, from outside of the code that keeps it: in every few events what
leaders and their followers hold, and where logs are looked at anyway, what a log remembers of its batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.records.control import ControlType
from kmirror.sim.history.account import Broken
from kmirror.sim.history.scene import Scene

EVERY = 20
"""Events from one look at what leaders and followers hold to the next."""
LOSES_POWER = ("lose_power", "lose_site_power")
MARKERS = (ControlType.COMMIT, ControlType.ABORT)


@dataclass(frozen=True, slots=True)
class _Held:
    """What a leader held at the last look."""

    image: PartitionImage
    min_isr: int
    high_watermark: int


class InsideLooks:
    """Writes down which rules are broken, each once for a partition."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._events = 0
        self._held: dict[tuple[str, TopicPartition], _Held] = {}
        self._keeps_disks = not any(
            step.action in LOSES_POWER or step.args.get("do") in LOSES_POWER for step in scene.plan.steps
        )

    def after_event(self) -> None:
        """Look at the leaders of all partitions, in every few events."""
        self._events += 1
        if self._events % EVERY:
            return
        for name, cluster in self._scene.clusters.items():
            brokers = {broker_id: cluster.broker(broker_id).parts.replicas for broker_id in cluster.living()}
            image = self._scene.image(name)
            for broker_id, replicas in brokers.items():
                for tp, leader in replicas.partitions.items():
                    known = image.partition(tp)
                    is_leader = leader.is_leader and known is not None and known.leader == broker_id
                    if is_leader and known is not None and known.leader_epoch == leader.leader_epoch:
                        members = {
                            other: found for other in leader.maximal_isr()
                            if other in brokers and (found := brokers[other].partitions.get(tp)) is not None
                        }  # fmt: skip
                        self._note(name, leader, self._broken_by(name, leader, members))

    def look_at_log(self, cluster: str, leader: Partition) -> None:
        """Look at what a leader's log remembers of its batches."""
        self._note(cluster, leader, _misremembered(leader.log))

    def _note(self, cluster: str, leader: Partition, rules: Iterator[tuple[str, str]]) -> None:
        broken = self._scene.account.broken
        for rule, text in rules:
            key = cluster, leader.tp, rule
            if key not in broken:
                broken[key] = Broken(leader.broker_id, text, self._scene.now)
                self._scene.note(f"{cluster}-{leader.broker_id} {leader.tp}: {text}")

    def _broken_by(
        self, cluster: str, leader: Partition, members: Mapping[int, Partition]
    ) -> Iterator[tuple[str, str]]:
        """Yield the rules that a leader breaks; `members` are living ones of its ISR, and those that it proposed."""
        log, image = leader.log, leader.image
        high_watermark, end = log.high_watermark, log.log_end_offset
        before = self._held.get((cluster, leader.tp))
        self._held[cluster, leader.tp] = _Held(image, leader.min_isr, high_watermark)
        if not log.log_start_offset <= high_watermark <= end:
            yield "range", f"log start {log.log_start_offset}, high watermark {high_watermark}, log end {end}"
        if leader.epoch_start_offset > end:
            yield "epoch-start", f"epoch {image.leader_epoch} begins at {leader.epoch_start_offset}, log end {end}"
        if before is None or before.image is not image or high_watermark <= before.high_watermark:
            return
        if len(image.isr) < min(before.min_isr, leader.min_isr):
            yield "min-isr", f"the high watermark rose to {high_watermark} with ISR {list(image.isr)}"
        if not self._keeps_disks or high_watermark == log.log_start_offset:
            return  # What a disk lost was there; a log that begins anew has no record that a member could lack.
        for broker_id, member in members.items():
            member_end = member.log.log_end_offset
            if member.leader_epoch == image.leader_epoch and member_end < high_watermark:
                text = f"broker {broker_id}, in the ISR or proposed for it, has the log end {member_end}"
                yield "high-watermark", f"the high watermark rose to {high_watermark}, but {text}"


def _misremembered(log: PartitionLog) -> Iterator[tuple[str, str]]:
    """Yield what a log remembers otherwise than its batches have it: leader epochs, and open transactions."""
    opened: dict[int, int] = {}
    start, wrong = log.log_start_offset, 0
    for batch in log.batches(start):
        epoch = log.epochs.epoch_for_offset(max(start, batch.base_offset))
        if epoch != batch.partition_leader_epoch and not wrong:
            wrong = 1
            yield "epochs", f"epoch {epoch} at offset {batch.base_offset}, its batch has {batch.partition_leader_epoch}"
        if batch.is_control:
            control = batch.control()
            if control is not None and control.type in MARKERS:
                opened.pop(batch.producer_id, None)
            elif control is not None and control.type is ControlType.MIRROR_PID_RESET:
                opened.clear()
        elif batch.is_transactional:
            opened.setdefault(batch.producer_id, batch.base_offset)
    held = {producer_id: first for first, producer_id in log.producers.ongoing.items() if first >= start}
    if held != {producer_id: first for producer_id, first in opened.items() if first >= start}:
        yield "transactions", f"open transactions are {held} by producer, the batches say {opened}"
    if opened and log.last_stable_offset > min(opened.values()):
        yield (
            "stable",
            f"last stable offset {log.last_stable_offset}, a transaction is open from {min(opened.values())}",
        )
