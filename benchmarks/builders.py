"""Builders of the measured messages with the classes of each peer, from the same values."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

from benchmarks import shapes
from kmirror.protocol import Message

Builder = Callable[[], Any]


def kafka_python_builder(shape: shapes.Shape) -> Builder:
    """Builds and encodes; tests of this module check that the bytes equal kmirror's."""
    message = shape.build()
    K = shapes.kafka_python_class(message)
    version = shape.version
    topic_id = uuid.UUID(bytes=bytes(shapes.TOPIC_ID))

    def api_versions() -> Any:
        keys = [K.ApiVersion(api_key=k, min_version=k % 3, max_version=k % 3 + 9) for k in range(70)]
        return K(error_code=0, api_keys=keys, throttle_time_ms=0)

    def metadata() -> Any:
        topic_class, broker_class = K.MetadataResponseTopic, K.MetadataResponseBroker
        partition_class = topic_class.MetadataResponsePartition
        topics = [
            topic_class(
                error_code=0,
                name=topic.name,
                topic_id=topic_id,
                is_internal=False,
                partitions=[
                    partition_class(
                        error_code=0,
                        partition_index=p.partition_index,
                        leader_id=p.leader_id,
                        leader_epoch=7,
                        replica_nodes=p.replica_nodes,
                        isr_nodes=p.isr_nodes,
                        offline_replicas=[],
                    )
                    for p in topic.partitions
                ],
            )
            for topic in message.topics  # type: ignore[attr-defined]
        ]
        brokers = [broker_class(node_id=i, host=f"broker-{i}.example.org", port=9092, rack=None) for i in range(3)]
        return K(throttle_time_ms=0, brokers=brokers, cluster_id="cluster", controller_id=1, topics=topics)

    def fetch_request() -> Any:
        partition_class = K.FetchTopic.FetchPartition
        partitions = [
            partition_class(
                partition=i,
                current_leader_epoch=5,
                fetch_offset=1_000_000 + i,
                last_fetched_epoch=5,
                log_start_offset=-1,
                partition_max_bytes=1_048_576,
            )
            for i in range(100)
        ]
        topic = K.FetchTopic(topic_id=topic_id, partitions=partitions)
        return K(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=52_428_800,
            isolation_level=1,
            session_id=1234,
            session_epoch=5,
            topics=[topic],
            forgotten_topics_data=[],
            rack_id="rack-1",
        )

    def fetch_response() -> Any:
        partition_class = K.FetchableTopicResponse.PartitionData
        partitions = [
            partition_class(
                partition_index=i,
                error_code=0,
                high_watermark=2_000_000 + i,
                last_stable_offset=2_000_000 + i,
                log_start_offset=0,
                aborted_transactions=None,
                preferred_read_replica=-1,
                records=shapes.RECORDS_16K,
            )
            for i in range(50)
        ]
        topic = K.FetchableTopicResponse(topic_id=topic_id, partitions=partitions)
        return K(throttle_time_ms=0, error_code=0, session_id=1234, responses=[topic])

    def produce_request() -> Any:
        partition_class = K.TopicProduceData.PartitionProduceData
        partitions = [partition_class(index=i, records=shapes.RECORDS_1K) for i in range(10)]
        topic = K.TopicProduceData(name="topic-0001", partition_data=partitions)
        return K(transactional_id=None, acks=-1, timeout_ms=30_000, topic_data=[topic])

    build = {
        "ApiVersionsResponse": api_versions,
        "MetadataResponse": metadata,
        "FetchRequest": fetch_request,
        "FetchResponse": fetch_response,
        "ProduceRequest": produce_request,
    }[message.NAME]
    return lambda: build().encode(version=version)


def kio_builder(shape: shapes.Shape) -> Builder:
    """Builds and encodes; tests of this module check that the bytes equal kmirror's."""
    from io import BytesIO

    from kio.schema.errors import ErrorCode
    from kio.serial import entity_writer

    message = shape.build()
    cls = shapes.kio_class(message, shape.version)
    module = __import__(cls.__module__, fromlist=["*"])
    write = entity_writer(cls)
    topic_id = uuid.UUID(bytes=bytes(shapes.TOPIC_ID))
    no_time = datetime.timedelta()
    none = ErrorCode(0)

    def api_versions() -> Any:
        keys = tuple(module.ApiVersion(api_key=k, min_version=k % 3, max_version=k % 3 + 9) for k in range(70))
        return cls(error_code=none, api_keys=keys, throttle_time=no_time)

    def metadata() -> Any:
        topics = tuple(
            module.MetadataResponseTopic(
                error_code=none,
                name=topic.name,
                topic_id=topic_id,
                is_internal=False,
                partitions=tuple(
                    module.MetadataResponsePartition(
                        error_code=none,
                        partition_index=p.partition_index,
                        leader_id=p.leader_id,
                        leader_epoch=7,
                        replica_nodes=tuple(p.replica_nodes),
                        isr_nodes=tuple(p.isr_nodes),
                        offline_replicas=(),
                    )
                    for p in topic.partitions
                ),
            )
            for topic in message.topics  # type: ignore[attr-defined]
        )
        brokers = tuple(
            module.MetadataResponseBroker(node_id=i, host=f"broker-{i}.example.org", port=9092) for i in range(3)
        )
        return cls(throttle_time=no_time, brokers=brokers, cluster_id="cluster", controller_id=1, topics=topics)

    def fetch_request() -> Any:
        partitions = tuple(
            module.FetchPartition(
                partition=i,
                current_leader_epoch=5,
                fetch_offset=1_000_000 + i,
                last_fetched_epoch=5,
                log_start_offset=-1,
                partition_max_bytes=1_048_576,
            )
            for i in range(100)
        )
        topic = module.FetchTopic(topic_id=topic_id, partitions=partitions)
        return cls(
            max_wait=datetime.timedelta(milliseconds=500),
            min_bytes=1,
            max_bytes=52_428_800,
            isolation_level=1,
            session_id=1234,
            session_epoch=5,
            topics=(topic,),
            forgotten_topics_data=(),
            rack_id="rack-1",
        )

    def fetch_response() -> Any:
        partitions = tuple(
            module.PartitionData(
                partition_index=i,
                error_code=none,
                high_watermark=2_000_000 + i,
                last_stable_offset=2_000_000 + i,
                log_start_offset=0,
                aborted_transactions=None,
                preferred_read_replica=-1,
                records=shapes.RECORDS_16K,
            )
            for i in range(50)
        )
        topic = module.FetchableTopicResponse(topic_id=topic_id, partitions=partitions)
        return cls(throttle_time=no_time, error_code=none, session_id=1234, responses=(topic,))

    def produce_request() -> Any:
        partitions = tuple(module.PartitionProduceData(index=i, records=shapes.RECORDS_1K) for i in range(10))
        topic = module.TopicProduceData(name="topic-0001", partition_data=partitions)
        return cls(transactional_id=None, acks=-1, timeout=datetime.timedelta(seconds=30), topic_data=(topic,))

    build = {
        "ApiVersionsResponse": api_versions,
        "MetadataResponse": metadata,
        "FetchRequest": fetch_request,
        "FetchResponse": fetch_response,
        "ProduceRequest": produce_request,
    }[message.NAME]

    def encode() -> bytes:
        out = BytesIO()
        write(out, build())
        return out.getvalue()

    return encode


def our_builder(shape: shapes.Shape) -> Callable[[], Message]:
    """Builds from the values that the peers' builders use, so that all sides do the same work."""
    if shape.build not in (shapes.metadata_uniform, shapes.metadata_mixed):
        return shape.build
    message = shape.build()
    from kmirror.protocol.gen.metadata_response import (
        MetadataResponse,
        MetadataResponseBroker,
        MetadataResponsePartition,
        MetadataResponseTopic,
    )

    def metadata() -> Message:
        topics = [
            MetadataResponseTopic(
                error_code=0,
                name=topic.name,
                topic_id=shapes.TOPIC_ID,
                is_internal=False,
                partitions=[
                    MetadataResponsePartition(
                        error_code=0,
                        partition_index=p.partition_index,
                        leader_id=p.leader_id,
                        leader_epoch=7,
                        replica_nodes=p.replica_nodes,
                        isr_nodes=p.isr_nodes,
                        offline_replicas=[],
                    )
                    for p in topic.partitions
                ],
            )
            for topic in message.topics  # type: ignore[attr-defined]
        ]
        brokers = [MetadataResponseBroker(node_id=i, host=f"broker-{i}.example.org", port=9092) for i in range(3)]
        return MetadataResponse(
            throttle_time_ms=0, brokers=brokers, cluster_id="cluster", controller_id=1, topics=topics
        )

    return metadata
