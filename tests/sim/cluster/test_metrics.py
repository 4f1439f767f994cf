"""Metrics of clusters while a mirror runs, stops, and fails (KIP-1279, Metrics)."""

from __future__ import annotations

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families as families

from kmirror.assembly.metrics import Metrics
from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.metrics import ROWS
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import ONE_BATCH, TOPIC, Pair, assert_equal, has_all, pair

ERRORS = ("MetadataRefreshError", "TopicConfigMetadataSyncError", "ConsumerGroupOffsetSyncError")


@pytest.fixture
def mirrored() -> Pair:
    p = pair(9, brokers=1, b_configs=ONE_BATCH)
    p.a.create_topic(TOPIC, 2)
    p.begin()
    for index in range(10):
        p.a.write(f"r{index}")
    p.run_until(lambda: has_all(p.there), "all is mirrored")
    p.simulation.run_for(span_s=6)  # Rates cover complete windows of five seconds.
    return p


def test_a_running_mirror_has_all_of_its_metrics(mirrored: Pair) -> None:
    told = mirrored.b.metrics()
    (lag,) = told.find("ConsumerLag", topic=TOPIC, partition=0)
    assert lag.value == 0
    assert lag.mbean == (
        "kafka.server:type=FetcherLagMetrics,name=ConsumerLag,clientId=MirrorFetcherThread-1-0-m,topic=orders,partition=0"
    )
    assert told.total("MirroringPartitionState") == 2
    assert told.total("MirrorPartitionCount", mirror_name="m", state="MIRRORING") == 2
    assert told.total("BytesPerSec", mirror_name="m") == sum(len(batch.view) for batch in mirrored.a.log().batches())
    (requests,) = told.find("RequestsPerSec", mirror_name="m")
    assert requests.attributes["OneMinuteRate"] > 1
    assert told.total("MinFetchRate") == requests.attributes["OneMinuteRate"]
    assert told.total("RequestsPerSec", request="CreateMirror", version=0) == 1
    assert told.total("ErrorsPerSec", request="CreateMirror", error="NONE") == 1
    (times,) = told.find("TotalTimeMs", request="CreateMirror", node_id=1)
    assert times.attributes["99thPercentile"] > 0, "the controller was asked"
    assert told.total("LeaderCount") == told.total("GlobalPartitionCount", node_id=100)


PARTS = ("RequestQueueTimeMs", "LocalTimeMs", "RemoteTimeMs", "ResponseQueueTimeMs", "ResponseSendTimeMs")


def test_request_times_are_reported_in_parts_at_broker_and_controller(mirrored: Pair) -> None:
    mirrored.a.kill(1)
    mirrored.a.restart(1)
    mirrored.a.write("in a later leader epoch")
    mirrored.run_until(lambda: has_all(mirrored.there), "it goes on")
    told = mirrored.b.metrics()
    for request, node_id in (("CreateMirror", 1), ("BumpLeaderEpochs", 100)):
        (total,) = told.find("TotalTimeMs", request=request, node_id=node_id)
        means = {name: told.find(name, request=request, node_id=node_id)[0].attributes["Mean"] for name in PARTS}
        assert total.attributes["Mean"] == pytest.approx(sum(means.values())) == pytest.approx(means["RemoteTimeMs"])
        assert (means["RemoteTimeMs"] > 0) is (node_id == 1), "the broker waits for the controller, that for nobody"


def of_client(pair: Pair) -> dict[str, float]:
    (count,) = pair.b.metrics().find("connection-count", mirror_name="m")
    assert count.mbean == "kafka.server:type=mirror-broker-1-fetcher-0-mirror-m-metrics,broker-id=1,fetcher-id=0"
    return {one.name: one.value for one in pair.b.metrics() if one.mbean == count.mbean}


def test_fetcher_connections_have_metrics_like_kafkas_client(mirrored: Pair) -> None:
    told = of_client(mirrored)
    assert len(told) == 30
    (fetches,) = mirrored.b.metrics().find("RequestsPerSec", mirror_name="m")
    assert told["response-total"] == fetches.value
    assert told["request-total"] - told["response-total"] in (0, 1), "one fetch may be under way"
    assert told["network-io-total"] == told["request-total"] + told["response-total"]
    assert told["select-total"] == told["response-total"]
    records = mirrored.b.metrics().total("BytesPerSec", mirror_name="m")
    assert told["incoming-byte-total"] > records > 0
    assert told["outgoing-byte-total"] > told["request-size-max"] >= told["request-size-avg"] > 0
    assert told["request-rate"] == pytest.approx(told["request-total"] / 37, rel=0.05), (
        "a window that is not there counts"
    )
    assert told["connection-creation-total"] == told["connection-count"] == 1
    assert told["connection-close-total"] == told["successful-authentication-total"] == 0
    mirrored.a.kill(1)
    mirrored.a.restart(1)
    mirrored.a.write("more")
    mirrored.run_until(lambda: has_all(mirrored.there), "it goes on")
    told = of_client(mirrored)
    assert (told["connection-creation-total"], told["connection-close-total"], told["connection-count"]) == (2, 1, 1)
    mirrored.b.kill(1)
    mirrored.b.restart(1)
    mirrored.a.write("more")
    mirrored.run_until(lambda: has_all(mirrored.there), "it goes on")
    assert of_client(mirrored)["connection-creation-total"] == 1, "it is another process"


@pytest.mark.decision("D22")
def test_lag_counts_the_sources_records_missing_here(mirrored: Pair) -> None:
    mirrored.b.alter("", {"mirror.replication.throttled.rate": "20"}, kind=ResourceType.BROKER)
    mirrored.b.alter(TOPIC, {"mirror.replication.throttled.replicas": "0:1"})
    for _ in range(4):
        mirrored.a.write("more")
    mirrored.run_until(lambda: mirrored.b.metrics().total("MaxLag") == 2, "a fetch told of more than it brought")
    assert mirrored.b.metrics().total("ConsumerLag", partition=0) == 2
    assert mirrored.b.metrics().total("ByteRate") > 0


def test_states_are_counted_where_partitions_are_led_and_follow_a_failover(mirrored: Pair) -> None:
    mirrored.fail_over()
    told = mirrored.b.metrics()
    assert told.total("StoppedPartitionState") == 2
    assert told.total("MirroringPartitionState") == told.total("FailedPartitionState") == 0
    assert told.find("ConsumerLag") == [] and told.total("MaxLag") == 0


def test_normal_operations_count_no_errors() -> None:
    """Creation, moved leaders, a restarted broker of the source, missing topics, failover."""
    p = pair(11)
    p.a.place_topic(TOPIC)
    p.begin()
    for index in range(3):
        p.a.write(f"r{index}")
        p.a.restart(p.a.elect())
        p.simulation.run_for(span_s=2)
    p.there.add_topics(["later"])
    p.simulation.run_for(span_s=6)
    p.a.place_topic("later")
    p.run_until(lambda: p.b.state(TopicPartition("later", 0)) == "MIRRORING", "it is there")
    p.fail_over()
    told = p.b.metrics()
    assert {name: told.total(name) for name in ERRORS} == dict.fromkeys(ERRORS, 0)
    assert told.total("FailedPartitionsCount") == told.total("DeadThreadCount") == 0


def test_an_unreachable_source_is_an_error_with_failed_partitions(mirrored: Pair) -> None:
    mirrored.a.kill(1)
    mirrored.simulation.run_for(span_s=40)
    told = mirrored.b.metrics()
    assert told.total("MetadataRefreshError") > 0
    assert told.total("FailedPartitionsCount") == 2
    mirrored.a.restart(1)
    mirrored.run_until(lambda: mirrored.b.metrics().total("FailedPartitionsCount") == 0, "the source is back")
    counted = mirrored.b.metrics().total("MetadataRefreshError")
    mirrored.simulation.run_for(span_s=20)
    assert mirrored.b.metrics().total("MetadataRefreshError") == counted


@pytest.mark.parametrize("open_metrics", [False, True])
def test_prometheus_clients_can_read_the_page(mirrored: Pair, open_metrics: bool) -> None:
    told = mirrored.b.metrics()
    page = told.page(open_metrics=open_metrics)
    read = list((open_metrics_families if open_metrics else families)(page))
    samples = {(sample.name, *sorted(sample.labels.items())): sample.value for one in read for sample in one.samples}
    assert len(samples) == len([line for line in page.splitlines() if not line.startswith("#")]), "no two are the same"
    for one in told:
        labels = {"node_id": str(one.node_id), **{key.replace("-", "_"): value for key, value in one.tags.items()}}
        row = next(row for row in ROWS if (row.name, tuple(row.tags)) == (one.name, tuple(one.tags)))
        if "99thPercentile" not in one.attributes:
            assert samples[row.page_name, *sorted(labels.items())] == pytest.approx(one.value, nan_ok=True)


def test_names_on_the_page_are_those_of_the_usual_rules(mirrored: Pair) -> None:
    names = {line.partition("{")[0] for line in mirrored.b.metrics().page().splitlines() if line[0] != "#"}
    assert names >= {
        "kafka_server_mirror_mirrorfetchermanager_maxlag",
        "kafka_server_fetcherlagmetrics_consumerlag",
        "kafka_server_fetcherstats_bytes_total",
        "kafka_network_requestmetrics_requests_total",
        "kafka_network_requestmetrics_totaltimems",
        "kafka_network_requestmetrics_totaltimems_count",
        "kafka_network_requestmetrics_responsequeuetimems",
        "kafka_server_mirror_broker_fetcher_mirror_metrics_connection_count",
        "kafka_server_mirror_broker_fetcher_mirror_metrics_request_size_max",
        "kafka_server_mirror_broker_fetcher_mirror_metrics_incoming_byte_total",
        "kafka_server_mirrorreplication_byterate",
        "kafka_server_replicamanager_underreplicatedpartitions",
        "kafka_controller_kafkacontroller_activecontrollercount",
    }


def test_every_row_is_a_metric_or_has_a_reason(mirrored: Pair) -> None:
    p = pair(12)
    p.a.place_topic(TOPIC)
    p.begin()
    told = {(one.name, tuple(one.tags)) for cluster in (p.b, mirrored.b) for one in cluster.metrics()}
    assert {(row.name, tuple(row.tags)) for row in ROWS if not row.omission_reason} == told


def test_reading_metrics_changes_nothing() -> None:
    def run(*, asks: bool) -> str:
        p = pair(3, brokers=1)
        p.a.create_topic(TOPIC)
        p.begin()
        for _ in range(5):
            p.a.write("x")
            p.simulation.run_for(span_s=1)
            if asks:
                p.b.metrics().page()
        assert_equal(p.there)
        return p.simulation.digest

    assert run(asks=True) == run(asks=False)


def test_an_unknown_metric_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="MaxLag"):
        Metrics({}).find("MaxLagg")
