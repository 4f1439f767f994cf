"""A user deletes `__mirror_state`: effect on mirrored topics, and on stopped ones (D6, D23, D25)."""

from __future__ import annotations

import pytest

from kmirror import Cluster, Mirror, MirrorState, RecordData, Simulation, TopicPartition
from kmirror.protocol import DeleteTopicsRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicState
from kmirror.sim.facts import LogCut, StateEntered
from kmirror.sim.producer import Producer
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from tests.builders import marker
from tests.sim import stage
from tests.sim.mirror.test_known_losses import away, mirrored_without_one, with_a_foreign_log

TP = TopicPartition("t", 0)
CONFIGS = {"mirror.metadata.refresh.interval.ms": "1000"}


def mirrored(brokers: int = 1) -> tuple[Cluster, Cluster, Mirror]:
    """Return a, b and a mirror of t, which has three records."""
    simulation = Simulation(seed=1)
    a = Cluster(simulation, "a", brokers=brokers, configs=CONFIGS)
    b = Cluster(simulation, "b", brokers=brokers, configs=CONFIGS)
    a.start()
    b.start()
    a.create_topic("t")
    a.produce("t", 0, [b"m0", b"m1", b"m2"])
    mirror = Mirror("dr", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["t"])
    mirror.catch_up()
    return a, b, mirror


def lose_states(cluster: Cluster, *, restart: bool = True) -> None:
    """Delete the topic with the states; with `restart` every broker stops before it replays that."""
    simulation, known = cluster.simulation, cluster.image.topics[MIRROR_STATE_TOPIC]
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=MIRROR_STATE_TOPIC)], timeout_ms=30_000)
    deleting = cluster.begin_order(request)
    simulation.run_until(lambda: cluster.image.topics.get(MIRROR_STATE_TOPIC) is not known, what="the deletion")
    if not restart:
        deleting.result()
    else:
        for broker in cluster.broker_ids:
            cluster.kill(broker)
        simulation.run_for(span_s=12)
        for broker in cluster.broker_ids:
            cluster.restart(broker)
        simulation.run_until(cluster.is_settled, what="leaders")


def values(cluster: Cluster) -> list[bytes | None]:
    return [record.value for record in cluster.read(TP)]


@pytest.mark.decision("D6")
@pytest.mark.parametrize("brokers", [1, 3])
def test_a_stopped_topic_keeps_its_records_and_stays_writable(brokers: int) -> None:
    _, b, mirror = mirrored(brokers)
    mirror.fail_over()
    b.produce("t", 0, [b"b0"])
    producer = Producer(b, transactional_id="x")
    producer.begin_transaction()
    producer.send({TP: [RecordData(value=b"x0")]})
    lose_states(b)
    mirror.wait_for_state(MirrorState.STOPPED, [TP])
    b.produce("t", 0, [b"b1"])
    producer.commit_transaction()
    assert values(b) == [b"m0", b"m1", b"m2", b"b0", b"x0", b"b1"]
    assert [seen for seen in b.simulation.facts(LogCut) if seen.cluster == "b"] == []


@pytest.mark.decision("D25")
def test_a_failback_from_a_topic_with_lost_state_waits_with_a_reason() -> None:
    a, b, mirror = mirrored()
    a.simulation.line(a, b).take_down()
    a.produce("t", 0, [b"only here"])
    mirror.fail_over()
    b.produce("t", 0, [b"b0"])
    lose_states(b)
    mirror.wait_for_state(MirrorState.STOPPED, [TP])
    a.simulation.line(a, b).bring_up()
    back = Mirror("dr", source=b, destination=a)
    back.create()
    back.add_topics(["t"])
    a.simulation.run_for(span_s=5)
    (row,) = back.describe()
    assert row.state is MirrorState.PREPARING
    assert "or its state was lost" in row.reason
    assert values(a) == [b"m0", b"m1", b"m2", b"only here"]
    mirror.delete()  # The operator repeats it.
    back.catch_up()
    back.assert_equal()


@pytest.mark.decision("D32")
def test_a_mirrored_topic_is_copied_from_scratch_after_its_state_is_deleted() -> None:
    a, b, mirror = mirrored()
    line = a.simulation.line(a, b)
    line.take_down()
    lose_states(b)
    a.simulation.run_for(span_s=10)
    assert values(b) == [b"m0", b"m1", b"m2"], "nothing proves that the source knows nothing"
    line.bring_up()
    a.produce("t", 0, [b"m3"])
    mirror.catch_up()
    mirror.assert_equal()
    line.take_down()
    lose_states(b)
    mirror.fail_over()
    assert values(b) == [b"m0", b"m1", b"m2", b"m3"]


@pytest.mark.decision("D68")
@pytest.mark.parametrize("is_mirrored", [True, False], ids=["before the failover", "after it"])
def test_a_failback_is_one_by_delta_though_the_states_were_lost(is_mirrored: bool) -> None:
    a, b, mirror = mirrored()
    if is_mirrored:
        lose_states(b, restart=False)
        a.simulation.line(a, b).take_down()
    mirror.fail_over()
    if not is_mirrored:
        lose_states(b, restart=False)
        a.simulation.run_for(span_s=1)
    b.stop(1)  # The next leader reads the state that the former one has written again.
    b.restart(1)
    a.simulation.run_until(b.is_settled, what="a leader")
    a.simulation.line(a, b).bring_up()
    b.produce("t", 0, [b"b0"])
    back = Mirror("dr", source=b, destination=a)
    back.create()
    back.add_topics(["t"])
    back.catch_up()
    back.assert_equal()
    assert [seen for seen in a.simulation.facts(LogCut) if seen.cluster == "a"] == []


@pytest.mark.decision("D68")
def test_a_mirror_is_deleted_after_its_states_were_lost() -> None:
    _, b, mirror = mirrored()
    mirror.fail_over()
    lose_states(b, restart=False)
    b.simulation.run_for(span_s=1)  # Its leader writes the state again.
    mirror.delete()
    assert Mirror.list(b) == []


@pytest.mark.decision("D68")
def test_a_mirrored_topic_continues_while_its_leader_stays() -> None:
    a, b, mirror = mirrored()
    lose_states(b, restart=False)
    mirror.pause(["t"])
    mirror.wait_for_state(MirrorState.PAUSED, [TP])
    a.produce("t", 0, [b"m3"])
    mirror.resume(["t"])
    mirror.catch_up()
    mirror.assert_equal()
    assert values(b) == [b"m0", b"m1", b"m2", b"m3"]
    assert [seen for seen in b.simulation.facts(LogCut) if seen.cluster == "b"] == []


@pytest.mark.decision("D62")
def test_the_lag_is_known_again_though_the_source_has_nothing_new() -> None:
    """The former fetch session would not repeat unchanged data."""
    p = with_a_foreign_log(5)
    victim = mirrored_without_one(p)
    lose_states(p.b, restart=False)
    p.b.restart(victim)  # Its truncation is recorded, so the leader notices that its state is lost.
    p.run_until(lambda: victim in p.b.await_leader().isr, "the replica to be in the ISR")
    p.there.catch_up()
    p.simulation.run_for(span_s=5)
    (row,) = p.there.describe()
    assert (row.state, row.source_offset, row.lag) == (MirrorState.MIRRORING, 5, 0)


@pytest.mark.decision("D8")
def test_a_mirror_creates_a_topic_although_its_states_are_lost_before() -> None:
    simulation = Simulation(seed=1)
    a = Cluster(simulation, "a", brokers=1, configs=CONFIGS)
    b = Cluster(simulation, "b", brokers=2, configs=CONFIGS)
    a.start()
    b.start()
    a.create_topic("t")
    a.produce("t", 0, [b"m0"])
    mirror = Mirror("dr", source=a, destination=b)
    mirror.create()
    simulation.line(a, b).take_down()
    mirror.add_topics(["t"])
    lose_states(b, restart=False)
    simulation.run_for(span_s=40)
    simulation.line(a, b).bring_up()
    mirror.catch_up()
    mirror.assert_equal()


@pytest.mark.decision("D17")
def test_the_metadata_sync_continues_although_no_leader_needs_a_state() -> None:
    a, b, mirror = mirrored()
    lose_states(b, restart=False)
    a.create_topic("u")
    mirror.add_topics(["u"])
    mirror.catch_up()
    assert "u" in b.image.topics


@pytest.mark.decision("D68")
def test_a_topic_that_stops_without_its_state_records_its_next_writers() -> None:
    """Cluster c mirrors a, then b, then a again: records of b in between are not taken for records of a."""
    a, b, mirror = mirrored()
    c = Cluster(a.simulation, "c", brokers=1, configs=CONFIGS)
    c.start()
    of_a, of_b = Mirror("of-a", source=a, destination=c), Mirror("of-b", source=b, destination=c)
    of_a.create()
    of_b.create()
    for other in (of_a, of_b):
        if other is of_b:
            of_a.fail_over()
        other.add_topics(["t"])
        other.catch_up()
    epoch = b.image.topics["t"].partitions[0].leader_epoch
    a.simulation.line(a, b).take_down()
    lose_states(b, restart=False)
    mirror.fail_over()
    assert b.image.topics["t"].partitions[0].leader_epoch > epoch
    b.produce("t", 0, [b"b0"])
    of_b.catch_up()
    of_b.assert_equal()
    of_b.fail_over()
    for value in (b"a0", b"a1", b"a2"):  # A log as long as b's, in the leader epoch in which b was mirrored.
        a.produce("t", 0, [value])
    of_a.add_topics(["t"])
    of_a.catch_up()
    of_a.assert_equal()
    assert values(c) == values(a)


def with_an_open_transaction(brokers: int = 3) -> stage.Pair:
    """Return two disconnected clusters; b has a transaction of a without its marker."""
    log = [stage.transactional(0, 0, 4001, "x0"), marker(offset=1, epoch=0, pid=4001, commit=True)]
    p = stage.pair(brokers=brokers, logs=stage.WrittenLogs({stage.TOPIC: log}), b_configs=stage.ONE_BATCH)
    p.there.create()
    p.there.add_topics([stage.TOPIC])
    p.run_until(lambda: p.b.leader(stage.TP) is not None and p.b.log().high_watermark == 1, "all but the marker")
    p.simulation.line(p.a, p.b).take_down()
    return p


@pytest.mark.decision("D33")
@pytest.mark.decision("D68")
def test_a_topic_that_stops_without_its_state_leaves_no_transaction_of_the_source_open() -> None:
    p = with_an_open_transaction()
    lose_states(p.b, restart=False)
    p.fail_over()
    assert p.b.log().last_stable_offset == p.b.log().log_end_offset


@pytest.mark.decision("D15")
@pytest.mark.decision("D68")
@pytest.mark.parametrize("tenths_ms", range(0, 30, 3))
def test_a_stop_resets_producers_even_if_the_states_are_lost_meanwhile(tenths_ms: int) -> None:
    """Its leader epoch is raised between the loss of the state and the time when its leader learns of it."""
    p = with_an_open_transaction(brokers=1)
    p.there.begin_remove_topics([stage.TOPIC])
    p.simulation.run_for(span_s=tenths_ms / 10_000)
    lose_states(p.b, restart=False)
    stage.wait_until_stopped(p.there)
    assert p.b.log().last_stable_offset == p.b.log().log_end_offset
    assert len(stage.resets(p.b.log())) == 1


@pytest.mark.decision("D68")
@pytest.mark.parametrize("tenths_ms", range(0, 60, 10))
def test_a_raised_leader_epoch_during_the_loss_of_states_copies_nothing_again(tenths_ms: int) -> None:
    p = stage.pair(brokers=1)
    p.a.place_topic(replicas=[[1]])
    p.a.write("m0")
    p.begin()
    epoch = p.b.await_leader(stage.TP).leader_epoch + 5
    p.b.begin_order(DeleteTopicsRequest(topics=[DeleteTopicState(name=MIRROR_STATE_TOPIC)], timeout_ms=30_000))
    p.simulation.run_for(span_s=tenths_ms / 10_000)
    p.b.bump(epoch)
    p.a.write("m1")
    p.run_until(lambda: p.b.persisted().state is MirrorState.MIRRORING, "the state to be written again")
    stage.wait_until_mirrored(p.there)
    assert p.b.await_leader(stage.TP).leader_epoch == epoch
    assert p.cuts_of(p.b) == []
    entered = [seen.fact.state for seen in p.simulation.facts(StateEntered) if seen.cluster == "b"]
    assert entered.count(MirrorState.PREPARING) == 1, "nothing is copied again"


@pytest.mark.decision("D9")
@pytest.mark.decision("D68")
@pytest.mark.parametrize("is_elected", [False, True], ids=["raised", "elected"])
def test_an_existing_state_is_read_in_a_new_leader_epoch_and_not_rewritten(is_elected: bool) -> None:
    p = stage.pair()
    p.a.place_topic()
    p.a.write("m0")
    p.begin()
    p.fail_over()
    persisted = p.b.persisted()
    if is_elected:
        p.b.elect()
    else:
        p.b.bump(p.b.await_leader(stage.TP).leader_epoch + 1)
    p.run_until(lambda: p.b.state() == "STOPPED", "the state to be read")
    p.simulation.run_for(span_s=2)
    assert p.b.persisted() == persisted, "with the leader epoch of before"


@pytest.mark.decision("D30")
@pytest.mark.decision("D68")
def test_a_replica_that_must_truncate_still_must_when_states_are_lost() -> None:
    p = with_a_foreign_log(5)
    victim = mirrored_without_one(p)
    lose_states(p.b, restart=False)
    p.there.fail_over()
    assert p.b.persisted().uncut[victim] == -1
    p.b.restart(victim)
    p.run_until(lambda: victim in p.b.await_leader().isr, "the replica to be in the ISR")
    assert stage.values(p.b.replicas(stage.TP)[victim].log) == stage.values(p.b.log())


@pytest.mark.decision("D30")
@pytest.mark.decision("D68")
def test_a_replica_whose_leader_waits_in_preparing_still_must_truncate() -> None:
    """The leader has only the list of uncut replicas: the lineage is the source's from MIRRORING on."""
    p = with_a_foreign_log(5)
    p.b.alter(stage.TOPIC, {"mirror.support.unclean.leader.election": "true"})
    victim = away(p)
    p.there.add_topics([stage.TOPIC])
    p.run_until(lambda: p.b.persisted().uncut.get(victim) == -1, "the list of uncut replicas")
    lose_states(p.b, restart=False)
    p.there.fail_over()
    assert p.b.persisted().uncut[victim] == -1


@pytest.mark.decision("D68")
def test_the_lineage_of_a_topic_that_failed_outlives_its_state() -> None:
    p = with_a_foreign_log(5)
    p.begin()
    p.fail_over()
    lineage = p.b.persisted().lineage
    p.simulation.line(p.a, p.b).take_down()
    p.there.add_topics([stage.TOPIC])
    p.there.wait_for_state(MirrorState.PREPARING, [stage.TP])
    p.a.order(DeleteTopicsRequest(topics=[DeleteTopicState(name=stage.TOPIC)], timeout_ms=30_000))
    p.a.create_topic(stage.TOPIC)
    p.simulation.line(p.a, p.b).bring_up()
    p.there.wait_for_state(MirrorState.FAILED, [stage.TP])
    lose_states(p.b, restart=False)
    p.there.fail_over()
    assert p.b.persisted().lineage == lineage
