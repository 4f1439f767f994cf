"""Controlled shutdown: a node hands over its leaders, closes its logs, and starts again without a recovery."""

from __future__ import annotations

import itertools

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.node import clean_shutdown
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_heartbeat_response import BrokerHeartbeatResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.apis import ROWS
from kmirror.spec.error_codes import ErrorCode

PARTITIONS = 6


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(Simulation(5), "a")
    made.start()
    made.create_topic("t", PARTITIONS)
    for partition in range(PARTITIONS):
        made.produce("t", partition, [b"x"])
    made.simulation.run_until(made.is_settled)
    return made


def leaders(cluster: Cluster) -> list[int]:
    return [partition.leader for partition in cluster.image.topics["t"].partitions.values()]


def reply(cluster: Cluster, request: BrokerHeartbeatRequest) -> BrokerHeartbeatResponse:
    answer = cluster.client.call(cluster.endpoint(CONTROLLER_ID), request)
    assert isinstance(answer, BrokerHeartbeatResponse) and answer.error_code == ErrorCode.NONE
    return answer


def test_leaderships_move_before_a_broker_ends(cluster: Cluster) -> None:
    assert 1 in leaders(cluster)
    cluster.simulation.world.stop(cluster.process(1))
    cluster.simulation.run_until(lambda: 1 not in leaders(cluster))
    assert cluster.runs(1), "it serves until the others know who leads"
    assert all(1 not in p.isr for p in cluster.image.topics["t"].partitions.values())
    cluster.simulation.run_until(lambda: not cluster.runs(1))
    assert cluster.image.brokers[1].fenced and -1 not in leaders(cluster)


def test_a_broker_may_stop_once_others_have_replayed_that_it_leads_nothing(cluster: Cluster) -> None:
    """The broker's own heartbeats do not request the shutdown: the test sends them instead."""
    epoch = cluster.image.brokers[1].epoch
    others = [cluster.broker(2), cluster.broker(3)]
    wish = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=epoch, current_metadata_offset=cluster.image.offset, want_shut_down=True
    )
    line = cluster.simulation.line(cluster.process(3), cluster.process(CONTROLLER_ID))
    line.take_down()
    first = reply(cluster, wish)
    needed = cluster.image.offset
    assert not first.should_shut_down and not first.is_fenced
    assert cluster.image.brokers[1].in_controlled_shutdown and not cluster.image.brokers.is_active(1)
    cluster.simulation.run_until(lambda: others[0].context.image.offset >= needed)
    cluster.simulation.run_for(span_s=1)
    assert not reply(cluster, wish).should_shut_down, "broker 3 does not know it yet"
    line.bring_up()
    cluster.simulation.run_until(lambda: others[1].context.image.offset >= needed)
    cluster.simulation.run_for(span_s=0.1)
    last = reply(cluster, wish)
    assert last.should_shut_down and last.is_fenced


def test_a_controlled_shutdown_waits_for_nobodys_next_heartbeat(cluster: Cluster) -> None:
    """The fetches of the others show that they have replayed the change; a heartbeat may be two seconds away."""
    before = cluster.simulation.now_ms
    cluster.stop(1)
    assert cluster.simulation.now_ms - before < 200


def test_a_waiting_shutdown_sends_fewer_and_fewer_requests(cluster: Cluster) -> None:
    line = cluster.simulation.line(cluster.process(3), cluster.process(CONTROLLER_ID))
    line.take_down()
    asked: list[int] = []
    lifecycle = cluster.broker(1).parts.lifecycle
    send = lifecycle.on_timer

    def counted(now: int) -> None:
        asked.append(cluster.simulation.now_ms)
        send(now)

    lifecycle.on_timer = counted  # type: ignore[method-assign]
    cluster.simulation.world.stop(cluster.process(1))
    cluster.simulation.run_for(span_s=7)
    pauses = [after - before for before, after in itertools.pairwise(asked)]
    expected = (50, 100, 200, 400, 800, 1600, 2000)
    assert all(least <= pause < least + 50 for least, pause in zip(expected, pauses, strict=False)), pauses
    assert len(pauses) >= 6 and cluster.runs(1)


def test_a_broker_in_controlled_shutdown_gets_no_leadership_and_joins_no_isr(cluster: Cluster) -> None:
    cluster.simulation.world.stop(cluster.process(1))
    cluster.simulation.run_until(lambda: 1 not in leaders(cluster))
    cluster.kill(2)
    cluster.simulation.run_until(lambda: cluster.image.brokers[2].fenced, within_s=60)
    assert 1 not in leaders(cluster)
    assert all(1 not in p.isr for p in cluster.image.topics["t"].partitions.values())


def test_a_broker_that_ended_in_order_starts_without_a_recovery(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = {tp: partition.log.log_end_offset for tp, partition in cluster.broker(1).parts.replicas.partitions.items()}
    epoch = cluster.image.brokers[1].epoch
    cluster.stop(1)
    assert cluster.log_dirs[1][0].read_file(clean_shutdown.FILE) == b'{"version":0,"brokerEpoch":%d}' % epoch
    repaired: list[bool] = []
    opened = PartitionLog.open.__func__  # type: ignore[attr-defined]

    def spied(cls: type[PartitionLog], tp: TopicPartition, *args: object, **options: object) -> PartitionLog:
        repaired.append(bool(options["repair"]))
        log = opened(cls, tp, *args, **options)
        assert isinstance(log, PartitionLog) and log.log_end_offset == ends[tp]
        return log

    monkeypatch.setattr(PartitionLog, "open", classmethod(spied))
    cluster.restart(1)
    assert cluster.log_dirs[1][0].read_file(clean_shutdown.FILE) is None, "a crash from now on is not a clean end"
    cluster.simulation.run_until(cluster.is_settled)
    assert repaired and not any(repaired)
    assert cluster.broker(1).context.previous_epoch == epoch


def test_a_killed_broker_recovers_its_logs(cluster: Cluster) -> None:
    cluster.kill(1)
    cluster.restart(1)
    assert cluster.broker(1).context.previous_epoch is None


def test_a_broker_that_was_never_registered_ends_immediately() -> None:
    cluster = Cluster(Simulation(5), "a", brokers=1)
    cluster.simulation.world.start(cluster.process(1))
    cluster.simulation.run_for(span_s=1)
    before = cluster.simulation.world.now
    cluster.stop(1)
    assert cluster.simulation.world.now == before and not cluster.runs(1)


def test_a_broker_waits_five_minutes_for_an_unresponsive_controller(cluster: Cluster) -> None:
    cluster.kill(CONTROLLER_ID)
    before = cluster.simulation.now_ms
    cluster.stop(1)
    assert cluster.simulation.now_ms - before == 300_000


def test_a_whole_cluster_ends_in_order_and_begins_again(cluster: Cluster) -> None:
    cluster.stop()
    assert not cluster.living() and not cluster.runs(CONTROLLER_ID)
    cluster.start()
    assert [record.value for record in cluster.read(TopicPartition("t", 3))] == [b"x"]


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"version":0,"brokerEpoch":"x"}'])
def test_an_unreadable_clean_shutdown_file_counts_as_one(cluster: Cluster, data: bytes) -> None:
    disk = cluster.log_dirs[1][0]
    disk.write_file(clean_shutdown.FILE, data)
    assert clean_shutdown.remove(disk) == -1 and clean_shutdown.remove(disk) is None


def test_a_stopping_follower_stops_fetching_once_it_is_out_of_the_isr(cluster: Cluster) -> None:
    """In Kafka the controller's change reaches the broker while it waits for permission, and stops its fetchers."""
    world = cluster.simulation.world
    tp = next(TopicPartition("t", p) for p in range(PARTITIONS) if leaders(cluster)[p] != 1)
    stopping = cluster.broker(1)
    line = cluster.simulation.line(cluster.process(3), cluster.process(CONTROLLER_ID))
    line.take_down()  # Broker 3 cannot confirm the change, so 1 has to wait.
    world.stop(cluster.process(1))
    cluster.simulation.run_until(lambda: 1 not in stopping.context.image.topics["t"].partitions[tp.partition].isr)
    held = stopping.parts.replicas.partitions[tp].log.log_end_offset
    cluster.produce("t", tp.partition, [b"after"])
    cluster.simulation.run_for(span_s=1)
    assert cluster.runs(1), "it still waits"
    leader = cluster.leader(tp)
    assert leader is not None and leader.log.log_end_offset == held + 1
    assert stopping.parts.replicas.partitions[tp].log.log_end_offset == held
    line.bring_up()
    cluster.simulation.run_until(lambda: not cluster.runs(1), within_s=60)
    cluster.restart(1)
    cluster.simulation.run_until(cluster.is_settled, within_s=60)
    assert cluster.broker(1).parts.replicas.partitions[tp].log.log_end_offset == held + 1


def test_a_heartbeat_leaves_out_only_cordoned_directories() -> None:
    (row,) = (row for row in ROWS if row.name == "BrokerHeartbeat")
    assert row.unsupported == "cordoned directories"
