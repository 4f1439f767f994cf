"""A compacted topic is mirrored there and back repeatedly: the latest committed value of each key is never lost."""

from __future__ import annotations

import random

import pytest

from kmirror import Mirror, Producer
from kmirror.log.partition_log import PartitionLog
from kmirror.records.record import RecordData
from tests.sim.stage import TOPIC, TP, Pair, StagedCluster, pair, settle, wait_until_mirrored

BY_KEY = {"internal.segment.bytes": "400", "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
CLEANER = {
    "log.cleaner.backoff.ms": "700",
    "log.initial.task.delay.ms": "100",
    "log.cleaner.delete.retention.ms": "600000",
}
COMMIT = 1
Latest = dict[bytes | None, bytes]


def latest(log: PartitionLog) -> Latest:
    """Return the latest value of each key for a read_committed reader of the whole log."""
    found: dict[int, tuple[bytes | None, bytes | None]] = {}
    undecided: dict[int, dict[int, tuple[bytes | None, bytes | None]]] = {}
    for batch in log.batches():
        if batch.is_control:
            (marker,) = batch.records()
            assert marker.key is not None
            written = undecided.pop(batch.producer_id, {})
            found |= written if int.from_bytes(marker.key[2:4], "big") == COMMIT else {}
            continue
        rows = {record.offset: (record.key, record.value) for record in batch.records()}
        if batch.is_transactional:
            undecided.setdefault(batch.producer_id, {}).update(rows)
        else:
            found |= rows
    by_key = {key: value for _, (key, value) in sorted(found.items())}
    return {key: value for key, value in by_key.items() if value is not None}


class Story:
    """Two clusters; one of them accepts writes. `wanted` are the acknowledged values."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.pair: Pair = pair(seed, brokers=1, a_configs=CLEANER, b_configs=CLEANER)
        self.pair.a.place_topic(TOPIC, replicas=[[1]])
        self.pair.a.alter(TOPIC, BY_KEY)
        self.writable: StagedCluster = self.pair.a
        self.wanted: Latest = {}
        self.count = 0
        self.write()  # D25: a mirror that stops before it has any records would leave the only copy where it is.
        self.pair.begin()

    def run_for(self, most_s: float) -> None:
        self.pair.simulation.run_for(span_s=self.rng.random() * most_s)

    def record(self) -> RecordData:
        self.count += 1
        deletes = self.rng.random() < 0.2
        return RecordData(key=b"k%d" % self.rng.randrange(5), value=None if deletes else b"v%d" % self.count)

    def keep(self, *records: RecordData) -> None:
        self.wanted |= {record.key: record.value or b"" for record in records}
        self.wanted = {key: value for key, value in self.wanted.items() if value}

    def write(self) -> None:
        rows = [self.record() for _ in range(self.rng.randrange(1, 6))]
        Producer(self.writable).send({TP: rows})
        self.keep(*rows)

    def transact(self) -> None:
        producer, rows = Producer(self.writable, transactional_id=f"t{self.count}"), [self.record() for _ in range(3)]
        producer.begin_transaction()
        for row in rows:
            producer.send({TP: [row]})
            self.run_for(1.5)
        if self.rng.random() < 0.6:
            producer.commit_transaction()
            self.keep(*rows)
        else:
            producer.abort_transaction()

    def restart(self) -> None:
        cluster = self.rng.choice([self.pair.a, self.pair.b])
        cluster.kill(1)
        self.run_for(4)
        cluster.restart(1)
        settle(cluster)

    def move(self, mirror: Mirror, back: Mirror) -> None:
        """Fail over, write there, and start the mirror back."""
        wait_until_mirrored(mirror)
        self.check()
        self.pair.fail_over(mirror)
        assert isinstance(mirror.destination, StagedCluster)
        self.writable = mirror.destination
        for _ in range(self.rng.randrange(4)):
            self.write()
        self.run_for(8)
        if not Mirror.list(back.destination):
            back.create()
        back.add_topics([TOPIC])
        wait_until_mirrored(back)

    def check(self) -> None:
        for cluster in (self.pair.a, self.pair.b):
            assert latest(cluster.log()) == self.wanted, cluster.name


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.decision("D46")
def test_no_key_is_lost_and_none_returns(seed: int) -> None:
    story = Story(seed)
    ways = [story.pair.there, story.pair.back]
    for _ in range(3):
        for _ in range(6):
            story.rng.choice([story.write, story.write, story.transact, story.restart])()
            story.run_for(3)
        story.move(*ways)
        ways.reverse()
        story.check()
    lines = [line for line in story.pair.simulation.world.trace.lines if f"{TP} compacted to" in line]
    assert {cluster for cluster in "ab" if any(f" {cluster}-1" in line for line in lines)} == {"a", "b"}, "both cleaned"


@pytest.mark.decision("D29")
@pytest.mark.decision("D46")
def test_a_value_survives_a_replacing_transaction_that_the_stop_aborts() -> None:
    """It ends above the mirror's LSO, where another one is open; the stop truncates its second record."""
    p = pair(brokers=1, a_configs={"log.cleaner.enable": "false"}, b_configs=CLEANER)
    p.a.place_topic(TOPIC, replicas=[[1]])
    p.a.alter(TOPIC, BY_KEY)
    p.begin()
    filler = [RecordData(key=b"filler", value=bytes(300))]
    plain, replaces, is_cut, holds_back = Producer(p.a), *(Producer(p.a, transactional_id=name) for name in "rch")
    plain.send({TP: [RecordData(key=b"k", value=b"old")]})
    plain.send({TP: filler})
    replaces.begin_transaction()
    replaces.send({TP: [RecordData(key=b"k", value=b"new")]})
    plain.send({TP: filler})
    is_cut.begin_transaction()
    is_cut.send({TP: [RecordData(key=b"other", value=b"new")]})
    replaces.send({TP: [RecordData(key=b"more", value=b"new")]})
    replaces.commit_transaction()
    holds_back.begin_transaction()
    holds_back.send({TP: [RecordData(key=b"last", value=b"new")]})
    is_cut.commit_transaction()
    p.run_until(lambda: p.b.log().high_watermark == p.a.log().last_stable_offset, "all but what is open at the source")
    assert p.b.log().last_stable_offset < p.b.log().high_watermark
    p.simulation.run_for(span_s=5)
    p.fail_over()
    assert latest(p.b.log()) == {b"k": b"old", b"filler": bytes(300)}
