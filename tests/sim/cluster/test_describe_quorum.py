"""DescribeQuorum: brokers forward it, so that the controller returns the committed end of the metadata log."""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from kmirror.protocol.gen.describe_quorum_response import DescribeQuorumResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import SMALL


def describe(cluster: Cluster, node_id: int = 1, *, topic: str = "__cluster_metadata", partition: int = 0) -> object:
    request = DescribeQuorumRequest([TopicData(topic, [PartitionData(partition_index=partition)])])
    return cluster.client.call(cluster.endpoint(node_id), request, 2)


def test_brokers_return_the_controllers_response() -> None:
    with Simulation(0) as simulation, Cluster(simulation, "a", configs=SMALL) as a:
        simulation.run_for(span_s=1)
        told = describe(a)
        assert isinstance(told, DescribeQuorumResponse) and not told.error_code
        (row,) = told.topics[0].partitions
        assert (row.leader_id, [voter.replica_id for voter in row.current_voters]) == (CONTROLLER_ID, [CONTROLLER_ID])
        assert [node.node_id for node in told.nodes] == [CONTROLLER_ID]
        versions = a.client.call(a.endpoint(1), ApiVersionsRequest("test", "1"), 4)
        assert isinstance(versions, ApiVersionsResponse)
        assert versions.finalized_features_epoch == row.high_watermark - 1, "the broker has replayed all of it"
        direct = describe(a, CONTROLLER_ID)
        assert isinstance(direct, DescribeQuorumResponse)
        assert direct.topics[0].partitions[0].high_watermark == row.high_watermark


def test_only_the_metadata_log_has_a_quorum() -> None:
    with Simulation(0) as simulation, Cluster(simulation, "a", configs=SMALL) as a:
        for topic, partition in (("__cluster_metadata", 1), ("orders", 0)):
            told = describe(a, topic=topic, partition=partition)
            assert isinstance(told, DescribeQuorumResponse)
            (row,) = told.topics[0].partitions
            assert (row.partition_index, row.error_code) == (partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def test_a_broker_without_its_controller_does_not_respond() -> None:
    with Simulation(0) as simulation, Cluster(simulation, "a", configs=SMALL) as a:
        simulation.line("a-1", "a-controller").take_down()
        assert describe(a) is None
