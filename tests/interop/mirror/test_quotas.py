"""A Kafka broker's quota for the client id of a mirror's fetcher limits the mirror's rate (D19, KIP-219)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kmirror.protocol.gen.alter_client_quotas_response import AlterClientQuotasResponse
from kmirror.protocol.headers import decode_response
from kmirror.protocol.registry import key_of
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.destination import Mirrored
from tests.net.wire import Wire, frame_of

RATE = 1_000_000
BYTES = 20_000_000
BURST_S = 10
"""Windows of a quota, which must be full before it throttles."""
CLIENT = "broker-1-fetcher-0-mirror-from-kafka"


def set_quota(server: str, client_id: str, rate: int) -> None:
    """Limit a client's fetch rate, like `kafka-configs --entity-type clients`."""
    entry = EntryData(
        entity=[EntityData(entity_type="client-id", entity_name=client_id)],
        ops=[OpData(key="consumer_byte_rate", value=float(rate), remove=False)],
    )
    request = AlterClientQuotasRequest(entries=[entry])
    with Wire(server) as wire:
        wire.send(frame_of(request, 1))
        answer = decode_response(wire.frame(), key_of(AlterClientQuotasRequest), 1).body
    assert isinstance(answer, AlterClientQuotasResponse)
    assert [row.error_code for row in answer.entries] == [0], answer


@pytest.mark.decision("D19")
@pytest.mark.kip("1279", "Bandwidth Control")
def test_kafka_limits_a_mirror_by_the_quota_of_its_client_id(
    class_path_of: Callable[[str], str], tmp_path: Path
) -> None:
    with (
        RealCluster("4.3.1", class_path_of("4.3.1"), tmp_path / "kafka", brokers=1) as kafka,
        TcpCluster(name="b", brokers=1, mirror_version=1) as b,
    ):
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
        (created,) = admin.create_topics([NewTopic("orders", 1, 1)]).values()
        created.result(60)
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0, "batch.size": 20_000})
        for number in range(BYTES // 10_000):
            producer.produce("orders", number.to_bytes(4, "big") * 2_500, partition=0)
        assert producer.flush(60) == 0
        set_quota(kafka.bootstrap_servers, CLIENT, RATE)
        mirror = Mirrored(kafka.bootstrap_servers, b)
        began = time.monotonic()
        mirror.add(["orders"])
        mirror.catch_up()
        took_s = time.monotonic() - began
        told = b.metrics()
        (throttled,) = told.find("ThrottleTimeMs")
        assert told.total("BytesPerSec", mirror_name="from-kafka") >= BYTES
        # The fetches in flight when it is reached are answered completely.
        assert took_s > throttled.value / 1000 > (BYTES / RATE - BURST_S) / 2
        assert told.total("FailedPartitionsCount") == told.total("MetadataRefreshError") == 0
        assert not b.failures
