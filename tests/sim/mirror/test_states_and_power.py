"""States outlive the loss of power of all brokers at once: each is flushed before it is acknowledged (D76)."""

from __future__ import annotations

import pytest

from kmirror import Cluster, Mirror, MirrorState, Producer, RecordData, Simulation
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import ConfigOp, ResourceType

pytestmark = pytest.mark.decision("D76")
TP = TopicPartition("t", 0)


def flush_rarely(cluster: Cluster) -> None:
    """Set `flush.messages` of `__mirror_state`, as an operator may."""
    config = AlterableConfig(name="flush.messages", config_operation=ConfigOp.SET, value="1000000")
    topic = AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=MIRROR_STATE_TOPIC, configs=[config])
    cluster.order(IncrementalAlterConfigsRequest(resources=[topic]))


@pytest.mark.parametrize("is_altered", [False, True])
def test_what_was_stopped_is_not_stopped_and_cut_again_when_all_brokers_lost_power(is_altered: bool) -> None:
    simulation = Simulation(seed=1)
    a, b = Cluster(simulation, "a"), Cluster(simulation, "b", brokers=1)
    a.start()
    b.start()
    a.create_topic("t", configs={"flush.messages": "1"})
    a.produce("t", 0, [b"a1", b"a2"])
    mirror = Mirror("m", source=a, destination=b)
    mirror.create()
    if is_altered:
        flush_rarely(b)
    mirror.add_topics(["t"])
    mirror.catch_up()
    simulation.run_for(span_s=40)  # The topic's configs are synced.
    b.stop()
    b.start()
    mirror.catch_up()
    simulation.line(a, b).take_down()
    mirror.fail_over()
    producer = Producer(b, transactional_id="x")
    producer.begin_transaction()
    producer.send({TP: [RecordData(value=b"open")]})
    b.produce("t", 0, [b"b1"])
    b.kill(1, power_cut=True)
    simulation.run_for(span_s=15)
    b.restart(1)
    simulation.run_until(b.is_settled, within_s=120, what="the broker to be back")
    simulation.run_for(span_s=5)
    assert [row.state for row in mirror.describe()] == [MirrorState.STOPPED]
    assert [record.value for record in b.read(TP)] == [b"a1", b"a2", b"open", b"b1"], "a second stop cuts to the LSO"
