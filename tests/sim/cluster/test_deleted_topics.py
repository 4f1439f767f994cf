"""A deleted topic is removed from every replica, and the next one of its name is independent.

Each scenario would break a broker that identifies topics by name alone, or that does not clean up.
"""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.mirror import coordinator
from kmirror.mirror.coordinator import MirrorCoordinator
from kmirror.mirror.state_loader import StateLoader
from kmirror.mirror.state_records import NO_STATE, NOT_SETTLED, PartitionState, StateKey
from kmirror.mirror.state_writer import StateWriter
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.sim.facts import StateEntered
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import TRANSACTION_TOPIC
from tests.builders import batch
from tests.sim.stage import SMALL, TOPIC, TP, StagedCluster, WrittenLogs, pair, plain, records, wait_until_mirrored

OLD, NEW = ("old 0", "old 1", "old 2"), ("new 0", "new 1")


@pytest.fixture
def cluster() -> StagedCluster:
    made = StagedCluster(Simulation(1), "a", configs=SMALL)
    made.start()
    made.place_topic()
    for value in OLD:
        made.write(value)
    return made


def commit(cluster: StagedCluster, *decided: Message) -> None:
    """Let the controller commit these records in one batch, so that brokers replay them in one event."""
    cluster.controller.commit(cluster.simulation.world.now, list(decided), atomic=True)
    cluster.simulation.world.perform(cluster.process(CONTROLLER_ID), cluster.controller.outbox.drain())


def topic_again(replicas: tuple[int, ...] = (1, 2, 3)) -> list[Message]:
    """Return the records of a new topic of the same name."""
    topic_id = Uuid.from_ints(8, 8)
    partition = PartitionRecord(
        partition_id=0,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=list(replicas),
        leader=replicas[0],
        leader_epoch=0,
        partition_epoch=0,
    )
    return [TopicRecord(name=TOPIC, topic_id=topic_id), partition]


def remove(cluster: StagedCluster) -> RemoveTopicRecord:
    return RemoveTopicRecord(topic_id=cluster.image.topics[TOPIC].topic_id)


def gone(cluster: StagedCluster) -> bool:
    """Return whether no living broker holds anything of the topic."""
    return all(
        TP not in cluster.broker(b).parts.replicas.partitions and TP not in cluster.log_dirs[b][0].partitions()
        for b in cluster.living()
    )


def isr(cluster: StagedCluster) -> tuple[int, ...]:
    found = cluster.image.topics.partition(TP)
    return () if found is None else found.isr


def values(cluster: StagedCluster, broker_id: int) -> list[bytes]:
    log = cluster.broker(broker_id).parts.replicas.partitions[TP].log
    return [record.value or b"" for one in log.batches() for record in one.records()]


def all_have(cluster: StagedCluster, expected: tuple[str, ...]) -> bool:
    return all(
        TP in cluster.broker(b).parts.replicas.partitions
        and values(cluster, b) == [value.encode() for value in expected]
        for b in cluster.living()
    )


def test_every_broker_removes_a_deleted_topic(cluster: StagedCluster) -> None:
    assert cluster.delete(TOPIC, "nowhere") == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    cluster.simulation.run_until(lambda: gone(cluster), what="the topic to go")
    with pytest.raises(KafkaError, match="has no topic"):
        cluster.write("x")
    assert not cluster.broker(1).context.image.configs.topic(TOPIC)
    cluster.place_topic()
    for value in NEW:
        cluster.write(value)
    cluster.simulation.run_until(lambda: all_have(cluster, NEW), what="the new records everywhere")


def test_a_returning_replica_does_not_serve_the_log_of_the_earlier_topic(cluster: StagedCluster) -> None:
    cluster.kill(3)
    assert cluster.delete(TOPIC) == [ErrorCode.NONE]
    cluster.simulation.run_until(lambda: gone(cluster), what="the topic to go")
    commit(cluster, *topic_again((1, 2, 3)))
    cluster.simulation.run_until(lambda: cluster.leader(TP) is not None, what="a leader")
    cluster.simulation.run_until(lambda: 3 not in isr(cluster), what="the session of broker 3 to end")
    cluster.restart(3)
    cluster.simulation.run_until(lambda: 3 in isr(cluster), what="broker 3 in sync")
    for value in NEW:
        cluster.write(value)
    for other in (1, 2):
        cluster.kill(other)
    cluster.restart(2)
    found = cluster.await_leader()
    assert values(cluster, found.broker_id) == [value.encode() for value in NEW]
    assert values(cluster, 3) == [value.encode() for value in NEW]


def test_a_returning_replica_keeps_nothing_of_a_deleted_topic(cluster: StagedCluster) -> None:
    cluster.kill(3)
    assert cluster.delete(TOPIC) == [ErrorCode.NONE]
    cluster.restart(3)
    cluster.simulation.run_until(lambda: 3 in cluster.living() and not cluster.broker(3).parts.lifecycle.fenced)
    assert TP not in cluster.log_dirs[3][0].partitions()


def test_a_broker_with_old_metadata_drops_the_records_it_accepted(cluster: StagedCluster) -> None:
    """It is cut off, and stays the leader for clients that are cut off with it."""
    leader = cluster.await_leader()
    broker = cluster.broker(leader.broker_id)
    line = cluster.simulation.line(cluster.process(leader.broker_id), cluster.process(CONTROLLER_ID))
    line.take_down()
    assert cluster.delete(TOPIC) == [ErrorCode.NONE]
    commit(cluster, *topic_again((*sorted({1, 2, 3} - {leader.broker_id}), leader.broker_id)))
    stamp = cluster.simulation.now_ms
    broker.parts.replicas.appends.append(cluster.simulation.world.now, leader, batch(4, timestamp=stamp))
    cluster.simulation.run_for(span_s=5)
    line.bring_up()
    cluster.simulation.run_until(cluster.is_settled, within_s=120, what="all in sync")
    for value in NEW:
        cluster.write(value)
    cluster.simulation.run_until(lambda: all_have(cluster, NEW), what="the new records everywhere")


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_wait_for_acks_on_a_deleted_topic_ends_with_an_error(cluster: StagedCluster, is_replaced: bool) -> None:
    """Even if the next topic of the name has as many records by then: it came in the same batch of metadata."""
    leader = cluster.await_leader()
    parts, now = cluster.broker(leader.broker_id).parts, cluster.simulation.world.now
    told: list[ErrorCode] = []
    parts.replicas.purgatory.await_acks(now, leader, 4, 20_000, lambda _, error: told.append(error))
    commit(cluster, remove(cluster), *(topic_again((leader.broker_id,)) if is_replaced else ()))
    cluster.simulation.run_until(
        lambda: parts.replicas.partitions.get(TP) is not leader, what="the old partition to go"
    )
    if is_replaced:
        stamp = cluster.simulation.now_ms
        new = parts.replicas.partitions[TP]
        parts.replicas.appends.append(cluster.simulation.world.now, new, batch(9, timestamp=stamp))
    cluster.simulation.run_for(span_s=1)
    error = ErrorCode.NOT_LEADER_OR_FOLLOWER if is_replaced else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert told == [error]


@pytest.mark.parametrize("is_replaced", [False, True])
@pytest.mark.parametrize("epoch", [0, -1], ids=["in a session", "without one"])
def test_a_fetch_by_id_ends_with_the_topic(cluster: StagedCluster, is_replaced: bool, epoch: int) -> None:
    leader = cluster.await_leader()
    row = FetchPartition(partition=0, fetch_offset=len(OLD), partition_max_bytes=1000)
    topic = FetchTopic(topic_id=leader.topic_id, partitions=[row])
    request = FetchRequest(max_wait_ms=20_000, min_bytes=1, session_epoch=epoch, topics=[topic])
    told: list[Message | None] = []
    cluster.client.send(cluster.endpoint(leader.broker_id), request, told.append, version=13)
    cluster.simulation.run_for(span_s=1)
    assert not told
    commit(cluster, remove(cluster), *(topic_again((leader.broker_id,)) if is_replaced else ()))
    cluster.simulation.run_until(lambda: bool(told), within_s=5, what="an answer")
    [answer] = told
    assert isinstance(answer, FetchResponse)
    assert [p.error_code for t in answer.responses for p in t.partitions] == [ErrorCode.UNKNOWN_TOPIC_ID]


def test_a_transaction_ends_although_one_of_its_topics_was_deleted() -> None:
    cluster = StagedCluster(Simulation(2), "a", configs=SMALL)
    cluster.start()
    cluster.place_topic()
    cluster.place_topic("stays")
    producer = Producer(cluster, transactional_id="tx")
    producer.begin_transaction()
    stays = TopicPartition("stays", 0)
    producer.send(records("a") | records("b", tp=stays))
    assert cluster.delete(TOPIC) == [ErrorCode.NONE]
    cluster.simulation.run_until(lambda: gone(cluster), what="the topic to go")
    producer.commit_transaction()
    found = cluster.await_leader(stays)
    cluster.simulation.run_until(lambda: found.log.last_stable_offset == 2, what="the marker")
    producer.begin_transaction()
    producer.send(records("c", tp=stays))
    producer.commit_transaction()


def test_the_topic_of_the_transaction_coordinator_is_created_again(cluster: StagedCluster) -> None:
    producer = Producer(cluster, transactional_id="tx")
    for is_first in (True, False):
        producer.begin_transaction()
        producer.send(records("x"))
        producer.commit_transaction()
        if is_first:
            assert cluster.delete(TRANSACTION_TOPIC) == [ErrorCode.NONE]
            cluster.simulation.run_for(span_s=1)
            producer = Producer(cluster, transactional_id="tx")


@pytest.mark.parametrize("seed", range(6))
def test_after_any_events_the_disks_agree_with_the_image(seed: int) -> None:
    """Topics are deleted and created under the same names, while brokers are killed, stopped, cut off and started."""
    rng = Rng(seed)
    cluster = StagedCluster(Simulation(seed), "a", configs=SMALL)
    cluster.start()
    names = ("one", "two")
    for _ in range(25):
        name, broker_id = rng.choice(names), rng.choice(cluster.broker_ids)
        match rng.choice(
            ("create", "create", "delete", "write", "write", "grow", "kill", "restart", "restart", "wait")
        ):
            case "create" if name not in cluster.image.topics:
                cluster.begin_create_topic(name, rng.choice((1, 2)))
            case "delete" if name in cluster.image.topics:
                cluster.delete(name)
            case "grow" if name in cluster.image.topics:
                cluster.grow(name, len(cluster.image.topics[name].partitions) + 1)
            case "write" if cluster.leader(TopicPartition(name, 0)) is not None:
                cluster.try_write(TopicPartition(name, 0))
            case "kill" if len(cluster.living()) > 1 and broker_id in cluster.living():
                cluster.kill(broker_id, power_cut=rng.chance(1, 2))
            case "restart" if broker_id not in cluster.living():
                cluster.restart(broker_id)
            case _:
                cluster.simulation.run_for(span_s=rng.choice((0.01, 0.3, 4)))
    for broker_id in cluster.broker_ids:
        if broker_id not in cluster.living():
            cluster.restart(broker_id)
    cluster.simulation.run_until(cluster.is_settled, within_s=120, what="all in sync")
    for broker_id in cluster.broker_ids:
        wanted = {TopicPartition(topic.name, index) for topic, index in cluster.image.topics.hosted_by(broker_id)}
        cluster.simulation.run_until(
            lambda broker_id=broker_id, wanted=wanted: set(cluster.log_dirs[broker_id][0].partitions()) == wanted,  # type: ignore[misc]
            what=f"the disk of {broker_id}",
        )
        for tp, held in cluster.broker(broker_id).parts.replicas.partitions.items():
            assert held.topic_id == cluster.image.topics[tp.topic].topic_id
            led = cluster.await_leader(tp)
            assert [repr(one) for one in held.log.batches()] == [repr(one) for one in led.log.batches()]


# -- mirrored topics ------------------------------------------------------------------------------


@pytest.mark.decision("D7")
def test_a_mirrored_topic_must_be_removed_before_it_is_deleted_or_grown() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
    p.begin()
    p.b.place_topic("plain")
    assert p.b.delete(TOPIC, "plain") == [ErrorCode.READ_ONLY_TOPIC, ErrorCode.NONE], "each for itself"
    assert p.b.grow(TOPIC, 2) is ErrorCode.READ_ONLY_TOPIC
    p.fail_over()
    assert p.b.grow(TOPIC, 2) is ErrorCode.NONE
    second = TopicPartition(TOPIC, 1)
    p.run_until(
        lambda: p.b.leader(second) is not None and p.b.try_write(second) is ErrorCode.NONE, "a second partition"
    )
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.run_until(lambda: gone(p.b), "the topic to go")
    p.b.place_topic()
    assert p.b.write("free") == 0, "its mirror.name went with the topic that had it"


@pytest.mark.decision("D7")
def test_a_topic_deleted_while_stopped_can_be_mirrored_again() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
    p.begin()
    p.there.remove_topics([TOPIC])
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.run_until(lambda: gone(p.b), "the topic to go")
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.state() == "MIRRORING", "MIRRORING")
    p.a.write("more")
    p.run_until(lambda: p.b.log().log_end_offset == 3, "all records")


@pytest.mark.decision("D49")
def test_a_returning_replica_does_not_serve_the_earlier_log_of_the_same_id() -> None:
    """The source changed its mind: records of broker 3 from the first mirroring are no longer mirrored."""
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
    p.begin()
    p.fail_over()
    for value in OLD:
        p.b.write(value)
    p.b.kill(3)
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.run_until(lambda: gone(p.b), "the topic to go")
    p.b.restart(3)
    p.run_until(lambda: not p.b.broker(3).parts.lifecycle.fenced, "broker 3 back")
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.state() == "MIRRORING", "MIRRORING")
    p.a.write("more")
    p.run_until(lambda: all_have(p.b, ("r0", "r1", "more")), "the source's records everywhere")


@pytest.mark.decision("D49")
def test_leader_epochs_of_a_recreated_topic_id_continue() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
    p.begin()
    p.fail_over()
    before = p.b.await_leader()
    topic_id, epoch = before.topic_id, before.leader_epoch
    assert epoch > 0, "the stop has raised it"
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.run_until(lambda: gone(p.b), "the topic to go")
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.state() == "MIRRORING", "MIRRORING")
    found = p.b.await_leader()
    assert found.topic_id == topic_id and found.leader_epoch > epoch
    p.b.place_topic("plain")
    assert p.b.await_leader(TopicPartition("plain", 0)).leader_epoch == 0


@pytest.mark.decision("D49")
@pytest.mark.parametrize("is_last", [True, False])
def test_an_id_recreated_in_the_same_batch_is_a_new_log(cluster: StagedCluster, is_last: bool) -> None:
    """Also if another topic had the name in between."""
    leader = cluster.await_leader()
    again = topic_again()
    between = [] if is_last else [*topic_again(), RemoveTopicRecord(topic_id=Uuid.from_ints(8, 8))]
    for record in again:
        record.topic_id = leader.topic_id  # type: ignore[attr-defined]
    again[1].leader_epoch = leader.leader_epoch + 1  # type: ignore[attr-defined]
    commit(cluster, remove(cluster), *between, *again)
    cluster.simulation.run_for(span_s=1)
    for value in NEW:
        cluster.write(value)
    cluster.simulation.run_until(lambda: all_have(cluster, NEW), what="the new records everywhere")


@pytest.mark.decision("D49")
@pytest.mark.parametrize("knows", [True, False], ids=["it knows", "it has not heard of the deletion"])
@pytest.mark.parametrize("stops", [True, False], ids=["STOPPED", "MIRRORING"])
def test_a_topic_mirrored_again_has_no_former_state(stops: bool, knows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator could not remove it in time: too few replicas of `__mirror_state` were in the ISR."""
    p = pair(brokers=1, logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
    p.begin()
    monkeypatch.setattr(MirrorCoordinator, "remove_orphans", lambda *_: None)
    if stops:
        p.fail_over()
    else:
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(StateWriter, "transition", lambda *_: None)  # It is deleted before the stop begins.
            p.there.remove_topics([TOPIC])
    former = p.b.persisted()
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.run_until(lambda: gone(p.b), "the topic to go")
    if not knows:
        monkeypatch.setattr(coordinator, "is_of_former_topic", lambda *_: False)
    p.there.add_topics([TOPIC])
    if knows:
        p.run_until(lambda: TOPIC in p.b.image.topics and p.b.persisted().state is MirrorState.PREPARING, "PREPARING")
        assert p.b.persisted().last_mirrored_epoch == NOT_SETTLED
    else:
        p.simulation.run_for(span_s=2)
        monkeypatch.undo()
        p.b.component(1).context.coordinator.remove_orphans(lambda *_: None)
    wait_until_mirrored(p.there)
    found = p.b.persisted()
    assert found.state is MirrorState.MIRRORING
    assert found.leader_epoch > former.leader_epoch and found.last_mirrored_epoch == NOT_SETTLED
    entered = [seen.fact for seen in p.simulation.facts(StateEntered) if seen.cluster == "b"]
    prepared = [fact.last_mirrored_epoch for fact in entered if fact.state is MirrorState.PREPARING]
    assert prepared == [NOT_SETTLED, NOT_SETTLED]
    assert all_have(p.b, ("r0", "r1"))


@pytest.mark.decision("D49")
def test_a_coordinator_does_not_return_the_state_of_a_former_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a failback would truncate to the last mirrored epoch of the deleted topic."""
    p = pair(brokers=1, logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
    p.begin()
    monkeypatch.setattr(MirrorCoordinator, "remove_orphans", lambda *_: None)
    p.fail_over()
    key = StateKey("m", p.b.image.topics[TOPIC].topic_id, 0)
    found: list[PartitionState | None] = []

    def read() -> PartitionState | None:
        p.b.component(1).context.coordinator.read(0, key, lambda now, state, error: found.append(state))
        p.run_until(lambda: bool(found), "an answer")
        return found.pop()

    assert read() == p.b.persisted() != NO_STATE
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.run_until(lambda: gone(p.b), "the topic to go")
    monkeypatch.setattr(StateLoader, "load", lambda *_: None)
    p.there.add_topics([TOPIC])
    p.run_until(lambda: TOPIC in p.b.image.topics and p.b.leader(TP) is not None, "the topic to come back")
    assert p.b.image.topics[TOPIC].topic_id == key.topic_id
    assert read() == NO_STATE
