"""A source that is far away, or does not respond at all: synced data, and reasons."""

from __future__ import annotations

import pytest

from kmirror import Cluster, Mirror, Simulation
from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic

TP = TopicPartition("t", 0)
CONFIGS = {"mirror.metadata.refresh.interval.ms": "5000"}


def clusters() -> tuple[Simulation, Cluster, Cluster, Mirror]:
    """Start a source with a topic, and a destination with a mirror of no topic."""
    simulation = Simulation(seed=11)
    a, b = (Cluster(simulation, name, configs=CONFIGS) for name in "ab")
    a.start()
    b.start()
    a.create_topic("t")
    a.produce("t", 0, [b"x"])
    mirror = Mirror("m", source=a, destination=b)
    mirror.create()
    return simulation, a, b, mirror


@pytest.mark.decision("D60")
@pytest.mark.parametrize("latency_ms", [1_600, 5_000])
def test_topics_are_created_over_a_line_slower_than_the_timeout_of_a_broker(latency_ms: int) -> None:
    simulation, a, b, mirror = clusters()
    simulation.line(a, b).set(latency_ms=latency_ms)
    mirror.add_topics(["t"])
    mirror.catch_up(within_s=300)


@pytest.mark.decision("D60")
def test_changes_at_the_source_are_followed_over_a_slow_line() -> None:
    simulation, a, b, mirror = clusters()
    mirror.add_topics(["t"])
    mirror.catch_up()
    simulation.line(a, b).set(latency_ms=2_500)
    row = CreatePartitionsTopic(name="t", count=2, assignments=None)
    a.order(CreatePartitionsRequest(topics=[row], timeout_ms=30_000))
    simulation.run_until(lambda: len(b.partitions(["t"])) == 2, within_s=120, what="the second partition")


@pytest.mark.decision("D38")
@pytest.mark.decision("D60")
def test_a_mirror_reports_that_no_source_broker_is_up_to_date() -> None:
    simulation, a, _, mirror = clusters()
    a.kill(CONTROLLER_ID)
    simulation.run_for(span_s=1)
    mirror.begin_add_topics(["t"])
    simulation.run_for(span_s=30)
    assert "topic t is not created: no broker of the source proves that it is up to date" in mirror.reason()
    assert "no answer within 3000 ms" in mirror.reason()
    a.restart(CONTROLLER_ID)
    mirror.catch_up()
    assert mirror.reason() == ""


@pytest.mark.decision("D38")
def test_a_missing_source_topic_is_reported_once_the_source_has_responded() -> None:
    simulation, a, b, mirror = clusters()
    mirror.add_topics(["t"])
    mirror.catch_up()
    simulation.line(a, b).take_down()
    mirror.fail_over()
    mirror.add_topics(["t"])
    for _ in range(30):
        simulation.run_for(span_s=1)
        (row,) = mirror.describe()
        assert row.reason.startswith("no response from the source at ")
        assert row.reason.endswith(" about topic t since it was added")
    simulation.line(a, b).bring_up()
    mirror.catch_up()
