"""Decisions of a controller on many partitions: the partitions that it checks, and the batches that it writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror.cluster.controller.controller import Controller, ControllerOptions
from kmirror.cluster.controller.heartbeats import BrokerState
from kmirror.cluster.images import NO_LEADER
from kmirror.cluster.metadata import batches as metadata_batches
from kmirror.cluster.metadata.batches import BATCH_BYTES_MAX
from kmirror.cluster.metadata.log import CONFIG, METADATA_PARTITION, MetadataLog, TooManyRecords
from kmirror.kernel.events import Started
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest, TopicData
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from tests.call_counts import count_calls
from tests.client_links import handle_with_disk
from tests.unit.cluster.stage import RIGHTS, controller


def add_topics(target: Controller, count: int, replicas: list[int], *, partitions: int = 10, first: int = 0) -> None:
    records: list[Message] = []
    for number in range(first, first + count):
        topic_id = Uuid.from_ints(7, number)
        records.append(TopicRecord(name=f"t{number}", topic_id=topic_id))
        records += [
            PartitionRecord(partition_id=index, topic_id=topic_id, replicas=replicas, isr=replicas, leader=replicas[0])
            for index in range(partitions)
        ]
    target.commit(0, records)


def batch_sizes(target: Controller, first_offset: int) -> list[int]:
    """Return the number of records in each batch from an offset on."""
    log = target.context.log.log
    return [b.last_offset - b.base_offset + 1 for b in log.batches() if b.base_offset >= first_offset]


def elsewhere(topics: int) -> Controller:
    """Return a controller whose broker 4 leads one partition, and holds none of the other topics."""
    made = controller((1, 2, 3, 4))
    add_topics(made, topics, [1, 2, 3])
    add_topics(made, 1, [4, 1], partitions=1, first=topics)
    return made


def create(c: Controller) -> None:
    c.decide(
        0, CreateTopicsRequest(topics=[CreatableTopic(name="new", num_partitions=3, replication_factor=3)]), 7, RIGHTS
    )


def put_into_a_mirror(c: Controller) -> None:
    wanted = [MirrorConfig(name="bootstrap.servers", value="s:1")]
    c.decide(0, CreateMirrorRequest(mirror_name="m", config=wanted), 0, RIGHTS)
    c.decide(0, AddTopicsToMirrorRequest(mirror_name="m", topics=[TopicData(topic_name="t1")]), 0, RIGHTS)
    assert c.image.configs.topic("t1") == {"mirror.name": "m"}


def shut_down(c: Controller) -> None:
    request = BrokerHeartbeatRequest(broker_id=4, want_shut_down=True, current_metadata_offset=c.image.offset)
    for state in (BrokerState.CONTROLLED_SHUTDOWN, BrokerState.CONTROLLED_SHUTDOWN):
        assert c.sessions.on_heartbeat(0, c.image.brokers[4], request) is state


def fence_and_unfence(c: Controller) -> None:
    c.sessions.fence(0, 4, "a test")
    c.sessions.unfence(0, 4)
    c.sessions.start(0)


@pytest.mark.parametrize("decide", [create, put_into_a_mirror, shut_down, fence_and_unfence])
def test_a_decision_costs_the_same_among_few_and_many_topics(decide: Callable[[Controller], None]) -> None:
    decide(elsewhere(3))  # Values that are computed once for all exist then.
    few, many = elsewhere(3), elsewhere(300)
    assert count_calls(lambda: decide(many)) <= 1.05 * count_calls(lambda: decide(few)), "longer numbers, and no walk"


def test_a_broker_of_many_partitions_is_fenced_in_bounded_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    c = controller()
    add_topics(c, 300, [1, 2, 3])
    monkeypatch.setattr(metadata_batches, "RECORDS_MAX", 1_000)
    before = c.context.next_offset()
    c.sessions.fence(0, 1, "a test")
    assert batch_sizes(c, before) == [1_000, 1_000, 1_000, 1]
    led = [(p.leader, p.isr) for topic in c.image.topics.values() for p in topic.partitions.values()]
    assert led == [(2, (2, 3))] * 3_000 and not c.image.brokers.is_alive(1)


def restart_after_crash(target: Controller, disk: MemoryDisk, end: int) -> Controller:
    """Return a controller started from the log of `target` after a crash: the batches below `end`."""
    target.context.log.log.truncate_to(end)
    options = ControllerOptions(100, "cluster", (ListenerSpec.plain(Endpoint("controller", 9093)),))
    made = Controller(options, disk, Rng(1))
    handle_with_disk(made, 0, Started())
    return made


@pytest.mark.parametrize("batches", [0, 1, 2, 3])
def test_a_crash_during_a_fencing_leaves_a_session_that_ends(monkeypatch: pytest.MonkeyPatch, batches: int) -> None:
    disk = MemoryDisk()
    monkeypatch.setattr("tests.unit.cluster.stage.MemoryDisk", lambda: disk)
    c = controller()
    add_topics(c, 3, [1, 2, 3])
    monkeypatch.setattr(metadata_batches, "RECORDS_MAX", 10)
    before = c.context.next_offset()
    c.sessions.fence(0, 1, "a test")
    again = restart_after_crash(c, disk, before + 10 * batches)
    assert again.image.brokers.is_alive(1), "the record that fences it comes last"
    again.sessions.fence(1, 1, "its session has ended")
    assert not again.image.brokers.is_alive(1) and again.image.topics.leads(1) == 0
    isrs = {p.isr for topic in again.image.topics.values() for p in topic.partitions.values()}
    assert isrs == {(2, 3)}


def test_a_crash_during_an_unfencing_leaves_no_partition_without_a_leader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = MemoryDisk()
    monkeypatch.setattr("tests.unit.cluster.stage.MemoryDisk", lambda: disk)
    c = controller((1,))
    add_topics(c, 3, [1])
    c.sessions.fence(0, 1, "a test")
    assert len(c.image.topics.leaderless) == 30
    monkeypatch.setattr(metadata_batches, "RECORDS_MAX", 10)
    before = c.context.next_offset()
    c.sessions.unfence(1, 1)
    assert not c.image.topics.leaderless
    again = restart_after_crash(c, disk, before + 10)
    assert again.image.brokers.is_alive(1) and not again.image.topics.leaderless
    assert NO_LEADER not in {p.leader for topic in again.image.topics.values() for p in topic.partitions.values()}


def test_a_batch_of_the_metadata_log_is_bounded_in_records_and_bytes() -> None:
    log = MetadataLog(PartitionLog.open(METADATA_PARTITION, MemoryStore(), CONFIG, now_ms=0), 0)
    changes = [PartitionChangeRecord(partition_id=n, topic_id=Uuid.from_ints(1, 1), leader=1) for n in range(45_000)]
    assert log.append(0, changes, atomic=False) == 44_999
    large = [ConfigRecord(resource_type=2, resource_name="t", name="k", value="v" * 30_000) for _ in range(600)]
    assert log.append(0, large, atomic=False) == 45_599
    found = list(log.log.batches())
    assert [b.last_offset - b.base_offset + 1 for b in found] == [10_000] * 4 + [5_000, 279, 279, 42]
    assert all(b.size_in_bytes <= BATCH_BYTES_MAX for b in found)


def test_records_of_one_decision_are_never_split() -> None:
    log = MetadataLog(PartitionLog.open(METADATA_PARTITION, MemoryStore(), CONFIG, now_ms=0), 0)
    changes = [PartitionChangeRecord(partition_id=n, topic_id=Uuid.from_ints(1, 1), leader=1) for n in range(10_001)]
    with pytest.raises(TooManyRecords):
        log.append(0, changes, atomic=True)
    assert log.log.log_end_offset == 0
    assert log.append(0, changes[:10_000], atomic=True) == 9_999


def test_a_request_for_more_than_a_batch_is_refused_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    c = controller()
    monkeypatch.setattr(metadata_batches, "RECORDS_MAX", 5)
    wanted = [CreatableTopic(name=f"t{n}", num_partitions=2, replication_factor=1) for n in range(2)]
    reply = c.decide(0, CreateTopicsRequest(topics=wanted), 7, RIGHTS)
    assert isinstance(reply, CreateTopicsResponse)
    assert [(row.name, row.error_code) for row in reply.topics] == [
        ("t0", ErrorCode.POLICY_VIOLATION),
        ("t1", ErrorCode.POLICY_VIOLATION),
    ]
    assert not c.image.topics
