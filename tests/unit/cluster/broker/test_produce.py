"""Errors of a producer whose records are refused: they equal those of Kafka 4.3.1."""

from __future__ import annotations

import pytest

from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse
from kmirror.records import RecordData, build_batch
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode

CONFIGS = {
    "small": ("max.message.bytes", "100"),
    "keyed": ("cleanup.policy", "compact"),
    "timely": ("message.timestamp.after.max.ms", "1000"),
}
FUTURE = 4_000_000_000_000


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    made = Cluster(Simulation(1), "a", brokers=1)
    made.start()
    topics = [
        CreatableTopic(
            name=name, num_partitions=1, replication_factor=1, configs=[CreatableTopicConfig(name=key, value=value)]
        )
        for name, (key, value) in CONFIGS.items()
    ]
    made.client.call(made.endpoint(1), CreateTopicsRequest(topics=topics), 7)
    made.simulation.run_until(made.is_settled)
    return made


def produced(cluster: Cluster, topic: str, *records: RecordData) -> PartitionProduceResponse:
    data = PartitionProduceData(index=0, records=build_batch(list(records)))
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, partition_data=[data])])
    answer = cluster.client.call(cluster.endpoint(1), request, 9)
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0]


def faults(row: PartitionProduceResponse) -> list[tuple[int, str | None]]:
    return [(fault.batch_index, fault.batch_index_error_message) for fault in row.record_errors]


def test_a_batch_that_is_too_large_has_only_an_error_code(cluster: Cluster) -> None:
    row = produced(cluster, "small", RecordData(b"k", b"x" * 200))
    assert (row.error_code, row.error_message, faults(row)) == (ErrorCode.MESSAGE_TOO_LARGE, None, [])


def test_each_record_without_a_key_is_named(cluster: Cluster) -> None:
    row = produced(cluster, "keyed", *(RecordData(key, b"v") for key in (None, b"k", None, None, None)))
    text = "Compacted topic cannot accept message without key in topic partition keyed-0"
    assert row.error_code == ErrorCode.INVALID_RECORD
    assert faults(row) == [(index, text) for index in (0, 2, 3, 4)]
    shown = ", ".join(f"RecordError(batchIndex={index}, message='{text}')" for index in (0, 2, 3))
    assert row.error_message == (
        "One or more records have been rejected due to 4 record errors in total, "
        f"and only showing the first three errors at most: [{shown}]"
    )


def test_each_record_with_an_invalid_timestamp_is_named_with_the_valid_range(cluster: Cluster) -> None:
    rows = [RecordData(b"k", b"v"), RecordData(b"k", b"v", timestamp=FUTURE)]
    row = produced(cluster, "timely", *rows)
    assert row.error_code == ErrorCode.INVALID_TIMESTAMP
    assert row.error_message == "One or more records have been rejected due to invalid timestamp"
    ((index, text),) = faults(row)
    assert index == 1 and text is not None
    assert text.startswith(
        f"Timestamp {FUTURE} of message with offset 1 is out of range. The timestamp should be within [-"
    )
