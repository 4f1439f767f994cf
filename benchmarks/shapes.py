"""The measured messages, with the values that all libraries use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kmirror.protocol import Message, Uuid
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.gen.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData

TOPIC_ID = Uuid.from_ints(0x0123456789ABCDEF, 0x1122334455667788)
RECORDS_16K = bytes(range(256)) * 64
RECORDS_1K = bytes(range(256)) * 4


class Shape(NamedTuple):
    """A message and its version; `build` returns a new message."""

    name: str
    version: int
    build: Callable[[], Message]


def api_versions() -> ApiVersionsResponse:
    keys = [ApiVersion(api_key=key, min_version=key % 3, max_version=key % 3 + 9) for key in range(70)]
    return ApiVersionsResponse(error_code=0, api_keys=keys, throttle_time_ms=0)


def _metadata(replicas_of: Callable[[int], list[int]]) -> MetadataResponse:
    brokers = [MetadataResponseBroker(node_id=i, host=f"broker-{i}.example.org", port=9092) for i in range(3)]
    topics = []
    for number in range(100):
        partitions = []
        for index in range(10):
            replicas = replicas_of(number * 10 + index)
            partitions.append(
                MetadataResponsePartition(
                    error_code=0,
                    partition_index=index,
                    leader_id=replicas[0],
                    leader_epoch=7,
                    replica_nodes=replicas,
                    isr_nodes=replicas[: 1 + (number + index) % 3] if len(replicas) != 3 else replicas,
                    offline_replicas=[],
                )
            )
        topics.append(
            MetadataResponseTopic(
                error_code=0, name=f"topic-{number:04}", topic_id=TOPIC_ID, is_internal=False, partitions=partitions
            )
        )
    return MetadataResponse(throttle_time_ms=0, brokers=brokers, cluster_id="cluster", controller_id=1, topics=topics)


def metadata_uniform() -> MetadataResponse:
    return _metadata(lambda n: [n % 3, (n + 1) % 3, (n + 2) % 3])


def metadata_mixed() -> MetadataResponse:
    """Partitions of two to five replicas, so that adjacent ones differ."""
    return _metadata(lambda n: list(range(n % 7, n % 7 + (2, 4, 5)[n % 3])))


def fetch_request() -> FetchRequest:
    partitions = [
        # By position, as in a hot loop: CPython calls a class with keywords at half the speed.
        FetchPartition(i, 5, 1_000_000 + i, 5, -1, 1_048_576)
        for i in range(100)
    ]
    return FetchRequest(
        max_wait_ms=500, min_bytes=1, max_bytes=52_428_800, isolation_level=1, session_id=1234, session_epoch=5,
        topics=[FetchTopic(topic_id=TOPIC_ID, partitions=partitions)], forgotten_topics_data=[], rack_id="rack-1",
    )  # fmt: skip


def fetch_response() -> FetchResponse:
    partitions = [
        PartitionData(
            partition_index=i, error_code=0, high_watermark=2_000_000 + i, last_stable_offset=2_000_000 + i,
            log_start_offset=0, aborted_transactions=None, preferred_read_replica=-1, records=RECORDS_16K,
        )
        for i in range(50)
    ]  # fmt: skip
    return FetchResponse(
        throttle_time_ms=0,
        error_code=0,
        session_id=1234,
        responses=[FetchableTopicResponse(topic_id=TOPIC_ID, partitions=partitions)],
    )


def produce_request() -> ProduceRequest:
    partitions = [PartitionProduceData(index=i, records=RECORDS_1K) for i in range(10)]
    return ProduceRequest(
        transactional_id=None, acks=-1, timeout_ms=30_000,
        topic_data=[TopicProduceData(name="topic-0001", partition_data=partitions)],
    )  # fmt: skip


API_VERSIONS = Shape("ApiVersions v4, 70 keys", 4, api_versions)
METADATA_UNIFORM = Shape("Metadata v12, 100 x 10 x 3, uniform", 12, metadata_uniform)
METADATA_MIXED = Shape("Metadata v12, 100 x 10 x 2-5, mixed", 12, metadata_mixed)
FETCH_REQUEST = Shape("FetchRequest v17, 100 partitions", 17, fetch_request)
FETCH_RESPONSE = Shape("FetchResponse v17, 50 x 16 KiB", 17, fetch_response)
PRODUCE_REQUEST = Shape("ProduceRequest v9, 10 x 1 KiB", 9, produce_request)
SHAPES = (API_VERSIONS, METADATA_UNIFORM, METADATA_MIXED, FETCH_REQUEST, FETCH_RESPONSE, PRODUCE_REQUEST)


def at_version(shape: Shape, version: int) -> tuple[Message, bytes]:
    """Return the same content in another version, whose missing fields have their defaults."""
    message = shape.build()
    return message, message.encode(version)


def kafka_python_class(message: Message) -> Any:
    import kafka.protocol.consumer
    import kafka.protocol.metadata
    import kafka.protocol.producer

    for module in (kafka.protocol.consumer, kafka.protocol.metadata, kafka.protocol.producer):
        if hasattr(module, message.NAME):
            return getattr(module, message.NAME)
    raise LookupError(message.NAME)


def kio_class(message: Message, version: int) -> Any:
    from importlib import import_module

    from kmirror.protocol.registry import by_key

    assert message.API_KEY is not None
    api = by_key(message.API_KEY).name
    folder = "".join(f"_{c.lower()}" if c.isupper() else c for c in api).lstrip("_")
    return getattr(import_module(f"kio.schema.{folder}.v{version}.{message.TYPE}"), message.NAME)
