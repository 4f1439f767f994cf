"""Writing of persisted states: number of requests and batches, and guarantees for readers."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.client.requester import Requester
from kmirror.cluster.replication.appends import LeaderAppends
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen import read_mirror_states_request as read_request
from kmirror.protocol.gen import write_mirror_states_request as write_request
from kmirror.protocol.gen.read_mirror_states_response import ReadMirrorStatesResponse
from kmirror.protocol.gen.write_mirror_states_response import WriteMirrorStatesResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from tests.sim.stage import TOPIC, TP, StagedCluster, WrittenLogs, pair, plain

pytestmark = pytest.mark.decision("D48")
STATES = (read_request.ReadMirrorStatesRequest, write_request.WriteMirrorStatesRequest)


class Costs:
    """Counts the costs of states: requests between brokers, rows in them, batches in `__mirror_state`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests = self.rows = self.batches = 0
        send, append = Requester.send, LeaderAppends.append

        def sending(
            requester: Requester, now: int, peer: Any, channel: str, body: Any, *rest: Any, **named: Any
        ) -> Any:
            if isinstance(body, STATES):
                self.requests += 1
                self.rows += sum(len(topic.partitions) for topic in body.topics)
            return send(requester, now, peer, channel, body, *rest, **named)

        def appending(appends: LeaderAppends, now: int, partition: Any, *rest: Any, **named: Any) -> Any:
            self.batches += partition.tp.topic == MIRROR_STATE_TOPIC
            return append(appends, now, partition, *rest, **named)

        monkeypatch.setattr(Requester, "send", sending)
        monkeypatch.setattr(LeaderAppends, "append", appending)


def brought_up(partitions: int, monkeypatch: pytest.MonkeyPatch) -> Costs:
    """Return the costs of mirroring a topic without records, from creation to MIRRORING."""
    with monkeypatch.context() as patches:
        p = pair()
        p.a.place_topic(replicas=[(1, 2, 3), (2, 3, 1), (3, 1, 2)] * (partitions // 3))
        p.there.create()
        costs = Costs(patches)
        p.there.add_topics([TOPIC])
        p.there.wait_for_state(MirrorState.MIRRORING, p.a.partitions([TOPIC]))
    return costs


def test_the_cost_of_states_grows_with_events_not_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = brought_up(6, monkeypatch), brought_up(180, monkeypatch)
    assert many.rows > 20 * few.rows
    assert many.requests <= 3 * few.requests
    assert many.batches <= 5 * few.batches


def isolate(cluster: StagedCluster, broker_id: int) -> None:
    """Separate a broker from all other brokers and the controller of its cluster."""
    for other in (*cluster.broker_ids, CONTROLLER_ID):
        if other != broker_id:
            cluster.simulation.line(cluster.process(broker_id), cluster.process(other)).take_down()


def read(cluster: StagedCluster, broker_id: int) -> tuple[ErrorCode, MirrorState]:
    row = read_request.PartitionData(partition_index=TP.partition)
    topic = read_request.TopicData(name=TOPIC, partitions=[row])
    request = read_request.ReadMirrorStatesRequest(mirror_name="m", topics=[topic])
    reply = cluster.client.call(cluster.endpoint(broker_id), request, 0)
    assert isinstance(reply, ReadMirrorStatesResponse)
    answer = reply.topics[0].partitions[0]
    return ErrorCode(answer.error_code), MirrorState(answer.state)


def write(cluster: StagedCluster, broker_id: int, state: MirrorState) -> ErrorCode:
    row = write_request.PartitionData(partition_index=TP.partition, state=state)
    topic = write_request.TopicData(name=TOPIC, partitions=[row])
    request = write_request.WriteMirrorStatesRequest(mirror_name="m", topics=[topic])
    reply = cluster.client.call(cluster.endpoint(broker_id), request, 0)
    assert isinstance(reply, WriteMirrorStatesResponse)
    return ErrorCode(reply.topics[0].partitions[0].error_code)


def test_each_partition_of_an_unknown_topic_has_a_row() -> None:
    cluster = pair(seed=5).b
    rows = [read_request.PartitionData(partition_index=index) for index in (0, 1)]
    request = read_request.ReadMirrorStatesRequest(
        mirror_name="m", topics=[read_request.TopicData(name="missing", partitions=rows)]
    )
    reply = cluster.client.call(cluster.endpoint(cluster.broker_ids[0]), request, 0)
    assert isinstance(reply, ReadMirrorStatesResponse)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [(row.partition_index, row.error_code) for row in reply.topics[0].partitions] == [(0, unknown), (1, unknown)]


def test_a_state_lost_by_an_election_is_never_returned() -> None:
    """The coordinator has the write only in its own log; a truncation because of it would be wrong."""
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}), b_configs={"request.timeout.ms": "2000"})
    p.begin()
    p.b.settle()
    key = StateKey("m", p.b.image.topics[TOPIC].topic_id, TP.partition)
    shard = p.b.component(1).context.coordinator.shard_of(key)
    assert shard is not None
    coordinator = p.b.await_leader(shard).broker_id
    assert read(p.b, coordinator) == (ErrorCode.NONE, MirrorState.MIRRORING)
    isolate(p.b, coordinator)
    assert write(p.b, coordinator, MirrorState.STOPPING) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    error, state = read(p.b, coordinator)
    assert (error, state) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, MirrorState.UNKNOWN)
    p.run_until(lambda: p.b.await_leader(shard).broker_id != coordinator, "another coordinator")
    assert read(p.b, p.b.await_leader(shard).broker_id) == (ErrorCode.NONE, MirrorState.MIRRORING)
