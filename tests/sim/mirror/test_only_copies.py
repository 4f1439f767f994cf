"""The source's mirror of this cluster settled no last mirrored epoch, but this cluster did: no loss (D25, D31)."""

from __future__ import annotations

import pytest

from kmirror import Cluster, Hooks, Mirror, MirrorState, Simulation, TopicPartition
from kmirror.protocol import DeleteTopicsRequest
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.delete_topics_request import DeleteTopicState
from kmirror.protocol.gen.offset_for_leader_epoch_request import OffsetForLeaderEpochRequest
from kmirror.spec.error_codes import ErrorCode

pytestmark = pytest.mark.decision("D25")
GROWN = TopicPartition("t", 1)
REFRESH = {"mirror.metadata.refresh.interval.ms": "1000"}


def grown_after_the_failover(hooks: Hooks | None = None) -> tuple[Cluster, Cluster, Mirror, Mirror]:
    """Return a, b, and the mirrors to b and to a, both stopped: t-1 began at b, and was mirrored only to a."""
    simulation = Simulation(seed=1)
    a = Cluster(simulation, "a", configs=REFRESH)
    b = Cluster(simulation, "b", configs=REFRESH, interpose=hooks)
    a.start()
    b.start()
    a.create_topic("t")
    a.produce("t", 0, [b"m"])
    there, back = Mirror("dr", source=a, destination=b), Mirror("dr", source=b, destination=a)
    there.create()
    there.add_topics(["t"])
    there.catch_up()
    there.fail_over()
    b.order(CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="t", count=2, assignments=None)]))
    simulation.run_for(span_s=1)
    b.produce("t", 1, [b"b0", b"b1"])
    back.create()
    back.add_topics(["t"])
    simulation.run_for(span_s=3)
    back.catch_up()
    back.fail_over()
    return a, b, there, back


def values(cluster: Cluster) -> list[bytes | None]:
    return [record.value for record in cluster.read(GROWN)]


def row_of(mirror: Mirror) -> tuple[MirrorState, str]:
    return next((row.state, row.reason) for row in mirror.describe() if row.tp == GROWN)


def assert_waits(a: Cluster, back: Mirror) -> None:
    before = values(a)
    a.simulation.run_for(span_s=20)
    state, reason = row_of(back)
    assert (state, values(a)) == (MirrorState.PREPARING, before)
    assert "our log may be the only copy" in reason


@pytest.mark.decision("D31")
def test_a_partition_that_grew_after_the_failover_is_added_again() -> None:
    a, b, _, back = grown_after_the_failover()
    back.add_topics(["t"])
    b.produce("t", 1, [b"b2"])
    back.catch_up()
    back.assert_equal()
    assert values(a) == [b"b0", b"b1", b"b2"]


def test_records_written_here_since_our_stop_are_not_truncated() -> None:
    a, _, _, back = grown_after_the_failover()
    a.produce("t", 1, [b"only here"])
    back.add_topics(["t"])
    assert_waits(a, back)


@pytest.mark.parametrize("deleted", [0, 4], ids=["from 0 on", "from behind our end on"])
def test_mirrored_records_are_not_truncated_for_a_recreated_topic(deleted: int) -> None:
    """It has its former id, since a mirror created it, which stopped before it had any records."""
    a, b, there, back = grown_after_the_failover()
    line = a.simulation.line(a, b)
    b.order(DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=5000))
    there.add_topics(["t"])
    a.simulation.run_until(lambda: "t" in b.image.topics.names.values(), what="the topic")
    line.take_down()
    there.fail_over()
    line.bring_up()
    b.produce("t", 1, [b"x"] * 6)
    if deleted:
        rows = [DeleteRecordsPartition(partition_index=1, offset=deleted)]
        request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name="t", partitions=rows)], timeout_ms=5000)
        leader = b.leader(GROWN)
        assert leader is not None
        b.client.call(b.endpoint(leader.broker_id), request, 2)
    back.add_topics(["t"])
    assert_waits(a, back)
    assert values(a) == [b"b0", b"b1"]


def test_a_missing_response_about_epoch_ends_is_requested_again() -> None:
    hooks = Hooks()
    a, _, _, back = grown_after_the_failover(hooks)
    rule = hooks.on(OffsetForLeaderEpochRequest, from_nodes=True).answer(ErrorCode.UNKNOWN_SERVER_ERROR)
    back.add_topics(["t"])
    a.simulation.run_for(span_s=5)
    state, reason = row_of(back)
    assert state is MirrorState.PREPARING and reason.startswith("the source returned no end offset of leader epoch ")
    rule.remove()
    back.catch_up()
