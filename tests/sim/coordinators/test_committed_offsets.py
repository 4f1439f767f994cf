"""Offsets committed by plain consumers: every version, retention, deletion, moved coordinators."""

from __future__ import annotations

import pytest

from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kmirror.protocol.gen.offset_fetch_response import OffsetFetchResponse
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from tests.sim.coordinators.offset_requests import NOTHING, OTHER, SECOND, Found, OffsetRequests, offsets_of, running
from tests.sim.stage import TOPIC, TP


@pytest.mark.parametrize("version", range(2, 11))
def test_every_version_commits(version: int) -> None:
    requests = running(1)
    assert requests.commit(7, version=version, metadata="note", epoch=3 if version >= 6 else -1) is ErrorCode.NONE
    assert requests.get() == Found(7, 3 if version >= 6 else -1, "note")


@pytest.mark.parametrize("version", range(1, 11))
def test_every_version_fetches(version: int) -> None:
    requests = running(1)
    requests.commit(7, metadata="note", epoch=3)
    requests.commit(9, tp=OTHER, metadata=None)
    found = requests.fetch(TP, SECOND, version=version)
    assert found == {TP: Found(7, 3 if version >= 5 else -1, "note"), SECOND: NOTHING}
    if version >= 2:
        assert offsets_of(requests.fetch(version=version)) == {TP: 7, OTHER: 9}
        assert OffsetRequests(requests.cluster, "nobody").fetch(version=version) == {}


def test_many_groups_are_fetched_at_once() -> None:
    requests = running(1)
    other = OffsetRequests(requests.cluster, "other")
    requests.commit(7)
    other.commit(8, tp=SECOND)
    asked = [OffsetFetchRequestTopics(TOPIC, partition_indexes=[0, 1])]
    groups = [OffsetFetchRequestGroup(name, topics=asked) for name in ("g", "other", "nobody")]
    groups.append(OffsetFetchRequestGroup("other", topics=None))
    reply = requests.call(OffsetFetchRequest(groups=groups), 8)
    assert isinstance(reply, OffsetFetchResponse)
    told = [[[row.committed_offset for row in topic.partitions] for topic in group.topics] for group in reply.groups]
    assert [group.group_id for group in reply.groups] == ["g", "other", "nobody", "other"]
    assert told == [[[7, -1]], [[-1, 8]], [[-1, -1]], [[8]]]


def test_unknown_topics_partitions_and_ids() -> None:
    requests = running(1)
    unknown, missing = TopicPartition("unknown", 0), TopicPartition(TOPIC, 9)
    assert requests.commit(1, tp=unknown) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert requests.commit(1, tp=missing) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert requests.commit(1, tp=unknown, version=10) is ErrorCode.UNKNOWN_TOPIC_ID
    assert requests.fetch(unknown, missing) == {unknown: NOTHING, missing: NOTHING}
    asked = OffsetFetchRequestTopics(topic_id=Uuid.from_ints(8, 8), partition_indexes=[4])
    reply = requests.call(OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=[asked])]), 10)
    assert isinstance(reply, OffsetFetchResponse)
    assert reply.groups[0].topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_metadata_has_a_limit_in_utf16_units() -> None:
    requests = running(1, **{"offset.metadata.max.bytes": "4"})
    assert requests.commit(1, metadata="abcde") is ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert requests.get() == NOTHING
    assert requests.commit(1, metadata="äöüß") is ErrorCode.NONE
    assert requests.commit(2, metadata="😀😀") is ErrorCode.NONE
    assert requests.commit(3, metadata="😀😀x") is ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert requests.get().offset == 2


@pytest.mark.parametrize(("version", "error"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_a_member_of_a_group_that_is_not_there(version: int, error: ErrorCode) -> None:
    requests = running(1)
    assert requests.commit(1, version=version, member="m", generation=3) is error
    assert requests.commit(1, version=version) is ErrorCode.NONE
    assert requests.commit(2, version=version, member="m", generation=0) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_broker_that_is_not_the_coordinator_returns_an_error() -> None:
    requests = running()
    other = next(one for one in (1, 2, 3) if one != requests.cluster.await_leader(requests.shard).broker_id)
    assert requests.commit(1, broker_id=other) is ErrorCode.NOT_COORDINATOR
    for version in (1, 2, 8):
        assert requests.fetch(TP, version=version, broker_id=other)[TP].error is ErrorCode.NOT_COORDINATOR
    assert requests.fetch(TP, stable=True, broker_id=other)[TP].error is ErrorCode.NOT_COORDINATOR


@pytest.mark.decision("D48")
def test_a_response_waits_for_a_slow_follower_and_other_shards_do_not() -> None:
    configs = {
        "offsets.topic.num.partitions": "12",
        "offsets.topic.replication.factor": "2",
        "min.insync.replicas": "1",
    }
    first = running(**configs)
    cluster = first.cluster
    assert first.commit(7) is ErrorCode.NONE
    leader = cluster.await_leader(first.shard).broker_id
    (follower,) = [one for one in cluster.image.topics.partition(first.shard).replicas if one != leader]
    second = next(
        other
        for other in (OffsetRequests(cluster, f"n{n}") for n in range(99))
        if cluster.await_leader(other.shard).broker_id == leader
        and follower not in cluster.image.topics.partition(other.shard).replicas
    )
    line = cluster.simulation.line(cluster.process(leader), cluster.process(follower))
    line.set(latency_ms=2_000)
    answers: list[object] = []
    begin_s = cluster.simulation.elapsed_s
    first.begin_commit(8, answers)
    assert second.commit(5) is ErrorCode.NONE
    assert second.get(stable=True).offset == 5
    assert cluster.simulation.elapsed_s - begin_s < 1
    assert first.get().offset == 7 and not answers, "the high watermark has not passed 8"
    cluster.simulation.run_until(lambda: bool(answers), what="the answer")
    assert first.get().offset == 8 and cluster.simulation.elapsed_s - begin_s > 2


@pytest.mark.decision("D48")
def test_a_stable_fetch_reads_up_to_the_log_end_and_waits_for_it() -> None:
    requests = running()
    cluster = requests.cluster
    requests.commit(7)
    leader = cluster.await_leader(requests.shard).broker_id
    lines = [
        cluster.simulation.line(cluster.process(leader), cluster.process(one)) for one in (1, 2, 3) if one != leader
    ]
    for line in lines:
        line.set(latency_ms=2_000)
    answers: list[object] = []
    requests.begin_commit(8, answers)
    cluster.simulation.run_for(span_s=0.1)  # It comes over a separate link, and must be the first.
    fetched: list[object] = []
    asked = OffsetFetchRequestTopics(TOPIC, partition_indexes=[0])
    request = OffsetFetchRequest(require_stable=True, groups=[OffsetFetchRequestGroup("g", topics=[asked])])
    requests.begin(request, 9, fetched)
    cluster.simulation.run_for(span_s=0.5)
    assert not fetched and requests.get().offset == 7
    cluster.simulation.run_until(lambda: bool(fetched), what="the answer")
    (reply,) = fetched
    assert isinstance(reply, OffsetFetchResponse)
    assert reply.groups[0].topics[0].partitions[0].committed_offset == 8


def test_a_coordinator_that_is_killed_is_followed_by_one_that_knows() -> None:
    requests = running()
    for offset in range(5):
        requests.commit(offset, metadata=f"m{offset}", epoch=offset)
    requests.commit(9, tp=SECOND)
    requests.move()
    assert requests.fetch() == {TP: Found(4, 4, "m4"), SECOND: Found(9)}
    requests.cluster.simulation.run_for(span_s=1)
    assert requests.commit(6) is ErrorCode.NONE


def test_offsets_are_deleted_on_demand() -> None:
    requests = running(1)
    assert requests.delete(TP) is ErrorCode.GROUP_ID_NOT_FOUND
    requests.commit(7)
    requests.commit(8, tp=SECOND)
    unknown = TopicPartition("unknown", 0)
    assert requests.delete(TP, unknown) == {unknown: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, TP: ErrorCode.NONE}
    assert requests.fetch() == {SECOND: Found(8)}
    assert requests.delete(TP, SECOND) == {TP: ErrorCode.NONE, SECOND: ErrorCode.NONE}
    assert requests.delete(TP) == {TP: ErrorCode.NONE}, "the group is still known"
    assert OffsetRequests(requests.cluster, "").delete(TP) is ErrorCode.INVALID_GROUP_ID


# -- expiry -----------------------------------------------------------------------------------


def expiring(**configs: str) -> OffsetRequests:
    return running(1, **{"offsets.retention.minutes": "2", "offsets.retention.check.interval.ms": "1000", **configs})


def test_an_offset_expires_after_its_retention_and_the_group_with_the_last_one() -> None:
    requests = expiring()
    requests.commit(7)
    requests.cluster.simulation.run_for(span_s=60)
    requests.commit(8, tp=SECOND)
    requests.cluster.simulation.run_for(span_s=58)
    assert offsets_of(requests.fetch()) == {TP: 7, SECOND: 8}
    requests.cluster.simulation.run_for(span_s=4)
    assert offsets_of(requests.fetch()) == {SECOND: 8}
    assert requests.offsets.has_committed("g")
    requests.cluster.simulation.run_for(span_s=60)
    assert requests.fetch() == {}
    assert not requests.offsets.has_committed("g")
    assert requests.delete(TP) is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("version", [2, 3, 4])
def test_older_clients_name_a_retention_of_their_own(version: int) -> None:
    requests = expiring()
    requests.commit(7, version=version, retention_ms=5_000)
    requests.commit(8, version=version, tp=SECOND)
    requests.cluster.simulation.run_for(span_s=4)
    assert offsets_of(requests.fetch()) == {TP: 7, SECOND: 8}
    requests.cluster.simulation.run_for(span_s=3)
    assert offsets_of(requests.fetch()) == {SECOND: 8}


def test_more_expires_at_once_than_a_batch_holds() -> None:
    requests = expiring()
    for number in range(40):
        OffsetRequests(requests.cluster, f"{number:01000}").commit(number)
    for shard in requests.cluster.image.topics["__consumer_offsets"].partitions:
        requests.cluster.log(TopicPartition("__consumer_offsets", shard))
    requests.cluster.alter("__consumer_offsets", {"max.message.bytes": "6000"})
    requests.cluster.simulation.run_for(span_s=123)
    assert [group for group in range(40) if OffsetRequests(requests.cluster, f"{group:01000}").fetch()] == []


def test_a_new_coordinator_continues_the_expiry() -> None:
    requests = running(**{"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"})
    requests.commit(7)
    requests.cluster.elect(requests.shard)
    requests.cluster.simulation.run_for(span_s=70)
    assert requests.fetch() == {}


# -- deleted topics ---------------------------------------------------------------------------


def delete_topic(requests: OffsetRequests) -> None:
    assert requests.cluster.delete(TOPIC) == [ErrorCode.NONE]
    requests.cluster.simulation.run_for(span_s=1)


def test_offsets_of_a_deleted_topic_are_removed_and_those_of_its_successor_kept() -> None:
    requests = running()
    cluster = requests.cluster
    requests.commit(7)
    requests.commit(8, tp=OTHER)
    elsewhere = OffsetRequests(cluster, "elsewhere")
    elsewhere.commit(9, tp=SECOND)
    delete_topic(requests)
    assert offsets_of(requests.fetch()) == {OTHER: 8}
    assert elsewhere.fetch() == {}
    cluster.place_topic(replicas=[(1, 2, 3)] * 2)
    assert requests.get() == NOTHING
    requests.commit(1)
    requests.move()
    assert offsets_of(requests.fetch()) == {TP: 1, OTHER: 8}


def test_a_transaction_brings_no_offset_of_a_deleted_topic_back() -> None:
    requests = running()
    producer = Producer(requests.cluster, transactional_id="t")
    requests.add_to(producer)
    requests.commit(3)
    requests.commit_in(producer, 7, tps=[TP, OTHER])
    delete_topic(requests)
    requests.end(producer, commit=True)
    requests.settled()
    assert requests.fetch(stable=True) == {OTHER: Found(7)}


def test_a_coordinator_that_has_not_loaded_yet_forgets_them_too() -> None:
    """Its shard has records above the high watermark when the topic is deleted: the tombstone is after them."""
    requests = running()
    cluster = requests.cluster
    requests.commit(7)
    runtime = (
        cluster.broker(cluster.await_leader(requests.shard).broker_id).parts.components.get(GroupCoordinator).runtime
    )
    runtime._shards[requests.shard.partition].is_loaded = False
    delete_topic(requests)
    runtime._shards[requests.shard.partition].is_loaded = True
    assert requests.fetch() == {}
