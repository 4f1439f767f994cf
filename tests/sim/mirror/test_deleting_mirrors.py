"""Deletion of a mirror: its errors, the state that it removes, and the state that must stay (D8, D51)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.assembly.mirrors import MirrorListing
from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.naming import MIRROR_LINEAGE, MIRROR_NAME
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest, MirrorInfo
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest, StoppedPartition, StoppedTopic
from kmirror.protocol.gen.delete_mirror_response import DeleteMirrorResponse
from kmirror.protocol.gen.last_mirror_epochs_key import LastMirrorEpochsKey
from kmirror.protocol.gen.mirror_partition_state_key import MirrorPartitionStateKey
from kmirror.protocol.gen.write_mirror_states_request import PartitionData, TopicData, WriteMirrorStatesRequest
from kmirror.protocol.gen.write_mirror_states_response import WriteMirrorStatesResponse
from kmirror.protocol.keyed_records import decode_key
from kmirror.protocol.message import Message
from kmirror.sim.mirror import Mirror
from kmirror.spec.error_codes import ErrorCode as E
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import ResourceType
from tests.sim.mirror.test_lineage import both_in_one_epoch
from tests.sim.stage import TOPIC, TP, Pair, StagedCluster, WrittenLogs, assert_equal, pair, plain, values

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}


def failed_over() -> Pair:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.fail_over()
    return p


def persisted_keys(cluster: StagedCluster) -> list[StateKey]:
    """Return the keys of all states that the coordinators have committed."""
    shards = [
        shard
        for broker_id in cluster.living()
        for shard in cluster.component(broker_id).context.coordinator.runtime.states().values()
    ]
    return sorted(key for shard in shards for key in shard.all_committed())


def tombstones(cluster: StagedCluster) -> list[list[Message]]:
    """Return the keys of the tombstones in each batch of `__mirror_state` that has any."""
    found = []
    for index in cluster.image.topics[MIRROR_STATE_TOPIC].partitions:
        for batch in cluster.log(TopicPartition(MIRROR_STATE_TOPIC, index)).batches():
            keys = [
                decode_key(MIRROR_STATE_TOPIC, record.key or b"") for record in batch.records() if record.value is None
            ]
            found += [keys] if keys else []
    return found


def await_no_states(p: Pair) -> None:
    p.run_until(lambda: persisted_keys(p.b) == [], "the tombstones")


def refusal_of(mirror: Mirror) -> str:
    with pytest.raises(KafkaError) as caught:
        mirror.delete()
    assert caught.value.code == E.MIRROR_NOT_EMPTY
    return str(caught.value)


@pytest.mark.decision("D2")
@pytest.mark.decision("D51")
def test_a_mirror_is_deleted_only_when_all_its_partitions_are_stopped() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    assert "Remove these topics from mirror 'm' first: orders" in refusal_of(p.there)
    p.there.pause([TOPIC])
    assert "Remove these topics from mirror 'm' first: orders" in refusal_of(p.there)
    p.b.kill(next(b for b in p.b.broker_ids if b != p.b.await_leader().broker_id))  # The stop waits for the ISR.
    p.there.remove_topics([TOPIC])
    p.run_until(lambda: p.b.persisted().state is MirrorState.STOPPING, "STOPPING")
    assert "Every partition must be STOPPED: orders-0 is STOPPING" in refusal_of(p.there)
    p.there.wait_for_state(MirrorState.STOPPED, [TP])
    p.there.delete()


@pytest.mark.decision("D8")
@pytest.mark.decision("D51")
def test_configs_and_states_are_removed_and_states_first() -> None:
    p = failed_over()
    topic_id = p.b.image.topics[TOPIC].topic_id
    assert persisted_keys(p.b) == [StateKey("m", topic_id, 0)]
    p.there.delete()
    await_no_states(p)
    (keys,) = tombstones(p.b)
    assert [type(key) for key in keys] == [MirrorPartitionStateKey, LastMirrorEpochsKey], "in one batch"
    assert (ResourceType.MIRROR, "m") not in p.b.image.configs
    assert MIRROR_NAME not in p.b.image.configs.topic(TOPIC)
    p.simulation.run_for(span_s=1)
    for broker_id in p.b.broker_ids:
        context = p.b.component(broker_id).context
        assert (context.sources, context.partitions, context.refreshes) == ({}, {}, {})
    with pytest.raises(KafkaError, match="UNKNOWN_MIRROR"):
        p.there.delete()


@pytest.mark.decision("D51")
def test_the_source_gets_no_more_requests_of_a_deleted_mirror() -> None:
    p = failed_over()
    opened = {name for b in p.a.broker_ids for name in links_to(p.a, b) if "mirror-m" in str(name)}
    assert opened, "the mirror has links to its source"
    p.there.delete()
    p.simulation.run_for(span_s=1)
    assert {name for b in p.a.broker_ids for name in links_to(p.a, b) if "mirror-m" in str(name)} == set()


def links_to(cluster: StagedCluster, broker_id: int) -> Sequence[object]:
    return [link.name for link in cluster.broker(broker_id).parts.server.links.by_name]


@pytest.mark.decision("D51")
def test_a_topic_of_a_deleted_mirror_stays_writable_under_its_next_leader() -> None:
    p = failed_over()
    p.there.delete()
    assert p.b.try_write() is E.NONE
    p.b.settle()
    p.b.elect()
    assert p.b.try_write() is E.NONE
    assert p.b.state() == "NONE"


@pytest.mark.decision("D51")
def test_the_name_can_be_given_to_a_mirror_of_another_cluster() -> None:
    p = failed_over()
    c = p.third(logs=WrittenLogs({"other": [plain(0, 0, "c0")]}, first_id=9))
    p.there.delete()
    again = Mirror("m", source=c, destination=p.b)
    again.create()
    again.add_topics(["other"])
    assert_equal(again, ["other"])
    assert [key.topic_id for key in persisted_keys(p.b)] == [p.b.image.topics["other"].topic_id]


@pytest.mark.decision("D51")
def test_a_failback_after_the_deletion_copies_from_scratch() -> None:
    p = failed_over()
    p.b.write("b0")
    p.there.delete()
    await_no_states(p)
    p.fail_back()
    assert p.cuts_of(p.a) == [(0, 2)], "there is no last mirrored epoch any more"
    assert_equal(p.back)


@pytest.mark.decision("D8")
@pytest.mark.decision("D51")
def test_a_new_coordinator_removes_leftovers_of_its_predecessor() -> None:
    p = failed_over()
    key = StateKey("m", p.b.image.topics[TOPIC].topic_id, TP.partition)
    shard = p.b.component(1).context.coordinator.shard_of(key)
    assert shard is not None
    p.b.settle()
    leader = p.b.await_leader(shard).broker_id
    for follower in p.b.broker_ids:
        if follower != leader:  # It does not replicate the shard, so no tombstone is committed.
            p.simulation.line(p.b.process(follower), p.b.process(leader)).take_down()
    reply = p.b.client.call(p.b.endpoint(leader), DeleteMirrorRequest(mirror_name="m"), 0)
    assert isinstance(reply, DeleteMirrorResponse) and not reply.error_code
    p.simulation.run_for(span_s=0.2)
    assert p.b.await_leader(shard).broker_id == leader and persisted_keys(p.b) == [key]
    p.b.elect(shard)
    await_no_states(p)


@pytest.mark.decision("D8")
@pytest.mark.decision("D51")
def test_tombstones_that_an_isr_is_too_small_for_are_written_later() -> None:
    p = failed_over()
    p.b.settle()
    shard = p.b.component(1).context.coordinator.shard_of(StateKey("m", p.b.image.topics[TOPIC].topic_id, 0))
    assert shard is not None
    leader = p.b.await_leader(shard).broker_id
    down = [b for b in p.b.broker_ids if b != leader]
    for broker_id in down:
        p.b.kill(broker_id)
    p.run_until(lambda: p.b.await_leader(shard).isr == (leader,), "an ISR below min.insync.replicas")
    p.there.delete()
    p.simulation.run_for(span_s=5)
    assert tombstones(p.b) == []
    for broker_id in down:
        p.b.restart(broker_id)
    await_no_states(p)
    assert p.b.await_leader(shard).broker_id == leader, "nobody loaded the shard anew"


@pytest.mark.decision("D8")
@pytest.mark.decision("D49")
def test_the_states_of_a_topic_are_removed_with_it() -> None:
    p = failed_over()
    assert p.b.delete(TOPIC) == [E.NONE]
    await_no_states(p)
    assert len(tombstones(p.b)) == 1


@pytest.mark.decision("D8")
@pytest.mark.decision("D49")
def test_states_are_removed_although_a_topic_of_the_same_id_exists_again(monkeypatch: pytest.MonkeyPatch) -> None:
    p = failed_over()
    topic_id = p.b.image.topics[TOPIC].topic_id
    with monkeypatch.context() as patch:  # No coordinator has the time to write a tombstone.
        patch.setattr(MirrorComponent, "_remove_orphans", lambda self: None)
        assert p.b.delete(TOPIC) == [E.NONE]
        wanted = CreatableTopic(TOPIC, 1, -1, mirror_info=MirrorInfo(topic_id=topic_id))
        p.b.order(CreateTopicsRequest(topics=[wanted], timeout_ms=30_000))
        p.run_until(p.b.is_settled, "the topic")
    assert persisted_keys(p.b) == [StateKey("m", topic_id, 0)]
    shard = p.b.component(1).context.coordinator.shard_of(StateKey("m", topic_id, 0))
    assert shard is not None and p.b.image.topics[TOPIC].topic_id == topic_id
    p.b.settle()
    p.b.elect(shard)
    await_no_states(p)


@pytest.mark.decision("D8")
def test_a_state_of_a_mirror_that_is_not_known_is_refused() -> None:
    """It could not be distinguished from one of a deleted mirror, and would be removed with those."""
    p = failed_over()
    row = PartitionData(partition_index=0, state=MirrorState.PREPARING)
    request = WriteMirrorStatesRequest(mirror_name="n", topics=[TopicData(name=TOPIC, partitions=[row])])
    for broker_id in p.b.broker_ids:
        reply = p.b.client.call(p.b.endpoint(broker_id), request, 0)
        assert isinstance(reply, WriteMirrorStatesResponse)
        assert reply.topics[0].partitions[0].error_code == E.UNKNOWN_MIRROR
    assert len(persisted_keys(p.b)) == 1


@pytest.mark.decision("D30")
@pytest.mark.decision("D51")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_mirror_is_kept_while_a_replica_must_truncate(replaced: bool) -> None:
    """Without the list no node would know that the replica must not rejoin with its records.

    A broker that is gone for good is replaced by one with the same id and empty disks.
    """
    p = failed_over()
    p.b.settle()
    p.b.write("b0")
    p.a.write("a0")
    p.b.settle()
    away = next(b for b in p.a.broker_ids if b != p.a.await_leader().broker_id)
    p.a.settle()
    p.a.kill(away)
    p.run_until(lambda: away not in p.a.await_leader().isr, "the follower out of the ISR")
    p.fail_back()
    p.fail_over(p.back)
    told = (
        f"orders-0 has replicas that have not cut their logs yet (brokers {away}: start them, or ones with empty disks)"
    )
    assert told in refusal_of(p.back)
    if replaced:
        p.a.log_dirs[away][0] = MemoryDisk(directory_id=Uuid.from_ints(7, away))
    p.a.restart(away)
    p.a.settle()
    p.simulation.run_for(span_s=3)
    p.back.delete()
    assert_same_logs(p.a)


def assert_same_logs(cluster: StagedCluster) -> None:
    cluster.settle()
    logs = [values(partition.log) for partition in cluster.replicas(TP).values()]
    assert all(log == logs[0] for log in logs)


@pytest.mark.decision("D45")
@pytest.mark.decision("D51")
def test_the_writers_of_a_log_are_known_after_deleting_its_mirror() -> None:
    """Cluster c has records of a under the epochs that b's records have at a by now."""
    p = both_in_one_epoch()
    c = p.third()
    other = Mirror("m", source=p.a, destination=c)
    other.create()
    other.add_topics([TOPIC])
    assert_equal(other)
    p.simulation.line(p.a, c).take_down()
    for number in range(6):
        p.b.write(f"b{number}")
    p.fail_back()
    p.fail_over(p.back)
    before = p.a.component(p.a.await_leader().broker_id).context.writers_of(TP)
    assert len(before) > 1, "b's epochs, then a's own"
    p.back.delete()
    p.simulation.run_for(span_s=1)
    p.a.settle()
    p.a.elect()
    assert p.a.component(p.a.await_leader().broker_id).context.writers_of(TP) == before
    assert MIRROR_LINEAGE in p.a.image.configs.topic(TOPIC)
    p.simulation.line(p.a, c).bring_up()
    p.run_until(lambda: "b5" in [value for _, value in values(c.log())], "c to follow a")
    p.a.restart(next(b for b in p.a.broker_ids if b not in p.a.living()))
    assert_equal(other)


@pytest.mark.decision("D51")
def test_a_mirror_of_the_cluster_copies_nothing_again_when_the_clusters_own_mirror_is_deleted() -> None:
    p = failed_over()
    c = p.third()
    other = Mirror("next", source=p.b, destination=c)
    other.create()
    other.add_topics([TOPIC])
    assert_equal(other)
    p.there.delete()
    await_no_states(p)
    p.b.settle()
    p.b.restart(p.b.elect())
    p.b.write("b0")
    assert_equal(other)
    assert p.cuts_of(c) == []


@pytest.mark.decision("D51")
def test_a_controller_believes_a_broker_and_no_client_about_states() -> None:
    p = failed_over()
    client = p.b.client
    direct = client.call(p.b.endpoint(CONTROLLER_ID), DeleteMirrorRequest(mirror_name="m"), 0)
    assert isinstance(direct, DeleteMirrorResponse) and direct.error_code == E.MIRROR_NOT_EMPTY
    assert direct.error_message == "These partitions are not known to be STOPPED: orders-0."
    p.back.create()
    p.back.add_topics([TOPIC])
    p.there.add_topics([TOPIC])
    forged = [StoppedTopic(topic_name=TOPIC, partitions=[StoppedPartition(partition_index=0)])]
    asked = client.call(p.b.endpoint(1), DeleteMirrorRequest(mirror_name="m", stopped_topics=forged), 0)
    assert isinstance(asked, DeleteMirrorResponse) and asked.error_code == E.MIRROR_NOT_EMPTY


@pytest.mark.decision("D14")
def test_a_leader_that_never_read_that_it_is_stopped_enters_its_epoch_when_the_mirror_is_deleted() -> None:
    p = failed_over()
    p.b.elect()
    leader = p.b.await_leader()
    context = p.b.component(leader.broker_id).context
    unread = context.partitions[TP].for_new_leader()  # As if its response had not come yet.
    unread.is_busy = True
    context.add_partition(unread)
    leader.log.epochs.replace(leader.log.epochs.entries[:-1])
    assert leader.log.latest_epoch < leader.leader_epoch
    stopped = [StoppedTopic(topic_name=TOPIC, partitions=[StoppedPartition(partition_index=0)])]
    p.b.client.call(p.b.endpoint(CONTROLLER_ID), DeleteMirrorRequest(mirror_name="m", stopped_topics=stopped), 0)
    p.run_until(lambda: TP not in context.partitions, "the mirror to be gone")
    assert leader.log.latest_epoch == leader.leader_epoch


def test_a_mirror_without_topics_is_deleted_at_once() -> None:
    p = pair()
    p.there.create()
    p.there.delete()
    p.there.create()


def test_mirrors_are_listed_with_their_sources() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    Mirror("empty", source=p.a, destination=p.b).create()
    p.simulation.run_for(span_s=1)
    servers, cluster_id = p.a.bootstrap_servers, p.a.cluster_id
    assert Mirror.list(p.b) == [MirrorListing("empty", servers, "", 0), MirrorListing("m", servers, cluster_id, 1)]
    assert Mirror.list(p.a) == []
