"""`__mirror_state` is compacted by the brokers' own cleaner, and loading it restores the written states (D8)."""

from __future__ import annotations

from collections import Counter

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.mirror_partition_state_key import MirrorPartitionStateKey
from kmirror.protocol.keyed_records import decode_key
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from tests.sim.stage import TOPIC, TP, Pair, WrittenLogs, pair, plain

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")], "other": [plain(0, 0, "s0")]}
SOON = {"log.initial.task.delay.ms": "1000", "log.cleaner.backoff.ms": "1000", "mirror.topic.num.partitions": "1"}
EAGER = {"internal.segment.bytes": "400", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "1000"}
SHARD = TopicPartition(MIRROR_STATE_TOPIC, 0)
TOPICS = (TOPIC, "other")


def compacting() -> Pair:
    p = pair(logs=WrittenLogs(LOGS), b_configs=SOON)
    p.there.create()
    assert p.b.alter(MIRROR_STATE_TOPIC, EAGER) is ErrorCode.NONE
    p.simulation.run_for(span_s=1)
    p.there.add_topics(TOPICS)
    return p


def keys(p: Pair) -> Counter[tuple[type[Message], Uuid]]:
    """Return the number of records of each key, with the type of the record."""
    batches = p.b.log(SHARD).batches()
    found = [decode_key(MIRROR_STATE_TOPIC, record.key or b"") for batch in batches for record in batch.records()]
    return Counter((type(key), key.topic_id) for key in found)  # type: ignore[attr-defined]


@pytest.mark.decision("D8")
def test_a_coordinator_that_loads_a_compacted_topic_knows_every_partition() -> None:
    p = compacting()
    p.there.wait_for_state(MirrorState.MIRRORING, p.a.partitions(TOPICS))
    for _ in range(6):
        p.there.pause(TOPICS)
        p.there.wait_for_state(MirrorState.PAUSED, p.a.partitions(TOPICS))
        p.there.resume(TOPICS)
        p.there.wait_for_state(MirrorState.MIRRORING, p.a.partitions(TOPICS))
    p.fail_over(topics=[TOPIC])
    end = p.b.log(SHARD).log_end_offset
    of_states = [(MirrorPartitionStateKey, p.b.image.topics[topic].topic_id) for topic in TOPICS]
    p.run_until(lambda: all(keys(p)[key] <= 4 for key in of_states), "the cleaner")
    assert p.b.log(SHARD).log_end_offset == end >= 6 * 3 * 2, "the cleaner alone took records away"
    p.b.settle()
    before = {tp: p.b.persisted(tp) for tp in p.a.partitions(TOPICS)}
    p.b.restart(p.b.elect(SHARD))
    p.b.settle()
    assert {tp: p.b.persisted(tp) for tp in p.a.partitions(TOPICS)} == before
    assert (before[TP].state, before[TP].last_mirrored_epoch) == (MirrorState.STOPPED, 0)
    assert before[TopicPartition("other", 0)].state is MirrorState.MIRRORING
    assert p.b.write("b0") == 3, "writable under the state that was loaded"


@pytest.mark.decision("D8")
@pytest.mark.decision("D51")
def test_nothing_is_left_of_a_mirror_that_was_deleted() -> None:
    p = compacting()
    p.there.wait_for_state(MirrorState.MIRRORING, p.a.partitions(TOPICS))
    p.fail_over(topics=TOPICS)
    p.there.delete()
    gone = p.b.image.topics[TOPIC].topic_id
    p.there.create()
    p.there.add_topics(["other"])
    for _ in range(8):  # Tombstones are removed once later segments were cleaned.
        p.there.wait_for_state(MirrorState.MIRRORING, p.a.partitions(["other"]))
        p.there.pause(["other"])
        p.there.wait_for_state(MirrorState.PAUSED, p.a.partitions(["other"]))
        p.there.resume(["other"])
        p.simulation.run_for(span_s=3)
    p.run_until(lambda: gone not in {topic_id for _, topic_id in keys(p)}, "the cleaner")
    runtime = p.b.component(p.b.await_leader(SHARD).broker_id).context.coordinator.runtime
    assert [key for shard in runtime.states().values() for key in shard.all_committed()] == [
        StateKey("m", p.b.image.topics["other"].topic_id, 0)
    ]
