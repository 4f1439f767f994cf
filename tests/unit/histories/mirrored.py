"""A mirrored partition for tests: its leader and its followers in cluster a, its source in cluster b."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.mirrored_partitions import Judge, PartitionSnapshot
from kmirror.histories.plan import ClusterPlan
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.mirror.cut_rules import Uncut
from kmirror.mirror.lineage import OWN_LINEAGE, Lineage, single_stretch
from kmirror.mirror.naming import Assignment
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.states import MirrorState, Wish
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from tests.unit.histories.monitors import TP, FakeScene, broken_rules, rules_of

TOPIC_ID = Uuid(bytes(15) + b"\x07")


def batch(offset: int, epoch: int, value: bytes = b"v", *, producer_id: int = -1) -> bytes:
    """Return a batch of two records, in a transaction if a producer is given."""
    own: dict[str, Any] = {} if producer_id < 0 else {"producer_id": producer_id, "producer_epoch": 0}
    if own:
        own |= {"base_sequence": offset, "is_transactional": True}
    rows = [RecordData(value=value)] * 2
    return build_batch(rows, base_offset=offset, partition_leader_epoch=epoch, **own)


class MirroredStage:
    """Broker 1 leads in cluster a, brokers 2 and 3 follow; broker 1 of cluster b leads the source's log."""

    def __init__(self) -> None:
        self.scene = FakeScene()
        self.rules = rules_of(self.scene)
        self.disks = {(name, node): MemoryDisk() for name in "ab" for node in (1, 2, 3)}
        self.scene.clusters = {
            name: SimpleNamespace(
                cluster_id=f"id-{name}", log_dirs={node: [self.disks[name, node]] for node in (1, 2, 3)}, living=list
            )
            for name in "ab"
        }
        self.scene.plan = replace(self.scene.plan, clusters=tuple(ClusterPlan(name, 1, 1) for name in "ab"))
        self.scene.mirror_context = lambda *_: None
        self.topics = {TP.topic: SimpleNamespace(topic_id=TOPIC_ID)}
        """Topics in the controllers' images."""
        self.scene.image = lambda cluster: SimpleNamespace(topics=self.topics)
        self.scene.release = lambda *_: ""
        self.scene.local_time = lambda *_: self.scene.now
        self.leaders = {name: self._leader(name) for name in "ab"}
        self.scene.leader = lambda name, tp: self.leaders[name]
        self.mp = MirrorPartition(TP, TOPIC_ID, Assignment("m", Wish.MIRROR))
        source = SimpleNamespace(cluster_id="id-b", topics={TP.topic: SimpleNamespace(topic_id=TOPIC_ID)})
        self.context: Any = SimpleNamespace(
            assignments={},
            sources={"m": source},
            writers_of=lambda tp: single_stretch("id-b"),
            source_writers_of=lambda mp: mp.source_lineage,
        )
        self.before: PartitionSnapshot | None = None

    def _leader(self, name: str) -> Partition:
        log = self.log(name, 1)
        partition = Partition(1, TP, TOPIC_ID, log)
        partition.apply(
            0, PartitionImage(replicas=(1, 2, 3), isr=(1, 2, 3), leader=1, leader_epoch=0, partition_epoch=0)
        )
        return partition

    @property
    def leader(self) -> Partition:
        """The leader of the mirrored partition."""
        return self.leaders["a"]

    def log(self, name: str, node: int) -> PartitionLog:
        """Return the log of a broker."""
        return PartitionLog.open(TP, self.disks[name, node].open(TP), LogConfig(), now_ms=0)

    def fill(self, log: PartitionLog, *batches: bytes) -> None:
        """Append batches, and commit them."""
        for data in batches:
            log.append_as_follower(data, max_epoch=99)
        log.update_high_watermark(log.log_end_offset)

    def lead_in(self, epoch: int, name: str = "a") -> None:
        """Change the leader's epoch."""
        found = self.leaders[name]
        found.apply(0, replace(found.image, leader_epoch=epoch, partition_epoch=found.image.partition_epoch + 1))

    def snapshot(self, state: MirrorState, *, uncut: Uncut | None = None, lineage: Lineage = OWN_LINEAGE,
             stop: StopPlan | None = None, cut_at: int | None = None,
             busy: bool = False) -> PartitionSnapshot:  # fmt: skip
        """Return the current state of the partition."""
        mp, leader = self.mp, self.leader
        mp.state, mp.lineage, mp.stop, mp.cut_at = state, lineage, stop, cut_at
        mp.uncut = mp.uncut if uncut is None else uncut
        return PartitionSnapshot(
            "a", self.context, mp, leader, state, mp.uncut, lineage, stop, cut_at, busy, leader.required_cuts,
            mp.caught_up_ms, leader.log.log_end_offset,
        )  # fmt: skip

    def judge(self, judge: Judge, state: MirrorState, **more: Any) -> list[str]:
        """Let a judge check the current state of the partition, and return the rules broken until now."""
        now = self.snapshot(state, **more)
        judge(now, self.before)
        self.before = now
        return broken_rules(self.scene)
