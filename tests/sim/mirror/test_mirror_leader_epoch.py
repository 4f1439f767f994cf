"""Fetch v19: the epoch against which a follower of a mirrored log validates batches (D13)."""

from __future__ import annotations

import pytest

from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import TOPIC, TP, StagedCluster, WrittenLogs, pair, plain

LOGS = {TOPIC: [plain(0, 0, "r0"), plain(1, 4, "r1")]}


def fetch_as_follower(cluster: StagedCluster, *, current: int | None = None) -> PartitionData:
    """Fetch from the log end of B's leader, like a follower."""
    led = cluster.await_leader()
    follower = next(b for b in led.image.replicas if b != led.broker_id)
    wanted = FetchPartition(
        partition=0,
        fetch_offset=led.log.log_end_offset,
        last_fetched_epoch=led.log.latest_epoch,
        current_leader_epoch=led.leader_epoch if current is None else current,
        partition_max_bytes=1 << 20,
    )
    request = FetchRequest(
        replica_state=ReplicaState(replica_id=follower, replica_epoch=cluster.image.brokers[follower].epoch),
        session_epoch=-1,
        topics=[FetchTopic(topic_id=cluster.image.topics[TOPIC].topic_id, partitions=[wanted])],
    )
    reply = cluster.client.call(cluster.endpoint(led.broker_id), request, 19)
    assert isinstance(reply, FetchResponse)
    return reply.responses[0].partitions[0]


@pytest.mark.decision("D13")
def test_followers_of_a_mirrored_log_get_its_last_epoch() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    assert p.b.log().latest_epoch == 4 < p.b.await_leader().leader_epoch
    assert fetch_as_follower(p.b).mirror_leader_epoch == 4
    p.a.write("in the next epoch")
    p.simulation.run_for(span_s=2)
    assert fetch_as_follower(p.b).mirror_leader_epoch == 5
    assert fetch_as_follower(p.a).mirror_leader_epoch == -1, "the source's log has epochs of its own cluster"


@pytest.mark.decision("D13")
def test_after_failover_followers_validate_against_the_leader_epoch_again() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.fail_over()
    p.b.settle()
    assert fetch_as_follower(p.b).mirror_leader_epoch == -1


@pytest.mark.decision("D13")
def test_the_current_leader_epoch_still_fences_followers() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    before = p.b.await_leader().leader_epoch
    p.b.bump(before + 1)
    p.run_until(lambda: fetch_as_follower(p.b).error_code == 0, "the new leader epoch to be served")
    assert fetch_as_follower(p.b, current=before).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert fetch_as_follower(p.b, current=before + 2).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert fetch_as_follower(p.b).error_code == 0
    assert p.b.await_leader().tp == TP
