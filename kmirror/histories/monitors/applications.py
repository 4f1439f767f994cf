"""Rules of `kmirror.client`: one result for each batch, in time, and progress of consumers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kmirror.client.consumer import FetchedRecords
from kmirror.client.positions import Position
from kmirror.histories.account import NO_NODE
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition

ROUNDS = 12
"""Largest number of consecutive rounds without a record while there are records to read and no fault is active."""
SLACK_MS = 1_000


@dataclass(slots=True)
class AwaitedBatch:
    """A batch that an application has sent and that has no result yet."""

    tp: TopicPartition
    until: Instant
    """Latest time at which the application must receive its result."""


class DeliveryMonitor:
    """Judges when the application of one producer receives the results of its batches."""

    def __init__(self, scene: Scene, cluster: str, name: str, *, within_ms: int) -> None:
        self._scene = scene
        self._rules = Rules(scene)
        self._cluster = cluster
        self._name = name
        self._within = (within_ms + SLACK_MS) * MILLISECOND
        self._awaited: dict[int, AwaitedBatch] = {}
        self._count = 0
        self._next: dict[tuple[TopicPartition, int], tuple[int, int]] = {}
        """Newest epoch and its next sequence number, by partition and producer id."""

    def on_sent(self, tp: TopicPartition) -> int:
        """Return the number of a batch that is sent now."""
        self._count += 1
        self._awaited[self._count] = AwaitedBatch(tp, self._scene.now + self._within)
        return self._count

    def on_batch_sent(self, tp: TopicPartition, producer_id: int, epoch: int, sequence: int, count: int) -> None:
        """Check the numbers of a sent batch: new sequence numbers follow each other, from 0 on in each epoch."""
        known, expected = self._next.get((tp, producer_id), (-1, 0))
        if sequence < 0 or epoch < known:
            return
        if epoch > known:
            expected = 0
        if sequence > expected:
            text = f"epoch {epoch} of producer {producer_id} sent sequence {sequence}, expected {expected}"
            self._report(tp, "producer-gap", text)
        self._next[tp, producer_id] = epoch, max(expected, sequence + count)

    def on_delivered(self, number: int, tp: TopicPartition) -> None:
        """Check the result of a batch."""
        found = self._awaited.pop(number, None)
        if found is None:
            self._report(tp, "delivery-twice", "the application received two results for one batch")
        elif self._scene.now > found.until:
            self._report(tp, "delivery-late", "the application received the result of a batch too late")

    def check_overdue(self) -> None:
        """Report batches whose result is overdue."""
        for found in self._awaited.values():
            if self._scene.now > found.until:
                self._report(found.tp, "delivery-late", "the application has not received the result of a batch")

    def _report(self, tp: TopicPartition, rule: str, text: str) -> None:
        self._rules.report(self._cluster, NO_NODE, tp, rule, f"{self._name}: {text}")


class ReadingMonitor:
    """Judges the records that a consumer returns to its application, and its progress while records are available."""

    def __init__(self, scene: Scene, name: str) -> None:
        self._scene = scene
        self._rules = Rules(scene)
        self._name = name
        self._rounds: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """Position, and the number of rounds without progress, by cluster and partition."""

    def on_fetched(self, cluster: str, tp: TopicPartition, found: FetchedRecords) -> None:
        """Check the offsets of the records that the application receives in a round."""
        expected = found.before.offset
        for record in found.records:
            if record.offset < expected:
                text = f"{self._name} receives offset {record.offset}, expected {expected} or later"
                self._rules.report(cluster, NO_NODE, tp, "reader-order", text)
                return
            expected = record.offset + 1
        if found.after.offset < expected:
            text = f"{self._name} has received offset {expected - 1}, but continues at {found.after.offset}"
            self._rules.report(cluster, NO_NODE, tp, "reader-order", text)

    def on_round_ended(
        self,
        cluster: str,
        partitions: Iterable[TopicPartition],
        positions: Mapping[TopicPartition, Position],
        refused: Collection[object],
    ) -> None:
        """Check the positions after a round; rounds during a fault do not count."""
        if self._scene.open_spans:
            return
        for tp in partitions:
            leader, key = self._scene.leader(cluster, tp), (cluster, tp)
            at = positions[tp].offset if tp in positions else -1
            if leader is None or refused or max(at, leader.log.log_start_offset) >= leader.log.last_stable_offset:
                self._rounds.pop(key, None)
                continue
            before, count = self._rounds.get(key, (at, 0))
            count = count + 1 if before == at else 1
            self._rounds[key] = at, count
            if count == ROUNDS:
                text = (
                    f"{self._name} stays at {at} for {ROUNDS} rounds, but the last stable offset is "
                    f"{leader.log.last_stable_offset}"
                )
                self._rules.report(cluster, leader.broker_id, tp, "reader-stands", text)
