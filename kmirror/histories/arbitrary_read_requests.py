"""Read-only requests about topics, logs, configs and brokers, as tools and consumers send them."""

from __future__ import annotations

from kmirror.histories.request_client import RequestClient, RequestKind
from kmirror.histories.scripts import Script
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_log_dirs_request import DescribeLogDirsRequest
from kmirror.protocol.gen.describe_producers_request import DescribeProducersRequest
from kmirror.protocol.gen.describe_producers_request import TopicRequest as ProducersOf
from kmirror.protocol.gen.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.spec.version_limits import NAMED_TOPICS_LAST
from kmirror.spec.wire_values import OffsetSpec, ResourceType

METADATA_IDS_MIN_VERSION = 12
"""First version of Metadata that identifies topics by id."""
ONLY_ALIVE_LAST = 0
"""Last version of Metadata that omits replicas that are down."""
UNSETTLED_LAST = 4
"""Last version of ListOffsets without OFFSET_NOT_AVAILABLE."""
FETCH_IDS_MIN_VERSION = 13
BYTES_MAX = 1 << 16


def _metadata(client: RequestClient) -> Script[None]:
    """Fetch metadata by id, by name, or for all topics in the oldest version."""
    topic, rng = client.topic(), client.rng
    if client.application.scene.last_version(client.cluster, "Metadata") >= METADATA_IDS_MIN_VERSION and rng.chance(
        1, 2
    ):
        row = MetadataRequestTopic(topic_id=client.topic_id(topic), name=None)
        yield from client.send(MetadataRequest(topics=[row], allow_auto_topic_creation=False))
    elif rng.chance(1, 2):
        yield from client.send(MetadataRequest(topics=[]), version_max=ONLY_ALIVE_LAST)
    else:
        row = MetadataRequestTopic(name=topic)
        yield from client.send(MetadataRequest(topics=[row], allow_auto_topic_creation=False))


def _topic_partitions(client: RequestClient) -> Script[None]:
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(client.topic())], response_partition_limit=10)
    yield from client.send(request)


def _cluster(client: RequestClient) -> Script[None]:
    yield from client.send(DescribeClusterRequest())


def _log_dirs(client: RequestClient) -> Script[None]:
    yield from client.send(DescribeLogDirsRequest(topics=None))


def _configs(client: RequestClient) -> Script[None]:
    kind, name = client.rng.choice(
        ((ResourceType.TOPIC, client.topic()), (ResourceType.MIRROR, client.mirror()))
    )  # fmt: skip
    row = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    yield from client.send(DescribeConfigsRequest(resources=[row]))


def _producers(client: RequestClient) -> Script[None]:
    tp = client.partition()
    request = DescribeProducersRequest([ProducersOf(tp.topic, [tp.partition])])
    yield from client.send(request, client.leader(tp))


def _list_offsets(client: RequestClient) -> Script[None]:
    """List the start, end or an offset by timestamp of a log; sometimes in an early version."""
    tp, rng = client.partition(), client.rng
    is_early, some_time = rng.chance(1, 2), client.application.scene.simulation.now_ms - rng.between(0, 20_000)
    row = ListOffsetsPartition(
        partition_index=tp.partition,
        current_leader_epoch=-1 if is_early else client.epoch(tp),
        timestamp=rng.choice((some_time, some_time, OffsetSpec.LATEST, OffsetSpec.LATEST, OffsetSpec.EARLIEST)),
    )
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=tp.topic, partitions=[row])])
    yield from client.send(request, client.leader(tp), UNSETTLED_LAST if is_early else None)


def _epoch_end(client: RequestClient) -> Script[None]:
    tp = client.partition()
    row = OffsetForLeaderPartition(
        partition=tp.partition, current_leader_epoch=client.epoch(tp), leader_epoch=client.rng.below(5)
    )
    request = OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[OffsetForLeaderTopic(topic=tp.topic, partitions=[row])]
    )
    yield from client.send(request, client.leader(tp))


def _fetch_session(client: RequestClient) -> Script[None]:
    """Open a fetch session, continue it with a right or wrong epoch or version, and close it."""
    tp = client.partition()
    endpoint = client.leader(tp)
    reply = yield from client.send(_fetch(tp, 0, 0), endpoint, NAMED_TOPICS_LAST["FetchRequest"])
    if not isinstance(reply, FetchResponse) or not reply.session_id:
        return
    last = client.application.scene.last_version(client.cluster, "Fetch")
    match client.rng.below(3):
        case 0:
            epoch, version = client.rng.between(2, 9), NAMED_TOPICS_LAST["FetchRequest"]
        case 1 if last >= FETCH_IDS_MIN_VERSION:
            epoch, version = 1, FETCH_IDS_MIN_VERSION
        case _:
            epoch, version = 1, NAMED_TOPICS_LAST["FetchRequest"]
    yield from client.send(_fetch(None, reply.session_id, epoch), endpoint, version)
    yield from client.send(_fetch(None, reply.session_id, -1), endpoint, NAMED_TOPICS_LAST["FetchRequest"])


def _fetch(tp: TopicPartition | None, session_id: int, epoch: int) -> FetchRequest:
    topics = []
    if tp is not None:
        row = FetchPartition(partition=tp.partition, fetch_offset=0, partition_max_bytes=BYTES_MAX)
        topics = [FetchTopic(topic=tp.topic, partitions=[row])]
    return FetchRequest(
        replica_id=-1, max_wait_ms=0, min_bytes=1, max_bytes=BYTES_MAX, session_id=session_id, session_epoch=epoch,
        topics=topics,
    )  # fmt: skip


REQUEST_KINDS: tuple[RequestKind, ...] = (
    RequestKind("metadata", "reads", _metadata, 4),
    RequestKind("topic partitions", "reads", _topic_partitions, 1),
    RequestKind("cluster", "reads", _cluster, 1),
    RequestKind("log dirs", "reads", _log_dirs, 1),
    RequestKind("configs", "reads", _configs),
    RequestKind("producers", "reads", _producers, 1),
    RequestKind("offsets", "reads", _list_offsets, 8),
    RequestKind("end of an epoch", "reads", _epoch_end),
    RequestKind("fetch session", "reads", _fetch_session),
)
