"""Rules of what `kmirror.client` promises to applications: deliveries come once and in time, and reading goes on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kmirror.client.positions import Position
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.history.account import NO_NODE
from kmirror.sim.history.inside.rules import Rules
from kmirror.sim.history.scene import Scene

ROUNDS = 12
"""So many rounds without a record, while there were some to read and nothing was out of order, are too many."""
SLACK_MS = 1_000


@dataclass(slots=True)
class Awaited:
    """A batch that an application has handed over."""

    tp: TopicPartition
    until: Instant
    """When the application has to be given its result."""


class DeliveryLook:
    """Judges when the application of one producer is told what became of its batches."""

    def __init__(self, scene: Scene, cluster: str, name: str, *, within_ms: int) -> None:
        self._scene = scene
        self._rules = Rules(scene)
        self._cluster = cluster
        self._name = name
        self._within = (within_ms + SLACK_MS) * MILLISECOND
        self._awaited: dict[int, Awaited] = {}
        self._count = 0
        self._next: dict[tuple[TopicPartition, int], tuple[int, int]] = {}
        """By partition and producer id the newest epoch, and the sequence number that comes next in it."""

    def sent(self, tp: TopicPartition) -> int:
        """Return the number of a batch that is handed over now."""
        self._count += 1
        self._awaited[self._count] = Awaited(tp, self._scene.now + self._within)
        return self._count

    def went_out(self, tp: TopicPartition, producer_id: int, epoch: int, sequence: int, count: int) -> None:
        """Look at the numbers of a batch that goes out: new ones follow each other, from 0 on in each epoch."""
        known, expected = self._next.get((tp, producer_id), (-1, 0))
        if sequence < 0 or epoch < known:
            return
        if epoch > known:
            expected = 0
        if sequence > expected:
            text = f"epoch {epoch} of producer {producer_id} goes on with sequence {sequence}, {expected} comes next"
            self._broken(tp, "producer-gap", text)
        self._next[tp, producer_id] = epoch, max(expected, sequence + count)

    def delivered(self, number: int, tp: TopicPartition) -> None:
        """Take note that the application is told what became of a batch."""
        found = self._awaited.pop(number, None)
        if found is None:
            self._broken(tp, "delivery-twice", "an application is told twice what became of a batch")
        elif self._scene.now > found.until:
            self._broken(tp, "delivery-late", "an application is told too late what became of a batch")

    def look(self) -> None:
        """Look whether a batch is waited for that should have been delivered or given up."""
        for found in self._awaited.values():
            if self._scene.now > found.until:
                self._broken(found.tp, "delivery-late", "an application is not told what became of a batch")

    def _broken(self, tp: TopicPartition, rule: str, text: str) -> None:
        self._rules.broken(self._cluster, NO_NODE, tp, rule, f"{self._name}: {text}")


class ReadingLook:
    """Judges whether a consumer goes on where there is something to read."""

    def __init__(self, scene: Scene, name: str) -> None:
        self._scene = scene
        self._rules = Rules(scene)
        self._name = name
        self._rounds: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """By cluster and partition the position, and for how many rounds it has stood there."""

    def round_ended(
        self,
        cluster: str,
        partitions: Iterable[TopicPartition],
        positions: Mapping[TopicPartition, Position],
        refused: Collection[object],
    ) -> None:
        """Look at the positions after a round; rounds while something is away, down or disturbed do not count."""
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
                text = f"{self._name} stands at {at} for {ROUNDS} rounds, {leader.log.last_stable_offset} is stable"
                self._rules.broken(cluster, leader.broker_id, tp, "reader-stands", text)
