"""A source may send any response: its mirror waits or fails, and the destination's brokers continue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from kmirror.client.remote_cluster import code_of
from kmirror.cluster.server import Handler, Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.cut_rules import SOURCE_EPOCH_MAX
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import EpochEndOffset, FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import TOPIC, TP, Pair, StagedCluster, WrittenLogs, assert_equal, pair, plain

BATCHES = [plain(0, 0, "r0", "r1"), plain(2, 3, "r2")]


def mirroring() -> Pair:
    p = pair(logs=WrittenLogs({TOPIC: BATCHES}))
    p.begin()
    return p


def answer_fetches(cluster: StagedCluster, make: Callable[[int], PartitionData]) -> None:
    """Answer every consumer's fetch with the result of `make` for each partition; followers are served as usual."""
    for broker_id in cluster.broker_ids:
        server = cluster.broker(broker_id).parts.server
        server.serve({FetchRequest: _instead(server.routes[FetchRequest], make)})


def _instead(real: Handler, make: Callable[[int], PartitionData]) -> Handler:
    def handle(now: Instant, inbound: Inbound) -> None:
        request = inbound.body
        assert isinstance(request, FetchRequest)
        if request.replica_state.replica_id >= 0:
            real(now, inbound)
            return
        topics = [
            FetchableTopicResponse(topic_id=t.topic_id, partitions=[make(row.partition) for row in t.partitions])
            for t in request.topics
        ]
        inbound.reply(FetchResponse(responses=topics))

    return handle


def survives(p: Pair, span_s: float = 20) -> None:
    p.simulation.run_for(span_s=span_s)
    assert all(p.b.runs(b) and p.b.image.brokers.is_alive(b) for b in p.b.broker_ids)


def test_an_undefined_error_code_is_an_unknown_error() -> None:
    assert code_of(999) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert code_of(6) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    p = mirroring()
    answer_fetches(p.a, lambda index: PartitionData(partition_index=index, error_code=999))
    survives(p)
    assert p.b.state() == "MIRRORING"


def test_a_divergence_at_a_negative_offset_truncates_nothing() -> None:
    p = mirroring()
    end = p.b.await_leader().log.log_end_offset
    where = EpochEndOffset(epoch=3, end_offset=-5)
    answer_fetches(p.a, lambda index: PartitionData(partition_index=index, diverging_epoch=where))
    survives(p)
    assert p.b.await_leader().log.log_end_offset == end


def test_requested_offsets_missing_in_the_response_change_nothing() -> None:
    p = mirroring()
    end = p.b.await_leader().log.log_end_offset
    answer_fetches(p.a, lambda index: PartitionData(partition_index=index, error_code=ErrorCode.OFFSET_OUT_OF_RANGE))
    for broker_id in p.a.broker_ids:
        server = p.a.broker(broker_id).parts.server
        server.serve({ListOffsetsRequest: lambda now, inbound: inbound.reply(ListOffsetsResponse())})
    survives(p)
    assert p.b.await_leader().log.log_end_offset == end


def tell_versions(cluster: StagedCluster, other: Mapping[type[Message], tuple[int, int]]) -> None:
    """Let each broker report these versions, and its own ones for all other APIs."""
    for broker_id in cluster.broker_ids:
        broker = cluster.broker(broker_id)
        served = {**broker.context.api_versions(), **{key_of(request): versions for request, versions in other.items()}}
        told = ApiVersionsResponse(
            api_keys=[ApiVersion(api_key=k, min_version=a, max_version=b) for k, (a, b) in served.items()]
        )
        broker.parts.server.serve({ApiVersionsRequest: lambda now, inbound, told=told: inbound.reply(told)})  # type: ignore[misc]


@pytest.mark.parametrize(("request_class", "last"), [(FetchRequest, 9), (MetadataRequest, 3)])
def test_a_request_that_the_source_cannot_decode_does_not_end_a_broker(request_class: type[Message], last: int) -> None:
    p = pair(logs=WrittenLogs({TOPIC: BATCHES}))
    tell_versions(p.a, {request_class: (0, last)})
    p.there.create()
    p.there.add_topics([TOPIC])
    survives(p, 40)
    if request_class is FetchRequest:
        assert p.b.state() == "FAILED" and "older than Kafka 2.1" in p.b.reason()


def test_a_leader_epoch_without_room_above_it_fails_the_partition() -> None:
    p = mirroring()
    p.a.bump(SOURCE_EPOCH_MAX + 1)
    p.run_until(lambda: p.b.state() == "FAILED", "the partition to fail")
    survives(p)


def test_a_source_without_topic_ids_is_mirrored_under_a_new_id() -> None:
    p = pair(logs=WrittenLogs({TOPIC: BATCHES}))
    tell_versions(p.a, {FetchRequest: (4, 12), MetadataRequest: (0, 9)})
    p.begin()
    assert_equal(p.there)
    assert p.b.image.topics[TOPIC].topic_id not in (Uuid.ZERO, p.a.image.topics[TOPIC].topic_id)


def test_a_new_leader_epoch_continues_from_the_persisted_state() -> None:
    p = mirroring()
    led = p.b.await_leader()
    mirror = p.b.component(led.broker_id)
    stale = mirror.context.partitions[TP]
    stale.state, stale.is_busy = MirrorState.STOPPING, True  # Actions of another leader since then are not known here.
    broker = p.b.broker(led.broker_id)
    mirror.on_leadership(p.simulation.world.now, TP, leads=True)
    p.simulation.world.perform(p.b.process(led.broker_id), broker.context.outbox.drain())
    p.run_until(lambda: p.b.state() == "MIRRORING", "the state to be read again")
    assert mirror.context.partitions[TP] is not stale
    assert p.b.persisted().state is MirrorState.MIRRORING
    Producer(p.a).send({TP: [RecordData(value=b"more")]})
    assert_equal(p.there)


def test_a_producer_reset_that_the_log_refuses_is_tried_again() -> None:
    p = pair(logs=WrittenLogs({TOPIC: BATCHES}), brokers=1)
    p.begin()
    assert p.b.alter(TOPIC, {"max.message.bytes": "10"}) is ErrorCode.NONE
    p.there.remove_topics([TOPIC])
    p.run_until(lambda: "producer reset" in p.b.reason(), "the refusal")
    assert p.b.alter(TOPIC, {"max.message.bytes": "1000"}) is ErrorCode.NONE
    p.run_until(lambda: p.b.state() == "STOPPED", "STOPPED")
