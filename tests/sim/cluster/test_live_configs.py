"""Dynamic configs: a topic's take precedence, then the broker's own, the cluster-wide ones, and its file."""

from __future__ import annotations

import pytest

from kmirror.cluster.server import Handler, Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigSource, ResourceType
from tests.sim.stage import SMALL, StagedCluster, pair

TP = TopicPartition("orders", 0)


@pytest.fixture
def cluster() -> StagedCluster:
    made = StagedCluster(Simulation(5), "a", configs={**SMALL, "message.max.bytes": "1000"})
    made.start()
    made.place_topic(TP.topic)
    return made


def alter(cluster: StagedCluster, kind: int, name: str, key: str, value: str | None) -> ErrorCode:
    """Set a config, or delete it, and run until the brokers have replayed it; a broker's own is sent to that broker."""
    config = AlterableConfig(name=key, config_operation=int(value is None), value=value)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])
    is_own = kind == ResourceType.BROKER and name.isdecimal() and int(name) in cluster.broker_ids
    asked = cluster.endpoint(int(name)) if is_own else cluster.endpoints()[0]
    reply = cluster.client.call(asked, IncrementalAlterConfigsRequest(resources=[resource]), 1)
    assert isinstance(reply, IncrementalAlterConfigsResponse)
    cluster.simulation.run_for(span_s=1)
    return ErrorCode(reply.responses[0].error_code)


def test_a_topics_default_follows_its_brokers_configs(cluster: StagedCluster) -> None:
    leads = str(cluster.await_leader(TP).broker_id)
    assert cluster.try_write(TP) is ErrorCode.NONE
    steps = [
        (ResourceType.BROKER, "", "10", ErrorCode.MESSAGE_TOO_LARGE),
        (ResourceType.BROKER, leads, "900", ErrorCode.NONE),
        (ResourceType.TOPIC, TP.topic, "10", ErrorCode.MESSAGE_TOO_LARGE),
        (ResourceType.TOPIC, TP.topic, None, ErrorCode.NONE),
        (ResourceType.BROKER, leads, None, ErrorCode.MESSAGE_TOO_LARGE),
        (ResourceType.BROKER, "", None, ErrorCode.NONE),
    ]
    for kind, name, value, expected in steps:
        key = "max.message.bytes" if kind == ResourceType.TOPIC else "message.max.bytes"
        assert alter(cluster, kind, name, key, value) is ErrorCode.NONE
        assert cluster.try_write(TP) is expected, (kind, name, value)
    assert cluster.await_leader(TP).log.config.max_message_bytes == 1000, "what the properties file says"


def test_the_current_source_of_a_config_is_described(cluster: StagedCluster) -> None:
    def described_synonyms() -> list[tuple[str | None, int, str | None]]:
        resource = DescribeConfigsResource(resource_type=ResourceType.TOPIC, resource_name=TP.topic)
        asked = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
        reply = cluster.client.call(cluster.endpoints()[0], asked, 4)
        assert isinstance(reply, DescribeConfigsResponse)
        (entry,) = [entry for entry in reply.results[0].configs if entry.name == "max.message.bytes"]
        return [(synonym.name, synonym.source, synonym.value) for synonym in entry.synonyms]

    key, own = "message.max.bytes", str(cluster.broker_ids[0])
    behind = [(key, ConfigSource.STATIC, "1000"), (key, ConfigSource.DEFAULT, "1048588")]
    assert described_synonyms() == behind
    for_all, for_one = (key, ConfigSource.CLUSTER, "10"), (key, ConfigSource.BROKER, "900")
    of_topic = ("max.message.bytes", ConfigSource.TOPIC, "20")
    for kind, name, value, expected in (
        (ResourceType.BROKER, "", "10", [for_all, *behind]),
        (ResourceType.BROKER, own, "900", [for_one, for_all, *behind]),
        (ResourceType.TOPIC, TP.topic, "20", [of_topic, for_one, for_all, *behind]),
        (ResourceType.BROKER, "", None, [of_topic, for_one, *behind]),
        (ResourceType.TOPIC, TP.topic, None, [for_one, *behind]),
        (ResourceType.BROKER, own, None, behind),
    ):
        altered = "max.message.bytes" if kind == ResourceType.TOPIC else key
        assert alter(cluster, kind, name, altered, value) is ErrorCode.NONE
        assert described_synonyms() == expected


@pytest.mark.parametrize(("side", "ahead_ms"), [("before", -60_000), ("after", 60_000)])
def test_how_far_off_a_producers_clock_may_be_is_altered_live(cluster: StagedCluster, side: str, ahead_ms: int) -> None:
    key = f"message.timestamp.{side}.max.ms"
    steps = [
        (ResourceType.TOPIC, TP.topic, key, "59000", ErrorCode.INVALID_TIMESTAMP),
        (ResourceType.TOPIC, TP.topic, key, "61000", ErrorCode.NONE),
        (ResourceType.BROKER, "", f"log.{key}", "0", ErrorCode.NONE),
        (ResourceType.TOPIC, TP.topic, key, None, ErrorCode.INVALID_TIMESTAMP),
        (ResourceType.BROKER, "", f"log.{key}", None, ErrorCode.NONE),
    ]
    for kind, name, altered, value, expected in steps:
        assert alter(cluster, kind, name, altered, value) is ErrorCode.NONE
        batch = build_batch([RecordData(value=b"x")], timestamp_ms=cluster.simulation.now_ms + ahead_ms)
        assert Producer(cluster).try_send({TP: batch})[TP][0] == expected, (kind, value)


def test_only_the_broker_that_is_named_changes(cluster: StagedCluster) -> None:
    assert alter(cluster, ResourceType.BROKER, "2", "message.max.bytes", "77") is ErrorCode.NONE
    sizes = {b: cluster.replicas(TP)[b].log.config.max_message_bytes for b in cluster.broker_ids}
    assert sizes == {1: 1000, 2: 77, 3: 1000}


def test_the_isr_that_writes_need_is_altered_live_and_survives_a_restart(cluster: StagedCluster) -> None:
    assert alter(cluster, ResourceType.BROKER, "", "min.insync.replicas", "3") is ErrorCode.NONE
    victim = next(b for b in cluster.broker_ids if b != cluster.await_leader(TP).broker_id)
    cluster.kill(victim)
    cluster.simulation.run_until(lambda: victim not in cluster.await_leader(TP).isr, what="the ISR to shrink")
    assert cluster.try_write(TP) is ErrorCode.NOT_ENOUGH_REPLICAS
    cluster.restart(victim)
    cluster.simulation.run_until(cluster.is_settled, what="a full ISR")
    assert cluster.broker(victim).context.configs.integer("min.insync.replicas") == 3
    assert cluster.replicas(TP)[victim].min_isr == 3
    cluster.kill(victim)
    cluster.simulation.run_until(lambda: victim not in cluster.await_leader(TP).isr, what="the ISR to shrink")
    assert alter(cluster, ResourceType.BROKER, "", "min.insync.replicas", None) is ErrorCode.INVALID_CONFIG
    assert alter(cluster, ResourceType.BROKER, "", "min.insync.replicas", "2") is ErrorCode.NONE
    assert cluster.try_write(TP) is ErrorCode.NONE


@pytest.mark.parametrize("unclean", [True, False])
def test_the_controller_elects_by_altered_configs(cluster: StagedCluster, unclean: bool) -> None:
    """The last member of the ISR dies: another replica leads only if a config allows it."""
    if unclean:
        assert alter(cluster, ResourceType.BROKER, "", "unclean.leader.election.enable", "true") is ErrorCode.NONE
    first = cluster.elect(TP)
    second = cluster.elect(TP)
    cluster.simulation.run_until(lambda: len(cluster.await_leader(TP).isr) == 1, what="an ISR of one")
    last = cluster.await_leader(TP).broker_id
    cluster.kill(last)
    cluster.restart(first)
    cluster.simulation.run_for(span_s=20)
    led = cluster.leader(TP)
    assert (led is not None and led.broker_id == first) == unclean
    assert second not in cluster.living()


@pytest.mark.parametrize(
    ("key", "value"),
    [("broker.heartbeat.interval.ms", "100"), ("request.timeout.ms", "5"), ("replica.lag.time.max.ms", "1")],
)
def test_read_only_configs_are_refused_at_run_time(cluster: StagedCluster, key: str, value: str) -> None:
    before = cluster.broker(1).context.configs.text(key)
    for name in ("", "1"):
        assert alter(cluster, ResourceType.BROKER, name, key, value) is ErrorCode.INVALID_REQUEST
    assert cluster.broker(1).context.configs.text(key) == before


def test_a_mirror_refreshes_its_source_at_the_configured_interval() -> None:
    p = pair()
    p.a.place_topic(TP.topic)
    p.begin()
    asked = count_metadata_requests(p.a)
    p.simulation.run_for(span_s=20)
    seldom = len(asked)
    assert alter(p.b, ResourceType.BROKER, "", "mirror.metadata.refresh.interval.ms", "500") is ErrorCode.NONE
    p.simulation.run_for(span_s=5)  # The pause that had begun still counts.
    asked.clear()
    p.simulation.run_for(span_s=20)
    assert len(asked) > 3 * seldom > 0


def count_metadata_requests(cluster: StagedCluster) -> list[int]:
    """Return a list that receives the broker's id with each Metadata request."""
    seen: list[int] = []
    for broker_id in cluster.broker_ids:
        server = cluster.broker(broker_id).parts.server
        handler = server.routes[MetadataRequest]

        def count(now: Instant, inbound: Inbound, broker_id: int = broker_id, handler: Handler = handler) -> None:
            seen.append(broker_id)
            handler(now, inbound)

        server.serve({MetadataRequest: count})
    return seen
